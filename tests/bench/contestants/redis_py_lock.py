"""redis-py's Lock with its default options, a thread for each contender."""
import sys
import time

import redis

import contestant

SETTLED = 0.2  # seconds; nobody can see from outside who waits


def measure(workload, given, figures):
    if workload != "contend":
        raise ValueError(workload)
    host, port = sys.argv[1].rsplit(":", 1)
    clients = [redis.Redis(host, int(port)) for _ in range(int(given.get("clients", 1)))]
    contenders, path = int(given["contenders"]), given["path"]
    queued = contestant.is_queued(workload, given)
    locks = [clients[i % len(clients)].lock(f"{path}-{i % int(given['locks'])}", timeout=10)
             for i in range(contenders)]
    holder = clients[0].lock(path + "-0", timeout=10)
    if queued:
        holder.acquire()
    else:
        figures.begin()
    threads = [contestant.start(contestant.contend, lock, figures) for lock in locks]
    if queued:
        time.sleep(SETTLED)
        figures.begin()
        holder.release()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()


contestant.serve(measure)
