#!/usr/bin/env python3
"""Checks that includes follow the picture of the rooms in lib/README.md, the length of files and their format."""

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

HOUSE = ROOT / "lib/README.md"
ARROWS = re.compile(r"^ *(\S+) --> (\S+(?: & \S+)*)$")
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


def drawn_arrows():
    """The picture of the rooms: the line of each arrow, which is a pair of rooms."""
    arrows = {}
    inside = False
    for number, line in enumerate(HOUSE.read_text().splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```mermaid"
        elif inside and (found := ARROWS.match(line)):
            for below in found.group(2).split(" & "):
                if arrows.setdefault((found.group(1), below), number) != number:
                    report(HOUSE, number, f"the arrow from {found.group(1)} to {below} is drawn twice")
        elif inside and not line.startswith("flowchart "):
            report(HOUSE, number, "not an arrow: a room --> another & another")
    return arrows


def reached(room, arrows):
    """The rooms to which arrows lead from here, one after the other: its files may include theirs."""
    found, new = set(), {room}
    while new:
        new = {below for above, below in arrows if above in new} - found
        found |= new
    return found


def check_rooms():
    arrows = drawn_arrows()
    rooms = {room for arrow in arrows for room in arrow}
    below = {room: reached(room, arrows) for room in rooms}
    used = set()
    for path in sources("lib"):
        room = room_of(path.relative_to(ROOT / "lib").as_posix())
        if room not in rooms:
            report(path, 1, "no room of lib/: draw it in lib/README.md")
            continue
        for number, name in includes(path):
            other = room_of(name)
            used.add((room, other))
            if other in rooms and other != room and other not in below[room]:
                report(path, number, f"in lib/README.md no arrows lead from {room} to {other}")
            if room.endswith("rules") and name.startswith("boost/asio"):
                report(path, number, f"lib/{room} is free of Asio")
    for (room, other), line in arrows.items():
        if room in below[other]:
            report(HOUSE, line, f"the arrow from {room} to {other} is part of a circle")
        elif (room, other) not in used:
            report(HOUSE, line, f"the arrow from {room} to {other}: no file includes another that way")
        elif other in reached(room, arrows.keys() - {(room, other)}):
            report(HOUSE, line, f"the arrow from {room} to {other} is needless: others lead there")


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
    for folder in ("unit", "integration", "interop"):
        meson = (ROOT / f"tests/{folder}/meson.build").read_text()
        arrays = re.findall(rf"^ *(?:{folder}|redis)_tests \+?= \[(.*?)\]", meson, re.M | re.S)
        listed = set(re.findall(r"'(.*?)'", "".join(arrays)))
        for path in sorted((ROOT / f"tests/{folder}").glob("*_test.cpp")):
            alone = f"'{path.name}'" in meson  # a program of its own
            if path.name.removesuffix("_test.cpp") not in listed and not alone:
                report(path, 1, f"not listed in tests/{folder}/meson.build")
    for folder in ("chaos", "sim", "sim/redis"):
        meson = (ROOT / "tests" / folder / "meson.build")
        text = (meson if meson.exists() else ROOT / "tests/sim/meson.build").read_text()
        for path in sorted((ROOT / "tests" / folder).glob("*_test.cpp")):
            if path.name not in text:
                report(path, 1, "not listed in a meson.build")


def check_cases():
    """A test is the cases of a source file: those of a header would belong to none."""
    for path in sources("tests", kinds={".hpp"}):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r"\s*(TEST|CO_TEST|TEST_CASE)\w*\(\"", line):
                report(path, number, "a test case in a header is never run")


def check_plants():
    """Each patch fits its source, and each of its bugs is chosen by a test."""
    tool = shutil.which("patch")
    if tool is None:
        problems.append("the planted bugs were not checked: install patch")
        return
    for folder in ("unit", "sim"):
        meson = (ROOT / f"tests/{folder}/meson.build").read_text()
        for path in sorted((ROOT / f"tests/{folder}/plants").glob("*.patch")):
            source = re.search(r"^--- a/(.*)$", path.read_text(), re.M)[1]
            tried = [tool, "--quiet", "--fuzz=0", "--dry-run", "-o", "/dev/null", ROOT / source, path]
            if subprocess.run(tried, capture_output=True).returncode != 0:
                report(path, 1, f"does not fit {source} any more")
            for bug in sorted(set(re.findall(r'planted\("(\w+)"\)', path.read_text()))):
                if f"'{bug}'" not in meson:
                    report(path, 1, f"no test has the bug {bug}")


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
check_cases()
check_plants()
check_names()
check_format()
print("\n".join(problems) if problems else "nothing to complain about")
sys.exit(1 if problems else 0)
