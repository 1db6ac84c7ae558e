#!/usr/bin/env python3
"""What becomes of the command of `paddock lock` when something goes wrong.
   faults_test.py SOURCE-ROOT PADDOCK [CHECK…]"""
import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time

from scene import (PADDOCK, SESSION, SHORT, Proxy, Terminal, checks_of, children, command_of, end, eventually,
                   is_alive, keeper_of, last_tick, run_checks, same)


# It tells of a lease of a file that somebody waits for; unlike SIG_IGN a function is not inherited.
signal.signal(signal.SIGIO, lambda *_: None)


def a_command_outlives_no_paddock_that_is_killed(s):
    path = s.path()
    holder, file = s.ticks(path, *SHORT)
    command = command_of(holder)
    eventually("it works", lambda: file.exists() and file.read_text())
    os.kill(holder.pid, signal.SIGKILL)
    s.run("lock", path, *SHORT, "--", "true")
    granted = time.time()
    assert not is_alive(command)
    assert last_tick(file) < granted
    end(holder)


def a_stubborn_command_of_a_killed_paddock_is_killed_in_time(s):
    path = s.path()
    holder, file = s.ticks(path, *SHORT, trap="trap '' TERM")
    os.kill(holder.pid, signal.SIGKILL)
    next_one = s.run("lock", path, *SHORT, "--", "date", "+%s.%N")
    assert last_tick(file) < float(next_one.out), (last_tick(file), next_one.out)
    end(holder)


def a_killed_keeper_takes_the_command_with_it(s):
    path = s.path()
    holder = s.hold(path, command=("sh", "-c", "echo held; sleep 100 & setsid sleep 100 & wait"))
    command = command_of(holder)
    eventually("both sleep", lambda: len(children(command)) == 2)
    left = children(command)
    os.kill(keeper_of(holder), signal.SIGKILL)
    status, _, err = end(holder)
    same(status, 123)
    assert "was killed" in err, err
    same([is_alive(one) for one in [command, *left]], [False] * 3)


def a_paddock_that_stands_still_does_not_keep_the_command_from_its_end(s):
    path = s.path()
    holder, file = s.ticks(path, *SHORT, trap="trap '' TERM")
    os.kill(holder.pid, signal.SIGSTOP)
    next_one = s.run("lock", path, *SHORT, "--", "date", "+%s.%N")
    assert last_tick(file) < float(next_one.out), (last_tick(file), next_one.out)
    os.kill(holder.pid, signal.SIGCONT)
    same(end(holder)[0], 123)


def a_keeper_that_stands_still_goes_on_in_time(s):
    path = s.path()
    proxy = Proxy(s.server.address)
    holder, file = s.ticks(path, *SHORT, servers=proxy.address)
    eventually("it works", lambda: file.exists() and file.read_text())
    os.kill(keeper_of(holder), signal.SIGSTOP)
    proxy.cut = True
    next_one = s.run("lock", path, *SHORT, "--", "date", "+%s.%N")
    assert last_tick(file) < float(next_one.out), (last_tick(file), next_one.out)
    same(end(holder)[0], 123)
    proxy.close()


def a_keeper_that_does_not_go_on_is_killed_in_time(s):
    path = s.path()
    proxy = Proxy(s.server.address)
    holder, file = s.ticks(path, *SHORT, trap="trap '' TERM", servers=proxy.address)
    eventually("it works", lambda: file.exists() and file.read_text())
    keeper = keeper_of(holder)
    attach, any_child = 16, 0x40000000  # PTRACE_ATTACH, __WALL: as a debugger does
    same(ctypes.CDLL(None).ptrace(attach, keeper, None, None), 0)
    os.waitpid(keeper, any_child)
    proxy.cut = True
    os.waitpid(keeper, any_child)  # before it is seen by paddock, its end is seen by the debugger
    next_one = s.run("lock", path, *SHORT, "--", "date", "+%s.%N")
    assert last_tick(file) < float(next_one.out), (last_tick(file), next_one.out)
    status, _, err = end(holder)
    same((status, "was killed" in err), (123, True))
    proxy.close()


