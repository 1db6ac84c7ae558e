"""Runs the benchmark programs in turns and prints medians and ratios.

compare.py FOLDER-OF-THE-PROGRAMS HOST:PORT disk|everything ROUNDS

disk: the uncontended lock only, because the server is one that waits for its disk.

Beside the uncontended lock a bare loop around the C client's single-threaded library is measured: no
library could take less.
"""
import re
import statistics
import subprocess
import sys

folder, server, what, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def run(program, *arguments):
    done = subprocess.run([f"{folder}/{program}", server, *map(str, arguments)],
                          check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.]+)", done.stdout)}


def compare(title, locks, cycles, figure, wanted):
    ours, theirs, ratios, floors = [], [], [], []
    for _ in range(rounds):
        theirs.append(run("bench_c_client", locks, cycles)[figure])
        ours.append(run("bench_paddock", "cycles", locks, cycles)[figure])
        ratios.append(ours[-1] / theirs[-1])
        if locks == 1:
            floors.append(run("bench_bare", locks, cycles)[figure] / theirs[-1])
    floor = f"; a bare loop {statistics.median(floors):.2f}" if floors else ""
    print(f"{title:46} paddock {statistics.median(ours):7.1f} us   C client {statistics.median(theirs):7.1f} us   "
          f"ratio {statistics.median(ratios):.2f} (wanted: {wanted}{floor})", flush=True)


if what == "disk":
    compare("uncontended lock and unlock, with disk", 1, 2000, "wall_us", "0.75 or less")
    sys.exit()
compare("uncontended lock and unlock, without disk", 1, 4000, "wall_us", "0.75 or less")
compare("64 locks at a time, CPU time per cycle", 64, 100, "cpu_us", "0.50 or less")
compare("64 locks at a time, wall time per cycle", 64, 100, "wall_us", "-")

crowd = [run("bench_paddock", "waiters", 10000) for _ in range(3)]
worst = {name: max(one[name] for one in crowd) for name in crowd[0]}
print(f"10000 waiters on one mutex, one thread (worst of {len(crowd)}): "
      f"{worst['kib_per_waiter']:.2f} KiB each (wanted: 4 or less), "
      f"all queued after {worst['join_ms']:.0f} ms, all served after {worst['drain_ms']:.0f} ms more, "
      f"longest handler {worst['longest_handler_cpu_ms']:.1f} ms of CPU, "
      f"a timer on the same loop at most {worst['timer_late_ms']:.0f} ms late")
cost = run("bench_paddock", "valid", 20_000_000)
print(f"guard::valid() {cost['valid_ns']:.1f} ns (wanted: less than 20), of which the clock takes "
      f"{cost['clock_ns']:.1f} ns")
