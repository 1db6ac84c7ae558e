"""Measures paddock and what people use today, side by side on private servers; run.sh starts it."""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

import cases
import figures
import plots
import programs
import servers

WARM_UP = 1  # seconds
TOGETHER = 500  # milliseconds, after which processes begin together
KEYS = 10_000_000  # more than one measurement uses


def say(text):
    print(text, file=sys.stderr, flush=True)


def arguments():
    def delay(text):
        if not (found := re.fullmatch(r"(\d+(?:\.\d+)?)(ms|us)", text)):
            raise argparse.ArgumentTypeError("a time is wanted, as 1ms or 500us")
        return int(float(found[1]) * {"ms": 1000, "us": 1}[found[2]])

    def count(text):
        if not re.fullmatch(r"[1-9]\d*", text):
            raise argparse.ArgumentTypeError("a number from 1 on is wanted")
        return int(text)

    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short measurements, few rounds")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--redis", action="store_true", help="only what concerns locks on Redis")
    which.add_argument("--zookeeper", action="store_true", help="only locks on ZooKeeper")
    parser.add_argument("--ensemble", action="store_true", help="three ZooKeeper servers, not one")
    parser.add_argument("--disk", action="store_true", help="a write of ZooKeeper waits for the disk")
    parser.add_argument("--network", type=delay, default=0, metavar="1ms",
                        help="a round trip takes so much longer")
    parser.add_argument("--rounds", type=count, metavar="N")
    parser.add_argument("--case", metavar="NAME", help="only cases with this in their name")
    parser.add_argument("--built", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.rounds = given.rounds or (3 if given.quick else 7)
    given.seconds = 0.25 if given.quick else 2.0
    return given


class Bench:
    def __init__(self, given, closing):
        self.given = given
        self.closing = closing
        self.skipped = {}
        self.systems = {}  # addresses
        self.commands = {}
        self.running = {}
        self.used_keys = 0

    def skip(self, title, why):
        if title not in self.skipped:
            say(f"skipped: {title}: {why}")
        self.skipped[title] = why

    def start(self, wanted):
        """Starts the servers of the systems that are wanted."""
        given = self.given
        if "zookeeper" in wanted and shutil.which("java") is None:
            self.skip("ZooKeeper", "install default-jre-headless and libzookeeper-java")
        elif "zookeeper" in wanted:
            self.zookeeper = servers.ZooKeeper(3 if given.ensemble else 1, given.disk)
            self.closing.callback(self.zookeeper.close)
            self.systems["zookeeper"] = self.behind_network(self.zookeeper.addresses)
        if not {"redis", "redis3"} & wanted:
            return
        if not os.path.exists(servers.REDIS):
            self.skip("Redis", "install redis-tools")
            return
        redis = servers.Redis(4)
        self.closing.callback(redis.close)
        addresses = self.behind_network(redis.addresses)
        self.systems["redis"] = addresses[:1]
        self.systems["redis3"] = addresses[1:]

    def behind_network(self, addresses):
        if not self.given.network:
            return addresses
        proxy = servers.Delay(self.given.built / "delay_proxy", self.given.network, addresses)
        self.closing.callback(proxy.close)
        return proxy.addresses

    def can_run(self, name):
        contestant = cases.CONTESTANTS[name]
        if contestant.system not in self.systems:
            return False
        if name not in self.commands:
            self.commands[name] = programs.command_of(contestant.program, self.given.built)
        if self.commands[name] is None:
            self.skip(contestant.title, f"install {contestant.package}" if contestant.package
                      else "it was not built")
        return self.commands[name] is not None

    def programs_of(self, name, case):
        """Its processes, which run on for the cases to come."""
        for number in range(case.processes):
            if case.fresh and (name, number) in self.running:
                self.running.pop((name, number)).close()
            if (name, number) not in self.running:
                program = programs.Program(self.commands[name],
                                           self.systems[cases.CONTESTANTS[name].system])
                self.running[name, number] = program
                self.closing.callback(program.close)
                if cases.CONTESTANTS[name].warm_up:
                    program.ask(self.line(cases.WARM_UP, path="/bench-warm-up", seconds=WARM_UP))
                    program.answer()
        return [self.running[name, number] for number in range(case.processes)]

    @staticmethod
    def line(case, **more):
        words = {**case.words, **more}
        return " ".join([case.workload, *(f"{word}={value}" for word, value in words.items())])

    def measure(self, name, case, path):
        more = {"path": f"/bench-{name}-{path}", "seconds": self.given.seconds}
        asked = self.programs_of(name, case)
        if case.workload == "keys":
            self.used_keys += KEYS
            more["first_key"] = self.used_keys
        if case.processes > 1:
            more["at"] = int(time.time() * 1000) + TOGETHER
        counted = "nodes_left" in case.shows
        before = self.zookeeper.nodes() if counted else 0
        line = self.line(case, **more)
        for program in asked:
            program.ask(line)
        answers = [program.answer() for program in asked]
        measured = answers[0] if len(answers) == 1 else figures.added(answers)
        if counted:
            keys = measured["operations"] + measured["late"]
            measured["nodes_left"] = (self.zookeeper.nodes() - before) * 1000 / keys
        for figure in figures.REMARKS.keys() - set(case.shows):
            measured.pop(figure, None)
        if measured["operations"] < case.words["contenders"]:  # the longest waits are not over
            del measured["p50_ms"], measured["p99_ms"]
        return measured

    def rounds_of(self, case, path):
        contestants = [name for name in case.contestants if self.can_run(name)]
        rounds = []
        for number in range(self.given.rounds):
            order = contestants if number % 2 == 0 else contestants[::-1]
            taken = {name: self.measure(name, case, path) for name in order}
            rounds.append({name: taken[name] for name in contestants})
        return rounds


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
        for name in rounds[0]:
            middle = figures.median_and_spread(figures.series(rounds, name, "rate"))[0]
            rates[case.title][title[name]] = middle
            if title[name] not in seen:
                seen.append(title[name])
            if case.curve:
                axis, number = case.curve
                axes.setdefault(axis, {}).setdefault(title[name], {})[number] = middle
    plots.draw(plots.bars(f"Locks, {system}", seen, rates, folder / f"{system}.svg"))
    for axis, points in axes.items():
        if len({number for measured in points.values() for number in measured}) == 1:
            continue
        name = f"{system}-{axis.replace(' ', '-')}.svg"
        plots.draw(plots.curves(f"{axis}, {system}", axis, points, folder / name))


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    systems = ["redis"] if given.redis else ["zookeeper"] if given.zookeeper else ["redis", "zookeeper"]
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
                if not rounds[0]:
                    continue
                measured[system].append((case, rounds))
                titled = [{cases.CONTESTANTS[name].title: taken for name, taken in each.items()}
                          for each in rounds]
                lines += figures.rows(case.title, titled, cases.CONTESTANTS[case.baseline].title)
                report["cases"].append({"system": system, "case": case.title, "workload": case.workload,
                                        **case.words, "rounds": titled})
    report["skipped"] = bench.skipped
    print("\n".join(figures.table(lines)))
    (folder / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    if plots.available():
        for system, some in measured.items():
            if some:
                draw(folder, system, some)
    else:
        say("skipped: plots: install gnuplot-nox")
    say(f"report and plots: {folder}")


try:
    main()
except (programs.Failed, servers.Failed) as failed:
    sys.exit(str(failed))
