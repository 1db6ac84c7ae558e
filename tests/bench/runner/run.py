"""Measures paddock and what people use today, side by side on private servers; run.sh starts it."""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

import cases
import figures
import plots
import servers
from bench import Bench, say

COLUMNS = """The table has medians (and spreads) of the rounds. p50 and p99 are the time until a lock
was taken; CPU is that of the client for one operation, requests are those that the ZooKeeper servers
got for it, and packets the TCP segments of both. Watches are the most that they had. The last ratio is the rate of the case's first contestant in multiples of this
one's. Of waiters for a lock on Redis it counts how often another one gets it (hand-offs): who gives
it back often takes it again at once."""
SYSTEMS = {"redis": "Redis", "zookeeper": "ZooKeeper", "tls": "both, plain and with TLS"}


def arguments():
    def delay(text):
        if not (found := re.fullmatch(r"(\d+(?:\.\d+)?)(ms|us)", text)):
            raise argparse.ArgumentTypeError("a time is wanted, as 1ms or 500us")
        return int(float(found[1]) * {"ms": 1000, "us": 1}[found[2]])

    def count(text):
        if not re.fullmatch(r"[1-9]\d*", text):
            raise argparse.ArgumentTypeError("a number from 1 on is wanted")
        return int(text)

    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__, epilog=COLUMNS)
    parser.add_argument("--quick", action="store_true", help="short measurements, few rounds")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--redis", action="store_true", help="only what concerns locks on Redis")
    which.add_argument("--zookeeper", action="store_true", help="only locks on ZooKeeper")
    which.add_argument("--tls", action="store_true", help="only what TLS costs")
    parser.add_argument("--ensemble", action="store_true", help="three ZooKeeper servers, not one")
    parser.add_argument("--disk", action="store_true", help="a write of ZooKeeper waits for the disk")
    parser.add_argument("--network", type=delay, default=0, metavar="1ms",
                        help="a round trip takes so much longer")
    parser.add_argument("--rounds", type=count, metavar="N")
    parser.add_argument("--case", metavar="NAME", help="only cases with this in their name")
    parser.add_argument("--built", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.rounds = given.rounds or (3 if given.quick else 15)
    given.seconds = 0.2 if given.quick else 1.0
    return given


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as lines:
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {"processor": models[0] if models else platform.machine(), "processors": os.cpu_count(),
            "kernel": platform.release(), "load": os.getloadavg()[0]}


def draw(folder, system, measured):
    """Bars of all cases of a system, and a curve for each axis."""
    title = {name: contestant.title for name, contestant in cases.CONTESTANTS.items()}
    rates, axes, seen = {}, {}, []
    for case, rounds in measured:
        rates[case.title] = {}
        for name in dict.fromkeys(name for measured_once in rounds for name in measured_once):
            middle = figures.median_and_spread(figures.series(rounds, name, "rate"))[0]
            rates[case.title][title[name]] = middle
            if title[name] not in seen:
                seen.append(title[name])
            if case.curve:
                axis, number = case.curve
                axes.setdefault(axis, {}).setdefault(title[name], {})[number] = middle
    plots.draw(plots.bars(f"Locks on {SYSTEMS[system]}", seen, rates, folder / f"{system}.svg"))
    for axis, points in axes.items():
        if len({number for measured in points.values() for number in measured}) == 1:
            continue
        name = f"{system}-{axis.replace(' ', '-')}.svg"
        plots.draw(plots.curves(f"Locks on {SYSTEMS[system]}", axis, points, folder / name))


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    systems = [name for name in SYSTEMS if getattr(given, name)] or SYSTEMS
    chosen = {system: [case for case in cases.CASES[system] if not given.case or given.case in case.title]
              for system in systems}
    chosen = {system: some for system, some in chosen.items() if some}
    if not chosen:
        sys.exit(f"no case has '{given.case}' in its name")
    folder = given.built / "report"
    folder.mkdir(exist_ok=True)
    report = {"time": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
              "machine": machine(), "options": {key: value for key, value in vars(given).items()
                                                if key != "built"}, "cases": []}
    lines = []
    with contextlib.ExitStack() as closing:
        bench = Bench(given, closing)
        bench.start({cases.CONTESTANTS[name].system for some in chosen.values() for case in some
                     for name in case.contestants})
        measured = {system: [] for system in chosen}
        for system, some in chosen.items():
            for number, case in enumerate(some):
                say(f"{system}: {case.title}")
                rounds = bench.rounds_of(case, f"{system[0]}{number}")
                if not any(rounds):
                    continue
                measured[system].append((case, rounds))
                titled = [{cases.CONTESTANTS[name].title: taken for name, taken in each.items()}
                          for each in rounds]
                lines += figures.rows(case.title, titled, cases.CONTESTANTS[case.baseline].title)
                report["cases"].append({"system": system, "case": case.title, "workload": case.workload,
                                        **case.words, "rounds": titled})
    report["skipped"] = bench.skipped
    report["failed"] = bench.failed
    print("\n".join(figures.table(lines)))
    (folder / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    if plots.available():
        for system, some in measured.items():
            if some:
                draw(folder, system, some)
    else:
        say("skipped: plots: install gnuplot-nox")
    say(f"report and plots: {folder}")
    sys.exit(1 if bench.failed else 0)


try:
    main()
except servers.Failed as failed:
    sys.exit(str(failed))