@contextlib.contextmanager
def not_loaded(program):
    """Whoever executes the program waits until this is left, or for 45 s. False where files have no leases."""
    def leased():
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            return "yes"
        except BlockingIOError:  # a program that another check starts has the copy's descriptor for a moment
            return None
        except OSError:
            return "no"

    with open(program, "rb") as file:
        yield eventually("the program has a lease", leased) == "yes"


def a_program_that_does_not_start_is_given_up_in_time(s):
    path, program = s.path(), shutil.copy("/bin/sleep", s.file())
    proxy = Proxy(s.server.address)
    with not_loaded(program) as waits:
        if not waits:
            return
        holder = s.begin("lock", path, *SHORT, "--", program, "100", servers=proxy.address)
        command = command_of(holder)
        proxy.cut = True
        same(s.run("lock", path, *SHORT, "--timeout", "30s", "--", "true").returncode, 0)
        assert not is_alive(command)
        same(end(holder)[0], 123)
    proxy.close()


def a_program_that_starts_late_has_its_lock(s):
    path, program = s.path(), shutil.copy("/bin/sleep", s.file())
    with not_loaded(program):
        holder = s.begin("lock", path, *SHORT, "--", program, "0")
        command_of(holder)
        time.sleep(SESSION + 1)
    same(end(holder)[0], 0)


def a_program_that_does_not_start_is_ended_like_one_that_has(s):
    path, program = s.path(), shutil.copy("/bin/sleep", s.file())
    with not_loaded(program) as waits:
        if not waits:
            return
        begin = time.monotonic()
        holder = s.begin("lock", path, "--", program, "100")
        command_of(holder)
        os.kill(holder.pid, signal.SIGTERM)
        same(end(holder)[0], -signal.SIGTERM)
        same(s.run("lock", path, "--at-most", "500ms", "--", program, "100").returncode, 123)
        assert time.monotonic() - begin < 40, "it ended with the wait for the program"


def a_command_ends_in_time_whatever_on_lost_does(s):
    """Its shell does not load."""
    path, shell = s.path(), shutil.copy("/bin/sh", s.file())
    bound = ("unshare", "-m", "sh", "-c", f'mount --bind {shell} "$(realpath /bin/sh)" && exec "$@"', "sh")
    if subprocess.run([*bound, "true"], capture_output=True).returncode != 0:
        return  # not root
    work = (sys.executable, "-c", "import time; print('held', flush=True); time.sleep(100)")
    with not_loaded(shell) as waits:
        if not waits:
            return
        holder = s.hold(path, *SHORT, "--on-lost", "true", command=work, before=bound)
        command = command_of(holder)
        os.kill(holder.pid, signal.SIGKILL)
        same(s.run("lock", path, *SHORT, "--timeout", "30s", "--", "true").returncode, 0)
        assert not is_alive(command)
    end(holder)


def a_keeper_that_was_late_runs_the_command(s):
    path = s.path()
    first = s.hold(path)
    second = s.begin("lock", path, *SHORT, "--", "echo", "ran")
    assert "1 ahead" in second.stderr.readline()
    keeper = keeper_of(second)
    attach, detach = 16, 17
    same(ctypes.CDLL(None).ptrace(attach, keeper, None, None), 0)
    os.waitpid(keeper, 0x40000000)
    same(end(first)[0], 0)
    time.sleep(SESSION + 1)  # the first lease that it is told ends, and others follow
    same(ctypes.CDLL(None).ptrace(detach, keeper, None, None), 0)
    same(end(second)[:2], (0, "ran\n"))


def a_stopped_command_keeps_its_lock(s):
    path = s.path()
    holder = s.hold(path, *SHORT)
    command = command_of(holder)
    os.kill(command, signal.SIGSTOP)
    same(s.run("lock", path, *SHORT, "--timeout", f"{SESSION + 1}s", "--", "true").returncode, 124)
    os.kill(command, signal.SIGCONT)
    same(end(holder)[0], 0)


def without_a_connection_the_command_ends_before_another_holds(s):
    path = s.path()
    proxy = Proxy(s.server.address)
    told = s.file()
    holder, file = s.ticks(path, *SHORT, "--on-lost", f'echo "$PADDOCK_LOCK_PATH" >>{told}', servers=proxy.address,
                           trap="trap '' TERM")
    proxy.cut = True
    next_one = s.run("lock", path, *SHORT, "--", "date", "+%s.%N")
    assert last_tick(file) < float(next_one.out), (last_tick(file), next_one.out)
    status, _, err = end(holder)
    same((status, "the lock was lost" in err), (123, True))
    same(told.read_text(), path + "\n")
    proxy.close()


