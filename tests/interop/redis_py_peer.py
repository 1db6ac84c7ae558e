"""The redis-py side of interop_redis: contenders that are threads with a Lock each, at one key.

Its arguments are words key=value: port, database, lock, folder, name, contenders, and mode: `loop`
takes and releases the lock by every call there is until NAME.stop exists, `hold` takes it and keeps
it. `seconds` is the time to live of its keys.
"""
import os
import sys
import threading
import time
import traceback

import redis
from redis.lock import Lock

PATIENCE = 0.003  # seconds


class Peer:
    def __init__(self, given):
        self.given = given
        self.name = given["name"]
        self.stop = os.path.join(given["folder"], self.name + ".stop")
        how = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self.journal = os.open(os.path.join(given["folder"], "journal"), how, 0o600)
        self.counter = os.path.join(given["folder"], "counter")
        self.client = redis.Redis(port=int(given["port"]), db=int(given["database"]))

    def note(self, *words):
        os.write(self.journal, (" ".join(words).ljust(63) + "\n").encode())

    def told_to_stop(self):
        return os.path.exists(self.stop)

    def take(self, lock, round_):
        if round_ % 3 == 1:
            return lock.acquire(blocking=False)
        if round_ % 3 == 2:
            return lock.acquire(blocking_timeout=PATIENCE)
        return lock.acquire()

    def count(self):
        """Loses a step if somebody else counts at the same time."""
        with open(self.counter, encoding="ascii") as file:
            number = int(file.read())
        with open(self.counter, "w", encoding="ascii") as file:
            file.write(str(number + 1))

    def contend(self, number):
        contender = f"{self.name}.{number}"
        seconds = float(self.given["seconds"])
        lock = Lock(self.client, self.given["lock"], timeout=seconds, sleep=PATIENCE)
        round_ = 0
        while not self.told_to_stop():
            if self.take(lock, round_):
                self.note("in", contender, "1", "-")
                self.count()
                if round_ % 5 == 0:
                    lock.reacquire()
                while self.given["mode"] == "hold":
                    time.sleep(PATIENCE)
                self.note("out", contender)
                lock.release()
            else:
                self.note("gave-up", contender)
            time.sleep(PATIENCE)
            round_ += 1

    def guarded(self, number):
        try:
            self.contend(number)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def run(self):
        count = int(self.given["contenders"])
        threads = [threading.Thread(target=self.guarded, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.note("done", self.name)


Peer(dict(word.split("=", 1) for word in sys.argv[1:])).run()
