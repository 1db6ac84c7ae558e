#!/usr/bin/env python3
"""Checks the layering of includes, the length of files and their format."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
CODE = {".hpp", ".cpp", ".in"}
TEXT = CODE | {".py", ".sh", ".build"}
LONGEST = 400
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')

# The rooms of lib/, and the rooms below each of them, which are all that its files may include.
BELOW = {
    "support": set(),
    "rules": {"support"},
    "native": {"support"},
    "client": {"rules", "support"},
    "session": {"client", "rules", "native", "support"},
    "queue": {"session", "client", "rules", "native", "support"},
}
BELOW["locks/call"] = {"queue"} | BELOW["queue"]
BELOW["locks/fair"] = {"locks/call"} | BELOW["locks/call"]
BELOW["locks/sticky"] = {"locks/fair"} | BELOW["locks/fair"]
BELOW["locks/mutex"] = {"locks/sticky"} | BELOW["locks/sticky"]
BELOW["locks/recursive"] = BELOW["locks/mutex"]
BELOW["locks/family"] = {"locks/mutex"} | BELOW["locks/mutex"]
BELOW["locks/semaphore"] = BELOW["locks/mutex"]
BELOW["locks/simple"] = BELOW["locks/fair"]
BELOW["locks/several"] = {"locks/mutex", "locks/semaphore"} | BELOW["locks/mutex"]
BELOW["redis/rules"] = BELOW["rules"] | {"rules"}
BELOW["redis/connection"] = BELOW["redis/rules"] | {"redis/rules"}
BELOW["systems"] = {"support"}
BELOW["redis/locks"] = {"client", "redis/connection"} | BELOW["redis/connection"]
PUBLIC = ("boost/asio", "boost/system", "boost/version.hpp", "paddock/")

problems = []


def report(path, line, text):
    problems.append(f"{path.relative_to(ROOT)}:{line}: {text}")


def sources(*folders, kinds=CODE):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            hidden = any(part.startswith((".", "build")) for part in path.relative_to(ROOT).parts)
            if path.suffix in kinds and path.is_file() and not hidden:
                yield path


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found.group(1)


def check_zookeeper_header():
    for path in sources("include", "lib", "samples", "tests"):
        inside = path.relative_to(ROOT).as_posix().startswith(("lib/native/", "tests/bench/"))
        for number, name in includes(path):
            if name.startswith("zookeeper") and not inside:
                report(path, number, f"only lib/native may include <{name}>")


def room_of(path):
    """The room that a file of lib/ is in: its folder."""
    return path.rpartition("/")[0]


def check_rooms():
    for path in sources("lib"):
        room = room_of(path.relative_to(ROOT / "lib").as_posix())
        if room not in BELOW:
            report(path, 1, "no room of lib/: name it in check_style.py")
            continue
        for number, name in includes(path):
            other = room_of(name)
            if other in BELOW and other != room and other not in BELOW[room]:
                report(path, number, f"lib/{room} must not know lib/{other}")
            if room == "rules" and name.startswith("boost/asio"):
                report(path, number, "lib/rules is free of Asio")


def check_public_headers():
    for path in sources("include"):
        for number, name in includes(path):
            if "/" in name and not name.startswith(PUBLIC):
                report(path, number, f"a public header must not include <{name}>")
            elif name.endswith(".h"):
                report(path, number, f"a public header must not include <{name}>")


def check_text():
    for path in sources("include", "lib", "samples", "tests", ".ci", kinds=TEXT):
        lines = path.read_text().splitlines()
        if len(lines) > LONGEST:
            report(path, len(lines), f"longer than {LONGEST} lines")
        for number, line in enumerate(lines, 1):
            if re.search(r"\b(TO" + r"DO|FIX" + r"ME)\b", line):
                report(path, number, "unfinished business belongs into an issue")


def check_lists():
    listed = (ROOT / "tests/headers/meson.build").read_text()
    for path in sources("include"):
        name = path.relative_to(ROOT / "include/paddock").as_posix()
        if f"'{name}'" not in listed:
            report(path, 1, "not listed in tests/headers/meson.build")
    for folder in ("unit", "integration"):
        listed = (ROOT / f"tests/{folder}/meson.build").read_text()
        for path in sorted((ROOT / f"tests/{folder}").glob("*_test.cpp")):
            if f"'{path.name.removesuffix('_test.cpp')}'" not in listed:
                report(path, 1, f"not listed in tests/{folder}/meson.build")


def check_names():
    # Both folders are included as "support/…".
    inside = {path.name for path in sources("lib/support", kinds={".hpp"})}
    for path in sources("tests/support", kinds={".hpp"}):
        if path.name in inside:
            report(path, 1, "lib/support has a header of this name as well")


def check_format():
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if tool is None:
        problems.append("the format was not checked: install clang-format-14")
        return
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    if "version 14." not in version:
        problems.append(f"the format was not checked: install clang-format-14, {tool} is another version")
        return
    files = list(sources("include", "lib", "samples", "tests", kinds={".hpp", ".cpp"}))
    command = [tool, "--dry-run", "--Werror", "--style=file", *files]
    result = subprocess.run(command, capture_output=True, text=True)
    first = {}
    for line in result.stderr.splitlines():
        if found := re.match(r"(.+?):(\d+):\d+: error:", line):
            first.setdefault(found.group(1), int(found.group(2)))
    for path, line in first.items():
        report(pathlib.Path(path), line, "clang-format would change this and maybe more")


check_zookeeper_header()
check_rooms()
check_public_headers()
check_text()
check_lists()
check_names()
check_format()
print("\n".join(problems) if problems else "nothing to complain about")
sys.exit(1 if problems else 0)