def a_command_gets_sigterm_before_the_lease_ends(s):
    proxy = Proxy(s.server.address)
    script = "trap 'echo asked; exit 0' TERM; echo held; while :; do sleep 0.05; done"
    holder = s.hold(s.path(), "--session-timeout", "10s", "--margin", "2s", command=("sh", "-c", script),
                    servers=proxy.address)
    proxy.cut = True
    status, out, _ = end(holder)
    same((status, out), (123, "asked\n"))
    proxy.close()


def a_short_outage_costs_nothing(s):
    proxy = Proxy(s.server.address)
    holder = s.hold(s.path(), "--session-timeout", "10s", servers=proxy.address)
    proxy.cut = True
    time.sleep(2)
    proxy.cut = False
    same(end(holder)[0], 0)
    proxy.close()


def what_a_command_leaves_in_the_background_keeps_the_lock(s):
    path, file = s.path(), s.file()
    holder = s.begin("lock", path, "--", "sh", "-c", f"(setsid sh -c 'while ! [ -e {file} ]; do sleep 0.05; done' &)")
    assert "other processes keep the lock" in holder.stderr.readline()
    same(s.run("lock", path, "--try", "--", "true").returncode, 124)
    file.touch()
    same(end(holder)[0], 0)
    same(s.run("lock", path, "--try", "--", "true").returncode, 0)


def at_most_ends_ten_stubborn_processes(s):
    script = "for n in 1 2 3 4 5 6 7 8 9 10; do (trap '' TERM; setsid sleep 100; sleep 100) & done; trap '' TERM; wait"
    begin = time.monotonic()
    holder = s.begin("lock", s.path(), "--at-most", "4s", "--margin", "300ms", "--", "sh", "-c", script)
    command = command_of(holder)
    eventually("ten run", lambda: len(children(command)) == 10)
    below = children(command)
    below += [one for child in below for one in children(child)]
    status, _, err = end(holder)
    same((status, "--at-most" in err), (123, True))
    assert time.monotonic() - begin < 20
    same([is_alive(one) for one in below], [False] * len(below))


def a_command_of_another_user_ends_too(s):
    if os.getuid() != 0 or not shutil.which("setpriv"):
        return
    other = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "100")
    same(s.run("lock", s.path(), "--at-most", "300ms", "--margin", "200ms", "--", *other).returncode, 123)


def a_process_without_its_first_thread_ends_too(s):
    file = s.file()
    work = ("import ctypes, signal, threading, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "def write():\n"
            " while True:\n"
            f"  open({str(file)!r}, 'a').write(f'{{time.time()}}\\n')\n"
            "  time.sleep(0.02)\n"
            "threading.Thread(target=write).start()\n"
            "ctypes.CDLL(None).pthread_exit(None)\n")
    path = s.path()
    holder = s.begin("lock", path, "--", sys.executable, "-c", work)
    eventually("it works", lambda: file.exists() and file.read_text())
    same(s.run("kick", path, s.id_of_holder(path), "--yes").returncode, 0)
    status, _, _ = end(holder)
    seen = time.time()
    same(status, 123)
    assert last_tick(file) < seen
    time.sleep(0.2)
    assert last_tick(file) < seen


def what_a_command_mounts_on_proc_does_not_keep_it_alive(s):
    if os.getuid() != 0 or not shutil.which("unshare"):
        return
    script = "trap '' TERM; mount -t tmpfs none /proc; setsid sleep 100 & exec sleep 100"
    ended = s.run("lock", s.path(), "--at-most", "300ms", "--margin", "100ms", "--", "sh", "-c", script,
                  before=("unshare", "-m"))
    same(ended.returncode, 123)


