#!/usr/bin/env python3
"""`paddock once` and `paddock elect`.
   jobs_test.py SOURCE-ROOT PADDOCK [CHECK…]"""
import json
import os
import re
import signal
import time

from scene import PADDOCK, SHORT, Proxy, Terminal, checks_of, command_of, end, keeper_of, run_checks, same


def of_many_machines_one_runs_the_job(s):
    path, file = s.path(), s.file()
    everybody = [s.begin("once", path, "--per", "day", "--", "sh", "-c", f"echo ran >>{file}") for _ in range(10)]
    ended = [end(one) for one in everybody]
    same([one[0] for one in ended], [0] * 10)
    same(sum("done already by" in one[2] for one in ended), 9)
    same(file.read_text(), "ran\n")
    same(s.run("once", path, "--per", "day", "-q", "--", "echo", "again").out, "")
    same(s.run("once", path, "--per", "day", "--force", "--", "echo", "again").out, "again\n")


def a_run_that_fails_does_not_count(s):
    path = s.path()
    same(s.run("once", path, "--per", "week", "--", "sh", "-c", "exit 3").returncode, 3)
    same(s.run("once", path, "--per", "week", "--", "/no/such").returncode, 127)
    same(s.run("once", path, "--per", "week", "--at-most", "200ms", "--", "sleep", "9").returncode, 123)
    same(s.run("once", path, "--per", "week", "--", "sh", "-c", "kill $$").returncode, -signal.SIGTERM)
    killed = s.begin("once", path, "--per", "week", *SHORT, "--", "sleep", "100")
    command_of(killed)
    killed.kill()
    end(killed)
    same(s.run("once", path, "--per", "week", *SHORT, "--", "echo", "ran").out, "ran\n")
    same(s.run("once", path, "--per", "week", "--", "echo", "ran").out, "")


def a_run_that_has_lost_its_lock_does_not_count(s):
    path = s.path()
    proxy = Proxy(s.server.address)
    script = "trap '' TERM; while :; do sleep 0.05; done"
    holder = s.begin("once", path, "--per", "day", *SHORT, "--", "sh", "-c", script, servers=proxy.address)
    command_of(holder)
    proxy.cut = True
    same(end(holder)[0], 123)
    proxy.close()
    same(s.run("once", path, "--per", "day", "--", "echo", "ran").out, "ran\n")


def a_finished_run_is_recorded_before_it_rests(s):
    path = s.path()
    first = s.begin("once", path, "--per", "day", "--at-least", "100s", "--", "echo", "ran")
    same(first.stdout.readline(), "ran\n")
    second = s.begin("once", path, "--per", "day", "--", "echo", "ran")
    assert "1 ahead" in second.stderr.readline()
    first.terminate()
    same(end(first)[0], -signal.SIGTERM)
    same(end(second)[:2], (0, ""))


def the_next_period_runs_again(s):
    path = s.path()
    same(s.run("once", path, "--per", "1s", "--", "echo", "ran").out, "ran\n")
    same(s.run("once", path, "--per", "1h", "--", "echo", "ran").out, "")
    time.sleep(1)
    same(s.run("once", path, "--per", "1s", "--", "echo", "ran").out, "ran\n")


def a_key_runs_once_and_is_remembered(s):
    path = s.path()
    for key in ("a", "a/b c-0000000001", "ä", "x" * 64):
        same(s.run("once", path, "--key", key, "--", "echo", "built").out, "built\n")
        same(s.run("once", path, "--key", key, "--", "echo", "built").out, "")
    same(s.run("once", path, "--key", "x" * 500, "--", "true").returncode, 2)


def the_oldest_keys_are_forgotten(s):
    path = s.path()
    for key in ("a", "b", "c"):
        s.run("once", path, "--key", key, "--keep", "2", "--", "true")
    same([s.run("once", path, "--key", key, "--", "echo", key).out for key in ("c", "b", "a")], ["", "", "a\n"])


def an_occasion_is_needed(s):
    for words in ([], ["--per", "day", "--key", "k"], ["--per", "fortnight"], ["--per", "0s"]):
        tried = s.run("once", s.path(), *words, "--", "true")
        same((words, tried.returncode, tried.err.count("\n")), (words, 2, 1))


def runs_of(scene, path, *words):
    shown = scene.run("once", path, "--show", "--json", *words)
    runs = json.loads(shown.out)["runs"]
    same(shown.returncode, 0 if runs else 1)
    return runs


def what_is_recorded_is_shown(s):
    path = s.path()
    same(runs_of(s, path), [])
    missing = s.run("once", path, "--per", "day", "--show")
    same((missing.returncode, missing.out, missing.err.count("\n")), (1, "", 1))
    for words in (["--key", "b c/d"], ["--key", "ä"], ["--per", "day"]):
        s.run("once", path, *words, "--", "sleep", "0.01")
        (run,) = runs_of(s, path, *words)
        assert run["started"] <= run["finished"] and "process" in run["by"], run
    same(sorted(one["key"] or "" for one in runs_of(s, path)), ["", "b c/d", "ä"])
    same(runs_of(s, path, "--key", "b"), [])
    table = s.run("once", path, "--show").out.splitlines()
    assert len(table) == 4 and any(re.match("b c/d +2.*process", line) for line in table), table


