#!/usr/bin/env python3
"""`paddock lock` as its users see it: a process, and in a terminal.
   lock_test.py SOURCE-ROOT PADDOCK [CHECK…]"""
import os
import pathlib
import signal
import time

from scene import PADDOCK, Terminal, checks_of, children, command_of, end, eventually, run_checks, same


def the_command_knows_its_lock_and_a_token_that_grows(s):
    path = s.path()
    script = 'echo "$PADDOCK_LOCK_PATH $PADDOCK_FENCING_TOKEN"'
    first, second = (s.run("lock", path, "--", "sh", "-c", script).out.split() for _ in range(2))
    same([first[0], second[0]], [path, path])
    assert first[1] < second[1] and len(first[1]) == 32, (first, second)


def variables_of_an_inner_lock_hide_those_of_the_outer_one(s):
    outer, inner = s.path(), s.path()
    script = 'echo "$PADDOCK_LOCK_PATH ${PADDOCK_FENCING_TOKEN-none}"'
    nested = s.run("lock", outer, "--", PADDOCK, "lock", inner, "--", "sh", "-c", script)
    same(nested.out.split()[0], inner)
    nested = s.run("lock", outer, "--", PADDOCK, "lock", "--semaphore", "2", inner + "s", "--", "sh", "-c", script)
    same(nested.out, f"{inner}s none\n")


def the_exit_status_is_that_of_the_command(s):
    for status in (0, 1, 2, 7, 123, 255):
        same(s.run("lock", s.path(), "--", "sh", "-c", f"exit {status}").returncode, status)
    same(s.run("lock", s.path(), "--", "sh", "-c", "echo full >/dev/full").returncode, 1)


def death_by_a_signal_is_passed_on(s):
    for one in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT):
        same(s.run("lock", s.path(), "--", "sh", "-c", f"kill -{int(one)} $$").returncode, -one)


def a_command_that_cannot_run_is_told_from_one_that_fails(s):
    missing = s.run("lock", s.path(), "--", "/no/such/program")
    same((missing.returncode, missing.err), (127, "paddock: /no/such/program: No such file or directory\n"))
    same(s.run("lock", s.path(), "--", "/etc/passwd").returncode, 126)


def bad_usage_is_2_in_one_line_and_runs_nothing(s):
    for words, named in (
        ([], "COMMAND"), (["lock"], "PATH"), (["lock", "/a", "/b"], "--all"), (["lock", "a"], "'a'"),
        (["lock", "/a", "--timeout", "soon"], "soon"), (["lock", "/a", "--timeout", "-1s"], "-1s"),
        (["lock", "/a", "--semaphore", "0"], "--semaphore"), (["lock", "/a", "--semaphore", "2", "--shared"], "--shared"),
        (["lock", "/a", "--key", "/f", "k"], "--key"), (["lock", "/a", "--no-such-option"], "--no-such-option"),
        (["lock", "/a", "--servers", "ftp://x"], "ftp"), (["lock", "/a", "--auth-file", "/no/such"], "/no/such"),
        (["lock", "/a", "--session-timeout", "1ms"], "--session-timeout"),
        (["lock", "/a", "--try", "--timeout", "1s"], "--try"), (["lock", "/a", "--no-fail"], "--no-fail"),
        (["lock", "/a", "--at-most", "0"], "--at-most 0"), (["lock", "/a", "--margin", "9s"], "--margin"),
        (["lock", "/a", "--at-least", "2s", "--at-most", "1s"], "--at-least"), (["no-such-command"], "no-such-command"), (["ls", "/a"], "runs no command"),
    ):
        file = s.file()
        tried = s.run(*words, "--", "touch", file) if words else s.run()
        same((words, tried.returncode, tried.err.count("\n"), tried.out), (words, 2, 1, ""))
        assert named.lower() in tried.err.lower(), (words, tried.err)
        assert not file.exists(), words
    same(s.run("lock", "/a").returncode, 2)
    for words, page in ((["lock", "--tiemout", "3"], "paddock lock --help"), (["locks"], "paddock --help"),
                        (["once", "/a", "--key", ""], "paddock once --help")):
        wrong = s.run(*words, "--", "true")
        same((wrong.returncode, wrong.err.endswith(f"; see {page}\n")), (2, True))
    same(s.run("lock", "/a", "--", "true", servers=" ").returncode, 2)