def what_a_machine_hides_does_not_stay_alive(s):
    if os.getuid() != 0 or not shutil.which("unshare") or not shutil.which("setpriv"):
        return
    # As for a user who is not root, and processes that nobody may look into.
    hidden = ("unshare", "-mpf", "sh", "-c", "mount -t proc -o hidepid=2,gid=65534 proc /proc && exec \"$@\"", "sh",
              "setpriv", "--bounding-set", "-sys_ptrace")
    script = ("import ctypes, os, signal, time\n"
              "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
              "ctypes.CDLL(None).prctl(4, 0)\n"  # PR_SET_DUMPABLE
              "os.fork() or os.fork() or os.setsid()\n"
              "time.sleep(100)\n")
    ended = s.run("lock", s.path(), "--at-most", "1s", "--margin", "100ms", "--", sys.executable, "-c", script,
                  before=hidden)
    same((ended.returncode, "--at-most" in ended.err), (123, True))


def a_lease_ends_also_for_a_command_that_was_asked_to(s):
    path = s.path()
    holder, file = s.ticks(path, *SHORT, trap="trap 'echo asked' TERM")
    same(s.run("ask", path, s.id_of_holder(path), "--yes").returncode, 0)
    same(holder.stdout.readline(), "asked\n")
    os.kill(holder.pid, signal.SIGSTOP)
    next_one = s.run("lock", path, *SHORT, "--", "date", "+%s.%N")
    assert last_tick(file) < float(next_one.out), (last_tick(file), next_one.out)
    os.kill(holder.pid, signal.SIGCONT)
    same(end(holder)[0], 123)


def without_its_proc_nothing_is_run(s):
    if os.getuid() != 0 or not shutil.which("unshare"):
        return
    hidden = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc; exec "$@"', "sh")
    tried = s.run("lock", s.path(), "--", "echo", "ran", before=hidden)
    same((tried.returncode, tried.out, "/proc" in tried.err), (125, "", True))


def signals_reach_what_is_left_in_the_background(s):
    for one in ("TERM", "INT"):
        holder = s.begin("lock", s.path(), "--", "sh", "-c", "sleep 100 & exit 0")
        assert "other processes keep the lock" in holder.stderr.readline()
        os.kill(holder.pid, getattr(signal, "SIG" + one))
        same(end(holder)[0], 0)


def a_terminal_that_is_closed_ends_the_command(s):
    path = s.path()
    here = Terminal([PADDOCK, "lock", path, "--", "sh", "-c", "echo ready; exec sleep 100"], s.environment())
    here.shows("ready")
    os.close(here.file)
    same(s.run("lock", path, "--timeout", "30s", "--", "true").returncode, 0)
    os.waitpid(here.pid, 0)


def a_job_that_stays_suspended_is_ended(s):
    path = s.path()
    holder, file = s.ticks(path, *SHORT)
    eventually("it works", lambda: file.exists() and file.read_text())
    os.killpg(holder.pid, signal.SIGTSTP)
    next_one = s.run("lock", path, *SHORT, "--", "date", "+%s.%N")
    os.killpg(holder.pid, signal.SIGCONT)
    same(end(holder)[0], 123)
    assert last_tick(file) < float(next_one.out)


@contextlib.contextmanager
def full_pipe():
    """The writing end of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(65536))
    os.set_blocking(writer, True)
    yield writer
    os.close(reader)
    os.close(writer)


def messages_that_nobody_reads_delay_nothing(s):
    path = s.path()
    with full_pipe() as unread:
        holder = s.hold(path)
        first = s.begin("lock", path, "--", "sh", "-c", "echo held; exit 7", stderr=unread)
        eventually("the first waits", lambda: len(s.contenders(path)) == 2)
        second = s.begin("lock", path, "--", "true", stderr=unread)
        eventually("the second waits", lambda: len(s.contenders(path)) == 3)
        second.terminate()
        same(end(second)[0], -signal.SIGTERM)
        end(holder)
        same(end(first)[:2], (7, "held\n"))
        same(s.run("lock", path, "--at-most", "100ms", "--", "sleep", "100", stderr=unread).returncode, 123)
        same(s.contenders(path), [])


def messages_stand_before_what_the_command_writes(s):
    leader = s.run("elect", s.path(), "--", "sh", "-c", "echo the command >&2")
    assert leader.err.endswith("\nthe command\n") and "leads" in leader.err, leader.err


def a_server_that_is_started_again_keeps_the_hold(s):
    holder = s.hold(s.path(), "--session-timeout", "20s")
    s.server.tell("stop")
    s.server.tell("start")
    same(end(holder)[0], 0)


run_checks(checks_of(globals()), alone={a_server_that_is_started_again_keeps_the_hold})
