"""The contestants' programs, which run as long as they are measured."""
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 120  # seconds
JARS = "/usr/share/java"
CURATOR = os.environ.get("PADDOCK_CURATOR_CLASSPATH",
                         f"{JARS}/curator-recipes.jar:{JARS}/slf4j-simple.jar")
MODULES = {"kazoo_lock.py": "kazoo", "redis_py_lock.py": "redis"}


class Failed(Exception):
    pass


def python_with(module):
    """Debian's modules belong to the system's Python, which need not be the first one of the path."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


def command_of(program, built):
    """How a program is started; nothing if it is not there."""
    if program in MODULES:
        python = python_with(MODULES[program])
        return [python, HERE.parent / "contestants" / program] if python else None
    file = built / program
    if not file.exists():
        return None
    if program.endswith(".jar"):
        if shutil.which("java") is None:
            return None
        return ["java", "-Xmx1g", "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "-cp", f"{file}:{CURATOR}", "CuratorContestant"]
    return [file]


class Program:
    def __init__(self, command, addresses, more=()):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*map(str, command), ",".join(addresses), *map(str, more)], bufsize=0,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)

    def ask(self, line):
        try:
            self.process.stdin.write(f"{line}\n".encode())
        except BrokenPipeError:
            raise self.failure("has ended") from None

    def has_answered(self, seconds):
        """Whether it does within so many seconds."""
        return bool(select.select([self.process.stdout], [], [], seconds)[0])

    def answer(self):
        if not self.has_answered(PATIENCE):
            raise self.failure(f"says nothing for {PATIENCE} s")
        line = self.process.stdout.readline()
        if not line:
            raise self.failure("has ended")
        return json.loads(line)

    def failure(self, what):
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace")[-2000:]
        return Failed(f"{self.process.args} {what}: {said}")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()