def a_taken_lock_is_124_and_the_command_does_not_run(s):
    path, file = s.path(), s.file()
    holder = s.hold(path)
    same(s.run("lock", path, "--try", "--", "touch", file).returncode, 124)
    begin = time.monotonic()
    same(s.run("lock", path, "--timeout", "300ms", "--", "touch", file).returncode, 124)
    assert time.monotonic() - begin >= 0.3
    same(s.run("lock", path, "--try", "--no-fail", "--", "touch", file).returncode, 0)
    quiet = s.run("lock", path, "--try", "-q", "--", "touch", file)
    same((quiet.returncode, quiet.err), (124, ""))
    reader = s.hold(path + "r", "--shared")
    beside = s.run("lock", path + "r", "-q", "--", "true")
    assert "they do not exclude each other" in beside.err, beside.err  # -q keeps no error back
    end(reader)
    assert not file.exists()
    same(end(holder)[0], 0)
    same(s.run("lock", path, "--try", "--", "true").returncode, 0)


def without_a_server_it_is_125(s):
    tried = s.run("lock", "/a", "--connect-timeout", "300ms", "--", "true", servers="127.0.0.1:1")
    same(tried.returncode, 125)
    assert "no server of 127.0.0.1:1 answers" in tried.err, tried.err


def readers_share_a_lock_that_a_writer_waits_for(s):
    path = s.path()
    readers = [s.hold(path, "--shared"), s.hold(path, "--shared")]
    same(s.run("lock", path, "--exclusive", "--try", "--", "true").returncode, 124)
    for one in readers:
        end(one)
    same(s.run("lock", path, "--exclusive", "--try", "--", "true").returncode, 0)
    writer = s.hold("--key", path, "plums", "--exclusive")
    same(s.run("lock", "--key", path, "plums", "--shared", "--try", "--", "true").returncode, 124)
    end(writer)
    writer = s.hold("--all", path, path + "x", "--exclusive")
    same(s.run("lock", path, "--shared", "--try", "--", "true").returncode, 124)
    end(writer)


def a_semaphore_has_so_many_permits(s):
    path = s.path()
    holders = [s.hold(path, "--semaphore", "2"), s.hold(path, "--semaphore", "2")]
    same(s.run("lock", path, "--semaphore", "2", "--try", "--", "true").returncode, 124)
    for one in holders:
        end(one)
    same(s.run("lock", path, "--semaphore", "2", "--try", "--", "true").returncode, 0)


def the_locks_of_keys_do_not_exclude_each_other(s):
    family = s.path()
    holder = s.hold("--key", family, "plums")
    same(s.run("lock", "--key", family, "pears", "--try", "--", "true").returncode, 0)
    same(s.run("lock", "--key", family, "plums", "--try", "--", "true").returncode, 124)
    end(holder)


def several_locks_in_opposite_orders_do_not_wait_for_each_other_for_ever(s):
    a, b = s.path(), s.path()
    both = [s.begin("lock", "--all", *order, "--", "true") for order in ((a, b), (b, a)) * 5]
    same([end(one)[0] for one in both], [0] * 10)
    shown = s.run("lock", "--all", a, b, "--", "sh", "-c", 'echo "$PADDOCK_LOCK_PATH"; echo "$PADDOCK_FENCING_TOKEN"')
    lines = shown.out.split()
    same(lines[:2], [a, b])
    same([len(one) for one in lines[2:]], [32, 32])


def forty_at_once_lose_no_update(s):
    path, file = s.path(), s.file()
    file.write_text("0\n")
    script = f"n=$(cat {file}); sleep 0.01; echo $((n + 1)) >{file}"
    everybody = [s.begin("lock", path, "--", "sh", "-c", script) for _ in range(40)]
    same([end(one)[0] for one in everybody], [0] * 40)
    same(file.read_text(), "40\n")


