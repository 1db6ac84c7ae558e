"""The kazoo side of the interop tests: contenders that are threads of one client.

Its arguments are those of all peers (peers.hpp). The kinds:
  lock           kazoo's Lock as it is
  waiting_lock   the same, made to wait for the nodes of Curator, paddock, Go and Rust as well
  curator_lock   a Lock whose nodes are named as Curator's, so that other programs wait for it too
  renamed_lock   the short form of that, which programs in use have: <32 hex digits>-lock-<number>
"""
import logging
import os
import sys
import threading
import time
import traceback
import uuid

from kazoo.client import KazooClient
from kazoo.exceptions import CancelledError, LockTimeout
from kazoo.recipe.lock import Lock

PATIENCE = 0.005  # seconds; about as long as it takes to come to the head of the queue


class CuratorLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-", "__lock__"]

    def __init__(self, client, path):
        super().__init__(client, path)
        self.prefix = f"_c_{uuid.uuid4()}{self._NODE_NAME}"
        self.create_path = f"{path}/{self.prefix}"


class RenamedLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


KINDS = {
    "lock": Lock,
    "waiting_lock": lambda client, path: Lock(client, path, extra_lock_patterns=["-lock-"]),
    "curator_lock": CuratorLock,
    "renamed_lock": RenamedLock,
}


class Peer:
    def __init__(self, given):
        self.given = given
        self.name = given["name"]
        self.stop = os.path.join(given["folder"], self.name + ".stop")
        how = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self.journal = os.open(os.path.join(given["folder"], "journal"), how, 0o600)
        timeout = int(given["session"]) / 1000
        self.client = KazooClient(hosts=given["server"], timeout=timeout)

    def note(self, *words):
        os.write(self.journal, (" ".join(words).ljust(63) + "\n").encode())

    def told_to_stop(self):
        return os.path.exists(self.stop)

    def take(self, lock, round_):
        """Takes the lock by all of its calls, one after the other."""
        if round_ % 6 == 1:
            return lock.acquire(timeout=PATIENCE)
        if round_ % 6 == 3:
            return lock.acquire(blocking=False)
        if round_ % 6 == 5:
            timer = threading.Timer(PATIENCE, lock.cancel)
            timer.start()
            try:
                return lock.acquire()
            finally:
                timer.cancel()
                timer.join()
                lock.cancelled = False  # it would hit the next call
        return lock.acquire()

    def stay(self, round_):
        if self.given["mode"] == "loop":
            time.sleep(round_ % 3 / 1000)
        while self.given["mode"] != "loop" and not self.told_to_stop():
            time.sleep(PATIENCE)

    def hold(self, lock, contender, round_, stay):
        self.note("in", contender, "1", lock.node[-10:])
        stay(round_)
        self.note("out", contender)
        lock.release()

    def contend(self, number):
        contender = f"{self.name}.{number}"
        lock = KINDS[self.given["kind"]](self.client, self.given["path"])
        if self.given["mode"] == "twice":
            self.twice(lock, contender)
            return
        round_ = 0
        while not self.told_to_stop():
            try:
                granted = self.take(lock, round_)
            except (LockTimeout, CancelledError):
                granted = False
            if granted:
                self.hold(lock, contender, round_, self.stay)
            else:
                self.note("gave-up", contender)
            round_ += 1

    def twice(self, lock, contender):
        """Takes it, and takes it again when told to stop, with the same Lock object."""
        lock.acquire()
        self.hold(lock, contender, 0, lambda round_: None)
        while not self.told_to_stop():
            time.sleep(PATIENCE)
        lock.acquire()
        self.hold(lock, contender, 1, lambda round_: None)

    def guarded(self, number):
        try:
            self.contend(number)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def run(self):
        self.client.start()
        count = int(self.given["contenders"])
        threads = [threading.Thread(target=self.guarded, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.client.stop()
        self.note("done", self.name)


logging.basicConfig(level=logging.WARNING)
Peer(dict(word.split("=", 1) for word in sys.argv[1:])).run()