def the_run_of_an_earlier_period_is_no_run_of_this_one(s):
    path = s.path()
    s.run("once", path, "--per", "1ms", "--", "true")
    same(runs_of(s, path, "--per", "1ms"), [])
    same(len(runs_of(s, path, "--per", "1d")), 1)


def what_is_forgotten_runs_again(s):
    path = s.path()
    for words in (["--key", "a"], ["--key", "b"], ["--key", "b", "--force"], ["--per", "day"]):
        s.run("once", path, *words, "--", "true")
    same(s.run("once", path, "--key", "b", "--forget").returncode, 2)  # no terminal, and no --yes
    same(s.run("once", path, "--key", "b", "--forget", "--yes").returncode, 0)
    same(sorted(one["key"] or "" for one in runs_of(s, path)), ["", "a"])
    same(s.run("once", path, "--key", "b", "--forget", "--yes").returncode, 1)
    same(s.run("once", path, "--key", "b", "--", "echo", "ran").out, "ran\n")
    same(s.run("once", path, "--key", "", "--forget", "--yes").returncode, 2)  # a variable that is not set
    same(len(runs_of(s, path)), 3)
    same(s.run("once", path, "--forget", "--yes").out, "forgot 3 finished runs\n")
    same(s.run("once", path, "--per", "day", "--", "echo", "ran").out, "ran\n")


def a_terminal_is_asked_before_anything_is_forgotten(s):
    path = s.path()
    s.run("once", path, "--per", "day", "--", "true")
    for answer, status, left in (("\n", 1, 1), ("y\n", 0, 0)):
        asked = Terminal([PADDOCK, "once", path, "--forget"], s.environment())
        asked.shows("[y/N]")
        asked.type(answer)
        same((asked.wait(), len(runs_of(s, path))), (status, left))


def a_run_that_is_not_finished_cannot_be_forgotten(s):
    path = s.path()
    s.run("once", path, "--key", "a", "--", "true")
    running = s.begin("once", path, "--key", "b", "--", "cat")
    command_of(running)
    same(s.run("once", path, "--forget", "--yes").returncode, 0)
    same(end(running)[0], 0)
    same([one["key"] for one in runs_of(s, path)], ["b"])


def to_show_or_forget_goes_with_no_run(s):
    for words in (["--show", "--forget", "--yes"], ["--show", "--", "true"], ["--forget", "--yes", "--", "true"],
                  ["--show", "--try"], ["--forget", "--yes", "--force"], ["--show", "--keep", "3"], ["--json"],
                  ["--yes", "--per", "day", "--", "true"], ["--show", "--per", "day", "--key", "k"]):
        tried = s.run("once", s.path(), *words)
        same((words, tried.returncode, tried.out, tried.err.count("\n")), (words, 2, "", 1))


def the_next_leader_runs_the_command(s):
    path = s.path()
    script = ("sh", "-c", "echo leads; exec sleep 100")
    first = s.begin("elect", path, *SHORT, "--", *script)
    same(first.stdout.readline(), "leads\n")
    second = s.begin("elect", path, *SHORT, "--label", "second", "--", *script)
    assert "is led by" in second.stderr.readline()
    first.kill()
    same(second.stdout.readline(), "leads\n")
    os.kill(second.pid, signal.SIGTERM)
    same(end(second)[0], -signal.SIGTERM)
    end(first)


def an_election_shows_who_takes_part(s):
    path = s.path()
    leader = s.begin("elect", path, "--label", "the first", "--", "sh", "-c", "echo leads; exec cat")
    same(leader.stdout.readline(), "leads\n")
    other = s.begin("elect", path, "--", "true")
    same(other.stderr.readline(),
         f"paddock: {path} is led by the first on {os.uname().nodename}, process {leader.pid}\n")
    shown = s.contenders(path)
    same([(one["label"], one["host"], one["pid"]) for one in shown],
         [("the first", os.uname().nodename, leader.pid), (None, os.uname().nodename, other.pid)])
    assert all(one["since"] for one in shown), shown
    end(leader)
    same(end(other)[0], 0)


def whoever_loses_the_leadership_campaigns_again(s):
    path = s.path()
    proxy = Proxy(s.server.address)
    script = ("sh", "-c", "echo leads; exec sleep 100")
    leader = s.begin("elect", path, *SHORT, "--", *script, servers=proxy.address)
    same(leader.stdout.readline(), "leads\n")
    proxy.cut = True
    same(s.run("elect", path, *SHORT, "--", "echo", "for a moment").out, "for a moment\n")
    proxy.cut = False
    same(leader.stdout.readline(), "leads\n")
    os.kill(leader.pid, signal.SIGTERM)
    same(end(leader)[0], -signal.SIGTERM)
    proxy.close()


def without_a_keeper_it_leads_no_more(s):
    leader = s.begin("elect", s.path(), "--", "sh", "-c", "echo leads; exec sleep 100")
    same(leader.stdout.readline(), "leads\n")
    os.kill(keeper_of(leader), signal.SIGKILL)
    status, out, _ = end(leader)
    same((status, out), (123, ""))


run_checks(checks_of(globals()))