def signals_reach_the_command(s):
    for one in ("TERM", "USR1", "HUP", "INT"):
        script = f"trap 'echo got; exit 9' {one}; echo held; while :; do sleep 0.05; done"
        holder = s.hold(s.path(), command=("sh", "-c", script))
        os.kill(holder.pid, getattr(signal, "SIG" + one))
        status, out, _ = end(holder)
        same((one, status, out), (one, 9, "got\n"))


def a_signal_while_it_waits_leaves_the_queue_at_once(s):
    path, file = s.path(), s.file()
    holder = s.hold(path)
    waiter = s.begin("lock", path, "--session-timeout", "30s", "--", "touch", file)
    assert "1 ahead" in waiter.stderr.readline()
    os.kill(waiter.pid, signal.SIGTERM)
    same(waiter.wait(timeout=10), -signal.SIGTERM)
    end(holder)
    same(s.run("lock", path, "--try", "--", "true").returncode, 0)
    assert not file.exists()
    end(waiter)


def at_least_keeps_the_lock_after_a_short_command(s):
    path = s.path()
    begin = time.monotonic()
    short = s.begin("lock", path, "--at-least", "1s", "--", "true")
    same(s.run("lock", path, "--", "true").returncode, 0)
    assert time.monotonic() - begin >= 1 or short.poll() is None
    same(end(short)[0], 0)
    assert time.monotonic() - begin >= 1


def the_command_has_the_files_it_was_given_and_no_others(s):
    script = "cd /proc/self/fd; exec ls -x"
    plain = s.run("lock", s.path(), "--", "sh", "-c", script)
    closed = s.run(before=("sh", "-c", 'exec "$@" <&-', "sh"), *("lock", s.path(), "--", "sh", "-c", script))
    passed = s.run(before=("sh", "-c", 'exec "$@" 7</dev/null', "sh"), *("lock", s.path(), "--", "sh", "-c", script))
    same(plain.out.split(), ["0", "1", "2", "3"])  # 3 is that of ls
    same(closed.out.split(), ["0", "1", "2"])  # 0 is that of ls
    same(passed.out.split(), ["0", "1", "2", "3", "7"])


def what_nohup_ignores_stays_ignored(s):
    script = "grep SigIgn /proc/self/status; grep SigBlk /proc/self/status"
    ignoring = s.run(before=("sh", "-c", 'trap "" HUP; exec "$@"', "sh"), *("lock", s.path(), "--", "sh", "-c", script))
    same(int(ignoring.out.split()[1], 16) & 1, 1)
    same(int(ignoring.out.split()[3], 16), 0)
    plain = s.run("lock", s.path(), "--", "sh", "-c", script)
    same(int(plain.out.split()[1], 16) & 1, 0)


