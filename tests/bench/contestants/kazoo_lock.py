"""kazoo's Lock, a thread for each contender."""
import logging
import sys
import time

from kazoo.client import KazooClient

import contestant


def connect():
    client = KazooClient(hosts=sys.argv[1], timeout=10)
    client.start()
    return client


def measure(workload, given, figures):
    client, rival = connect(), connect()
    contenders, path = int(given["contenders"]), given["path"]
    queued = contestant.is_queued(workload, given)
    held = path + "-0" if queued else path
    holder = rival.Lock(held)
    if queued or workload == "try":
        holder.acquire()
    contestant.wait_until(given)
    if not queued:
        figures.begin()
    if workload == "contend":
        locks = [client.Lock(f"{path}-{i % int(given['locks'])}") for i in range(contenders)]
        threads = [contestant.start(contestant.contend, lock, figures) for lock in locks]
    elif workload == "try":
        locks = [client.Lock(path) for _ in range(contenders)]
        threads = [contestant.start(contestant.try_busy, lock, figures) for lock in locks]
    else:
        raise ValueError(workload)
    if queued:
        while len(rival.get_children(held)) <= contenders:
            time.sleep(0.01)
        figures.begin()
        holder.release()
    for thread in threads:
        thread.join()
    if holder.is_acquired:
        holder.release()
    for each in (client, rival):
        each.stop()
        each.close()


logging.basicConfig(level=logging.WARNING)
contestant.serve(measure)
