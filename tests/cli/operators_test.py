#!/usr/bin/env python3
"""What operators do with the command paddock: ls, kick, ask, tidy and doctor, on a private ZooKeeper and Redis.
   operators_test.py SOURCE-ROOT PADDOCK"""
import contextlib
import json
import os
import pathlib
import pty
import re
import select
import signal
import socketserver
import subprocess
import sys
import threading
import time
import uuid

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.recipe.lock import Lock
from kazoo.security import make_acl

ROOT, PROGRAM = sys.argv[1:3]
SERVERS = pathlib.Path(__file__).parent.parent / "support/served.sh"
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
checked = 0


def check(sentence, fact):
    global checked
    checked += 1
    print(("ok   " if fact else "FAIL ") + sentence, flush=True)
    if not fact:
        raise AssertionError(sentence)


def eventually(predicate, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := predicate():
            return found
        time.sleep(0.05)
    return predicate()


class Scene(contextlib.ExitStack):
    """Whatever happens, all that it has started is ended with it."""

    def begin(self):
        self.zk, self.other_zk, self.redis, self.bad_redis = (
            self.server(*how) for how in (("zookeeper",), ("zookeeper", "minSessionTimeout=2000"), ("redis",), ("redis", "--maxmemory 100mb --maxmemory-policy allkeys-lru")))
        self.kazoo = KazooClient(hosts=self.zk)
        self.kazoo.start()
        self.callback(self.kazoo.stop)

    def server(self, *how):
        shell = subprocess.Popen(["sh", SERVERS, ROOT, *how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.callback(shell.communicate)
        return shell.stdout.readline().partition(" ")[0]

    def run(self, *words, servers=None, **more):
        done = subprocess.run([PROGRAM, *words], env=self.environment(servers), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **more)
        done.out, done.err = done.stdout.decode(), done.stderr.decode()
        return done

    def environment(self, servers=None):
        return {**os.environ, "PADDOCK_SERVERS": servers or self.zk}

    def hold(self, *words, servers=None):
        """`paddock lock …` in the background."""
        process = subprocess.Popen([PROGRAM, "lock", *words, "--", "sleep", "600"], env=self.environment(servers),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.terminate()
        process.wait()

    def seen(self, *words, servers=None):
        done = self.run("ls", "--json", *words, servers=servers)
        return json.loads(done.out) if done.returncode == 0 else {"kind": None, "contenders": [], "keys": []}

    def await_contenders(self, count, *words, servers=None):
        return eventually(lambda: (now := self.seen(*words, servers=servers))
                          and len(now["contenders"]) == count and now) or self.seen(*words, servers=servers)


def states(view):
    return [(one["holder"], one["shared"]) for one in view["contenders"]]


def test_ls_kinds(scene):
    scene.hold("/ls/mutex", "--label", "first")
    scene.await_contenders(1, "/ls/mutex")
    scene.hold("/ls/mutex", "--label", "second")
    view = scene.await_contenders(2, "/ls/mutex")
    check("ls knows a mutex by its nodes", view["kind"] == "mutex")
    check("ls shows holder and waiter in their order",
          [(one["label"], one["holder"], one["id"]) for one in view["contenders"]]
          == [("first", True, "0"), ("second", False, "1")])
    check("ls shows pid, host, time and session",
          all(one["pid"] and one["host"] and one["since"] and one["session"].startswith("0x")
              for one in view["contenders"]))
    table = scene.run("ls", "/ls/mutex").out
    check("the table has both", re.search(r"1 +0 +holds +first.*\n2 +1 +waits +second", table))

    kazoo = Lock(scene.kazoo, "/ls/kazoo", identifier="kazoo's")
    kazoo.acquire()
    view = scene.seen("/ls/kazoo")
    check("ls knows kazoo's Lock, and its identifier",
          view["kind"] == "mutex" and view["contenders"][0]["data"] == "kazoo's" and states(view) == [(True, False)])
    kazoo.release()

    for _ in range(2):
        scene.hold("/ls/shared", "--shared")
    view = scene.await_contenders(2, "/ls/shared")
    check("ls knows a shared mutex", view["kind"] == "shared_mutex" and states(view) == [(True, True)] * 2)

    for _ in range(2):
        scene.hold("/ls/semaphore", "--semaphore", "2")
    view = scene.await_contenders(2, "/ls/semaphore")
    check("ls knows a semaphore, and its permits",
          eventually(lambda: sorted(one["id"] for one in scene.seen("/ls/semaphore")["contenders"])
                     == ["permit-0", "permit-1"]))
    scene.hold("/ls/semaphore", "--semaphore", "2")
    check("ls does not say that a waiter's permit is held", eventually(lambda: re.search(
        "semaphore, 3 permits taken, 1 waits\n.*\n1 +permit-0 +holds.*\n2 +permit-1 +holds.*\n3 +permit-2 +taken.*\n4 +2 +waits",
        scene.run("ls", "/ls/semaphore").out)))

    scene.kazoo.create(f"/ls/election/_c_{uuid.uuid4()}-latch-", b"candidate", ephemeral=True, sequence=True,
                       makepath=True)
    view = scene.seen("/ls/election")
    check("ls knows an election", view["kind"] == "election" and view["contenders"][0]["data"] == "candidate")

    scene.kazoo.create("/ls/simple", b"{}", ephemeral=True)
    view = scene.seen("/ls/simple")
    check("ls knows a simple_mutex", view["kind"] == "simple_mutex" and states(view) == [(True, False)])

    scene.kazoo.create(f"/ls/named/_c_{uuid.uuid4()}-print-", b"", ephemeral=True, sequence=True, makepath=True)
    check("ls knows a mutex with a name", states(scene.seen("/ls/named")) == [(True, False)])

    scene.hold("--key", "/ls/family", "EU/4711")
    check("ls lists the keys of a family", eventually(lambda: [
        (key["key"], key["contenders"]) for key in scene.seen("/ls/family").get("keys", [])] == [("EU/4711", 1)]))
    check("ls finds the lock of a key", states(scene.seen("--key", "/ls/family", "EU/4711")) == [(True, False)])
    check("a key that is not in use is free", "free" in scene.run("ls", "--key", "/ls/family", "none").out)
    check("--kind overrides", scene.seen("/ls/mutex", "--kind", "election")["contenders"] == [])
    scene.kazoo.ensure_path("/ls/empty")
    check("a directory without contenders is free", scene.run("ls", "/ls/empty").out == "/ls/empty: free\n")
    gone = scene.run("ls", "/ls/nothing")
    check("a path that does not exist: exit status 1", gone.returncode == 1 and "does not exist" in gone.err)
    check("an unknown kind: exit status 2", scene.run("ls", "/ls/empty", "--kind", "x").returncode == 2)


def test_hostile_text(scene):
    hostile = b'{"host":"h\xc2\x9b31m","pid":1,"label":"\\u001b[2J\\u001b]0;x\\u0007\\u202e","time":""}'
    scene.kazoo.create(f"/hostile/_c_{uuid.uuid4()}-lock-", hostile, ephemeral=True, sequence=True, makepath=True)
    scene.kazoo.create(f"/hostile/{uuid.uuid4().hex}__lock__", b"\x1b[31m\xff\xfe\x00\x9b", ephemeral=True,
                       sequence=True)
    table = scene.run("ls", "/hostile")
    check("nothing that a terminal obeys is printed", table.out.count("\n") >= 4 and not CONTROLS.search(table.out))
    check("JSON of text that is no UTF-8 is valid", "\ufffd" in scene.seen("/hostile")["contenders"][1]["data"])


def test_watch(scene):
    scene.kazoo.ensure_path("/watched")
    watch = subprocess.Popen([PROGRAM, "ls", "--json", "--watch", "/watched"], env=scene.environment(),
                             stdout=subprocess.PIPE, text=True)
    scene.callback(watch.stdout.close)
    scene.callback(scene.end, watch)
    check("watch begins with what is", json.loads(watch.stdout.readline())["contenders"] == [])
    holder = scene.hold("/watched", "--label", "new")
    check("watch shows who comes", json.loads(watch.stdout.readline())["contenders"][0]["label"] == "new")
    scene.end(holder)
    check("watch shows who goes", json.loads(watch.stdout.readline())["contenders"] == [])
    watch.send_signal(signal.SIGINT)
    check("SIGINT ends it at once", watch.wait(5) == -signal.SIGINT)


def test_kick_and_ask(scene):
    asked = scene.hold("/kick", "--label", "one")
    scene.await_contenders(1, "/kick")
    kicked = scene.hold("/kick", "--label", "two")
    scene.await_contenders(2, "/kick")
    check("without a terminal and --yes: exit status 2", scene.run("kick", "/kick", "0").returncode == 2)
    missing = scene.run("kick", "--yes", "/kick", "77")
    check("an ID that is not there: exit status 1", missing.returncode == 1 and "no contender 77" in missing.err)
    check("without an ID: exit status 2", scene.run("kick", "--yes", "/kick").returncode == 2)
    check("ask: done", scene.run("ask", "--yes", "/kick", "0").returncode == 0)
    check("the command that was asked gets SIGTERM", asked.wait(20) == -signal.SIGTERM)
    check("the next one holds", eventually(lambda: [
        one["id"] for one in scene.seen("/kick")["contenders"] if one["holder"]] == ["1"]))
    check("kick: done", scene.run("kick", "--yes", "/kick", "1").returncode == 0)
    check("the command that was kicked is ended", kicked.wait(20) == 123)
    scene.hold("/kick/semaphore", "--semaphore", "1")
    eventually(lambda: [one["id"] for one in scene.seen("/kick/semaphore")["contenders"]] == ["permit-0"])
    check("a permit can be kicked", scene.run("kick", "--yes", "/kick/semaphore", "permit-0").returncode == 0)


def in_terminal(scene, answer, *words):
    """The exit status and what was shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, [PROGRAM, *words], scene.environment())
    shown = b""
    end = time.monotonic() + 30
    answered = False
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:  # its other end is closed
            break
        shown += part
        if not answered and b"[y/N]" in shown:
            answered = True
            os.write(terminal, answer)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


def test_confirmation(scene):
    holder = scene.hold("/confirm", "--label", "victim")
    scene.await_contenders(1, "/confirm")
    status, shown = in_terminal(scene, b"\n", "kick", "/confirm", "0")
    check("in a terminal kick asks, and says whom it meets", "victim" in shown and "fencing tokens" in shown)
    check("no is the default: exit status 1", status == 1 and holder.poll() is None)
    status, _ = in_terminal(scene, b"y\n", "kick", "/confirm", "0")
    check("y kicks", status == 0 and holder.wait(20) == 123)


def named(done, verb):
    return {line[len(verb) + 1:].split(":")[0] for line in done.out.splitlines() if line.startswith(verb + " ")}


def test_tidy(scene):
    zk = scene.kazoo
    for path in ("/tidy/old", "/tidy/live"):
        zk.ensure_path(path)
    zk.delete(zk.create("/tidy/old/x-", sequence=True))
    orphan = zk.create(f"/tidy/queue/_c_{uuid.uuid4()}-lock-", sequence=True, makepath=True)
    with_data = zk.create(f"/tidy/queue/{uuid.uuid4().hex}__lock__", b"me", sequence=True)
    plain = zk.create("/tidy/queue/lock-", sequence=True)
    live = zk.create(f"/tidy/live/_c_{uuid.uuid4()}-lock-", sequence=True, ephemeral=True)
    zk.create("/tidy/flag")
    zk.create("/tidy/data", b"data")
    rest = {"/tidy/old", orphan}
    young = scene.run("tidy", "/tidy", "--delete")
    check("what is young stays", young.returncode == 0 and not named(young, "deleted") and rest <= named(young, "left"))
    dry = scene.run("tidy", "/tidy", "--older", "0")
    check("dry, it lists the rest", named(dry, "would delete") == rest)
    check("dry, it deletes nothing", all(map(zk.exists, rest)))
    check("below --depth it does not look",
          not named(scene.run("tidy", "/tidy", "--older", "0", "--depth", "1"), "would delete") - {"/tidy/old"})
    done = scene.run("tidy", "/tidy", "--older", "0", "--delete")
    check("with --delete it deletes the rest", named(done, "deleted") == rest and not any(map(zk.exists, rest)))
    check("nodes of sessions, with data, and of others stay",
          all(map(zk.exists, (with_data, plain, live, "/tidy/flag", "/tidy/data", "/tidy"))))
    zk.delete(zk.create("/tidy/used/x-", sequence=True, makepath=True))

    def says(words):
        return lambda: re.search(f"/tidy/used: .*{words}", scene.run("tidy", "/tidy", "--older", "1s").out)

    check("without a later node a directory's last use is not known", eventually(says("no node here tells")))
    zk.create("/tidy/later", b"data")
    check("a later node is young, too", says("may have been used")())
    check("an old one tells how long the directory was not used", eventually(says("not used for at least")))
    check("not below /zookeeper", scene.run("tidy", "/zookeeper").returncode == 2)
    check("a path that does not exist", scene.run("tidy", "/tidy/nothing").returncode == 1)


def used(zk, path):
    """A directory in which a lock was once held."""
    zk.ensure_path(path)
    zk.delete(zk.create(f"{path}/_c_{uuid.uuid4()}-lock-", sequence=True, ephemeral=True))


def test_tidy_after_others(scene):
    zk = scene.kazoo
    semaphore = zk.Semaphore("/others/kazoo", max_leases=2)
    semaphore.acquire()
    semaphore.release()
    zk.Barrier("/others/barrier").create()
    for path in ("/others/curator/locks", "/others/curator/leases", "/others/kept/deep", "/others/secret/deep"):
        used(zk, path)
    reader = zk.create(f"/others/shared/_c_{uuid.uuid4()}-__READ__", sequence=True, makepath=True)
    zk.set_acls("/others/kept", [make_acl("world", "anyone", read=True, admin=True)])
    zk.set_acls("/others/secret", [make_acl("world", "anyone", admin=True)])
    rest = {"/others/curator/locks", "/others/curator/leases", "/others/curator", "/others/kazoo-__lock__",
            reader, "/others/shared"}
    kept = {"/others/kept/deep", "/others/kept"}
    dry = scene.run("tidy", "/others", "--older", "0")
    check("a directory with nothing but rests is one", named(dry, "would delete") == rest | kept)
    done = scene.run("tidy", "/others", "--older", "0", "--delete")
    check("the rests of other programs are deleted at once", named(done, "deleted") == rest)
    check("what it may not delete, or read, is said",
          named(done, "left") == {"/others/kept/deep", "/others/secret"} and "authorized" in done.out)
    check("barriers and settings stay", zk.get_children("/others") and set(zk.get_children("/others")) == {
        "kazoo", "barrier", "kept", "secret"})


def test_tidy_while_locks_are_taken(scene):
    zk, count = scene.kazoo, 300
    for n in range(count):
        used(zk, f"/busy/{n}")
    words = [PROGRAM, "tidy", "/busy", "--older", "0", "--delete"]
    tidy = subprocess.Popen(words, env=scene.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    held = []
    for n in range(0, count, 3):
        with contextlib.suppress(NoNodeError):
            held.append(zk.create(f"/busy/{n}/_c_{uuid.uuid4()}-lock-", ephemeral=True, sequence=True))
    tidy.communicate(timeout=60)
    check("no lock that is taken meanwhile is harmed", tidy.returncode == 0 and all(map(zk.exists, held)))


def examine(scene, servers):
    done = scene.run("doctor", "--json", "--servers", servers, "--connect-timeout", "2s")
    found = json.loads(done.out)["checks"]
    return done.returncode, {one["check"] for one in found if one["level"] == "bad"}, found


@contextlib.contextmanager
def without_quorum():
    """A server that does what one of three does when the others are down."""
    class Alone(socketserver.BaseRequestHandler):
        def handle(self):
            if self.request.recv(4) == b"srvr":
                self.request.sendall(b"This ZooKeeper instance is not currently serving requests\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Alone) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_doctor(scene):
    status, bad, found = examine(scene, scene.zk)
    check("a good server has nothing bad", status == 0 and not bad)
    names = {"reached", "read", "write", "clock", "container", "ttl", "jute_maxbuffer", "limits", "tick",
             "session_timeout", "one_ensemble"}
    check("every check has a line", names <= {one["check"] for one in found})
    check("it leaves nothing behind", not [one for one in scene.kazoo.get_children("/") if "doctor" in one])
    lines = scene.run("doctor").out.splitlines()
    check("each line begins with its level", lines and all(re.match("(ok  |warn|bad ) ", line) for line in lines))
    status, bad, _ = examine(scene, "127.0.0.1:1")
    check("no server: exit status 1", status == 1 and bad == {"reached"})
    with without_quorum() as address:
        status, bad, found = examine(scene, address)
    check("a server without a quorum", status == 1 and bad == {"reached"} and "no quorum" in found[0]["text"])
    status, bad, _ = examine(scene, f"{scene.zk},{scene.other_zk}")
    check("servers with other limits, each an ensemble", status == 1 and bad == {"equal_limits", "one_ensemble"})
    status, bad, _ = examine(scene, f"{scene.zk}/missing")
    check("a root that is missing", status == 1 and bad == {"root"})


def test_redis(scene):
    servers = f"redis://{scene.redis}"
    holder = scene.hold("--new-servers", "--session-timeout", "5s", "job", servers=servers)
    view = scene.await_contenders(1, "job", servers=servers)
    check("ls shows the holder on Redis", view["kind"] == "redis" and states(view) == [(True, False)])
    one = view["contenders"][0]["id"]
    check("ls says that waiters are not known", "not known" in scene.run("ls", "job", servers=servers).out)
    check("ask is not available on Redis", scene.run("ask", "--yes", "job", one, servers=servers).returncode == 2)
    check("kick ends the hold", scene.run("kick", "--yes", "job", one, servers=servers).returncode == 0
          and holder.wait(20) == 123)
    status, bad, _ = examine(scene, servers)
    check("a good Redis has nothing bad", status == 0 and not bad)
    status, bad, _ = examine(scene, f"redis://{scene.bad_redis}")
    check("a Redis that evicts keys is bad", status == 1 and bad == {"memory", "usable"})
    status, bad, _ = examine(scene, "redis://127.0.0.1:1")
    check("no Redis: exit status 1", status == 1 and "reached" in bad)


def main():
    with Scene() as scene:
        scene.begin()
        for test in (test_ls_kinds, test_hostile_text, test_watch, test_kick_and_ask, test_confirmation, test_tidy,
                     test_tidy_after_others, test_tidy_while_locks_are_taken, test_doctor,
                     test_redis):
            test(scene)
    print(f"{checked} sentences")


main()