def a_parent_that_ignores_its_children_changes_no_status(s):
    ignore = {"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}
    same(s.run("lock", s.path(), "--", "sh", "-c", "exit 3", **ignore).returncode, 3)
    shown = s.run("lock", s.path(), "--", "grep", "SigIgn", "/proc/self/status", **ignore).out.split()[1]
    same(int(shown, 16) >> (signal.SIGCHLD - 1) & 1, 1)


def an_interrupt_of_a_container_reaches_all_that_run(s):
    holder = s.hold(s.path(), command=("sh", "-c", "echo held; sleep 100; exit 7"))
    eventually("it sleeps", lambda: children(command_of(holder)))
    os.kill(holder.pid, signal.SIGINT)
    status = end(holder)[0]
    assert status != 7, status


def an_alarm_of_the_caller_reaches_the_command(s):
    begin = time.monotonic()
    same(s.run("lock", s.path(), "--", "sleep", "30", preexec_fn=lambda: signal.alarm(1)).returncode, -signal.SIGALRM)
    assert time.monotonic() - begin < 20


def too_many_paths_are_bad_usage(s):
    for paths in ([f"/{n}" for n in range(1001)], [f"/{n}{'x' * 500}" for n in range(150)]):
        tried = s.run("lock", "--all", *paths, "--", "true")
        same((tried.returncode, "too many" in tried.err), (2, True))


def no_time_to_wait_is_time_enough_for_a_free_lock(s):
    path = s.path()
    for limit in ("0", "1ms"):
        same(s.run("lock", path, "--timeout", limit, "--", "true").returncode, 0)


def who_reads_from_the_command_sees_when_it_ends(s):
    holder = s.begin("lock", s.path(), "--", "sh", "-c", "echo ready; exec >&-; read word; exit 0")
    same(holder.stdout.read(), "ready\n")  # to its end
    assert holder.poll() is None
    holder.stdin.close()
    same(holder.wait(timeout=30), 0)
    holder.stderr.close()


def the_least_time_is_not_for_what_cannot_run(s):
    begin = time.monotonic()
    same(s.run("lock", s.path(), "--at-least", "30s", "--", "/no/such").returncode, 127)
    assert time.monotonic() - begin < 20


def a_user_with_too_many_processes_is_told(s):
    """paddock and its keeper are all that may run."""
    limited = ("prlimit", "--nproc=2", "setpriv", "--reuid=54321", "--regid=54321", "--clear-groups")
    if os.geteuid() != 0 or s.run("--version", before=limited).returncode != 0:
        return
    tried = s.run("lock", s.path(), "--", "true", before=limited)
    same((tried.returncode, tried.err), (126, "paddock: true: Resource temporarily unavailable\n"))


def control_c_reaches_a_command_with_a_group_of_its_own(s):
    here = Terminal([PADDOCK, "lock", s.path(), "--", "timeout", "100", "sh", "-c", "echo ready; exec sleep 100"],
                    s.environment())
    here.shows("ready")
    here.type("\x03")
    assert here.wait() != 0


def in_a_terminal_the_command_is_in_the_foreground(s):
    script = "trap 'echo interrupted' INT; stty -echo; echo ready; read word; echo \"read $word\"; read word; exit 3"
    here = Terminal([PADDOCK, "lock", s.path(), "--", "sh", "-c", script], s.environment())
    here.shows("ready")
    here.type("plums\n")
    here.shows("read plums")
    here.type("\x03")
    here.shows("interrupted")
    here.type("\n")
    same(here.wait(), 3)
    same(here.text.count(b"interrupted"), 1)


def in_a_terminal_one_line_tells_the_place_in_the_queue(s):
    path = s.path()
    holder = s.hold(path, "--label", "first\x1b[31m one")
    second = s.begin("lock", path, "--", "true")
    assert "1 ahead" in second.stderr.readline()
    here = Terminal([PADDOCK, "lock", path, "--", "echo", "granted"], s.environment())
    here.shows("2 ahead; held for 0:0")
    here.shows(" by first?[31m one")
    here.shows("\r\x1b[K0:02 ")  # it counts
    same(here.text.count(b"\n"), 0)
    end(holder)
    end(second)
    here.shows("granted")
    same(here.wait(), 0)


def control_c_while_it_waits_leaves_the_queue(s):
    path = s.path()
    holder = s.hold(path)
    here = Terminal([PADDOCK, "lock", path, "--", "true"], s.environment())
    here.shows("waiting for")
    here.type("\x03")
    same(here.wait(), -signal.SIGINT)
    end(holder)
    same(s.run("lock", path, "--try", "--", "true").returncode, 0)


def the_servers_credentials_are_on_no_command_line(s):
    file = s.file()
    file.write_text("# of the nightly jobs\nnightly:se cret:1\n")
    holder = s.hold(s.path(), "--auth-file", str(file))
    shown = pathlib.Path(f"/proc/{holder.pid}/cmdline").read_bytes()
    assert b"cret" not in shown
    same(end(holder)[0], 0)
    file.write_text("nobody\n")
    same(s.run("lock", "/a", "--auth-file", str(file), "--", "true").returncode, 2)


run_checks(checks_of(globals()))
