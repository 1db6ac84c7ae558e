"""What the contestants in Python share; input and output are those of contestant.hpp."""
import json
import os
import sys
import threading
import time
import traceback


class Measurement:
    def __init__(self, given):
        self.seconds = float(given["seconds"])
        self.contenders = int(given["contenders"])
        self.mutex = threading.Lock()
        self.waited = []  # milliseconds
        self.over = False
        self.late = 0
        self.last = None
        self.handoffs = 0

    def begin(self):
        self.cpu = time.process_time()
        self.begun = time.monotonic()

    def count(self, asked, contender=None):
        now = time.monotonic()
        with self.mutex:
            if self.over:
                self.late += 1
                return
            self.waited.append((now - max(asked, self.begun)) * 1e3)
            if contender is not self.last:
                self.last = contender
                self.handoffs += 1
            each = len(self.waited) >= self.contenders
            if now - self.begun >= self.seconds * (1 if each else 5):
                self.cpu = time.process_time() - self.cpu
                self.took = now - self.begun
                self.over = True

    def figures(self, queued):
        self.waited.sort()
        count = len(self.waited)
        handoffs = {"handoffs": self.handoffs / self.took} if queued else {}
        return {**handoffs,
                "operations": count,
                "late": self.late,
                "rate": count / self.took,
                "p50_ms": self.waited[int(0.5 * (count - 1))],
                "p99_ms": self.waited[int(0.99 * (count - 1))],
                "cpu_us": self.cpu * 1e6 / count}


def guarded(work, *arguments):
    try:
        work(*arguments)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def start(work, *arguments):
    thread = threading.Thread(target=guarded, args=(work, *arguments))
    thread.start()
    return thread


def contend(lock, figures):
    while True:
        asked = time.monotonic()
        lock.acquire()
        figures.count(asked, lock)
        lock.release()
        if figures.over:
            return


def try_busy(lock, figures):
    while not figures.over:
        asked = time.monotonic()
        if lock.acquire(blocking=False):
            raise RuntimeError("the lock was free")
        figures.count(asked)


def wait_until(given):
    """Processes that begin at a time: so many milliseconds after 1970."""
    if "at" in given:
        time.sleep(max(0, int(given["at"]) / 1000 - time.time()))


def is_queued(workload, given):
    """Where there are more contenders than locks, all of them wait behind a holder before it begins."""
    return workload == "contend" and int(given["contenders"]) > int(given["locks"])


def serve(measure):
    """Measures what the input asks for: `measure(workload, words, figures)`."""
    for line in sys.stdin:
        workload, *words = line.split()
        given = dict(word.split("=", 1) for word in words)
        figures = Measurement(given)
        measure(workload, given, figures)
        print(json.dumps(figures.figures(is_queued(workload, given))), flush=True)
