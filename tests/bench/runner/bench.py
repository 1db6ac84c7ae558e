"""The measurements of one run: servers, contestants, and rounds in which they take turns."""
import os
import shutil
import sys
import time

import cases
import figures
import programs
import servers

WARM_UP = 1  # seconds
TOGETHER = 500  # milliseconds, after which processes begin together
KEYS = 10_000_000  # more than one measurement uses


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, given, closing):
        self.given = given
        self.closing = closing
        self.skipped = {}
        self.systems = {}  # addresses
        self.certificate = None  # of those with TLS
        self.commands = {}
        self.running = {}
        self.used_keys = 0
        self.failed = []

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
            self.zookeeper = servers.ZooKeeper(self.closing, 3 if given.ensemble else 1, given.disk)
            self.systems["zookeeper"] = self.behind_network(self.zookeeper.addresses)
        self.start_encrypted(wanted)
        if not {"redis", "redis3"} & wanted:
            return
        if not os.path.exists(servers.REDIS):
            self.skip("Redis", "install redis-tools")
            return
        addresses = self.behind_network(servers.Redis(self.closing, 4).addresses)
        self.systems["redis"] = addresses[:1]
        self.systems["redis3"] = addresses[1:]

    def start_encrypted(self, wanted):
        """The systems that are measured with and without TLS, on the same servers."""
        started = {"zookeeper": lambda: servers.ZooKeeper(self.closing, 1, self.given.disk, self.certificate),
                   "redis": lambda: servers.Redis(self.closing, 1, self.certificate)}
        for system, start in started.items():
            if f"{system}-tls" not in wanted:
                continue
            if shutil.which("openssl") is None:
                self.skip("TLS", "install openssl")
                return
            self.certificate = self.certificate or servers.Certificate(self.closing)
            one = start()
            self.systems[f"{system}-plain"] = self.behind_network(one.addresses)
            self.systems[f"{system}-tls"] = self.behind_network(one.tls_addresses)

    def behind_network(self, addresses):
        if not self.given.network:
            return addresses
        program = self.given.built / "delay_proxy"
        return servers.Delay(self.closing, program, self.given.network, addresses).addresses

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

    def start_program(self, name, number):
        system = cases.CONTESTANTS[name].system
        more = [self.certificate.file] if system.endswith("-tls") else []
        program = programs.Program(self.commands[name], self.systems[system], more)
        self.running[name, number] = program
        self.closing.callback(program.close)
        return program

    def programs_of(self, name, case):
        """Its processes, which run on for the cases to come."""
        if case.fresh:
            self.end(name)
        started = [self.start_program(name, number) for number in range(case.processes)
                   if (name, number) not in self.running]
        if cases.CONTESTANTS[name].warm_up:
            self.answers(started, line(cases.WARM_UP, path="/bench-warm-up", seconds=WARM_UP))
        return [self.running[name, number] for number in range(case.processes)]

    def end(self, name):
        for key in [key for key in self.running if key[0] == name]:
            self.running.pop(key).close()

    @staticmethod
    def answers(asked, text):
        for program in asked:
            program.ask(text)
        return [program.answer() for program in asked]

    def counts(self, name):
        return self.zookeeper.counts() if cases.CONTESTANTS[name].system == "zookeeper" else {}

    def measure(self, name, case, path):
        more = {"path": f"/bench-{name}-{path}", "seconds": self.given.seconds}
        asked = self.programs_of(name, case)
        if case.workload == "keys":
            self.used_keys += KEYS
            more["first_key"] = self.used_keys
        if case.processes > 1:
            more["at"] = int(time.time() * 1000) + TOGETHER
        if case.restarts:
            return self.measure_restart(asked, case, more)
        if case.rests:
            return self.measure_rest(asked, case, more)
        before = self.counts(name)
        text = line(case, **more)
        for program in asked:
            program.ask(text)
        watches = self.most_watches(asked) if "watches" in case.shows else {}
        measured = figures.added([program.answer() for program in asked])
        measured |= figures.per_operation(measured, before, self.counts(name)) | watches
        return figures.chosen(measured, case.words["contenders"], case.shows)

    def most_watches(self, asked):
        """The watches that the servers have at one time, looked at now and then."""
        most = 0
        while not all(program.has_answered(0.1) for program in asked):
            most = max(most, self.zookeeper.watches())
        return {"watches": most}

    def ask_until_ready(self, asked, text):
        """Until one of them says that its clients are as they are to be, or has failed."""
        ready = self.zookeeper.folder / "ready"
        for program in asked:
            program.ask(f"{text} ready={ready}")
        self.zookeeper.wait_for(lambda: ready.exists() or any(p.has_answered(0) for p in asked))
        ready.unlink(missing_ok=True)

    def measure_rest(self, asked, case, more):
        """Between the moment in which its clients are as they are to be, and the first that ends."""
        self.ask_until_ready(asked, line(case, **more))
        before = self.zookeeper.counts() | self.zookeeper.efforts()
        time.sleep(case.words["seconds"])
        after = self.zookeeper.counts() | self.zookeeper.efforts()
        measured = figures.added([program.answer() for program in asked])
        seconds = {"operations": case.words["contenders"] * case.words["seconds"], "late": 0}
        measured |= figures.per_operation(seconds, before, after)
        return figures.chosen(measured, case.words["contenders"], case.shows)

    def measure_restart(self, asked, case, more):
        self.ask_until_ready(asked, line(case, **more))
        self.zookeeper.restart()
        return figures.added([program.answer() for program in asked])

    def rounds_of(self, case, path):
        contestants = [name for name in case.contestants if self.can_run(name)]
        rounds = []
        for number in range(min(self.given.rounds, case.most_rounds)):
            taken = {}
            for name in contestants[:] if number % 2 == 0 else contestants[::-1]:
                try:
                    taken[name] = self.measure(name, case, path)
                except programs.Failed as failure:
                    say(f"failed: {failure}")
                    self.failed.append(f"{cases.CONTESTANTS[name].title}: {case.title}")
                    self.end(name)
                    contestants.remove(name)
            rounds.append({name: taken[name] for name in contestants if name in taken})
        return rounds


def line(case, **more):
    words = {**more, **case.words}
    return " ".join([case.workload, *(f"{word}={value}" for word, value in words.items())])
