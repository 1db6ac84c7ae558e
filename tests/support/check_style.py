#!/usr/bin/env python3
"""Checks what the compiler does not: who may include whom, how long files are, how they look."""

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

# The rooms of lib/, and which other rooms each of them must not know (DESIGN: arrows point down).
FORBIDDEN = {
    "support": {"native", "rules", "session", "line", "locks"},
    "native": {"rules", "session", "line", "locks"},
    "rules": {"native", "session", "line", "locks"},
    "session": {"line", "locks"},
    "line": {"locks"},
    "locks": set(),
}
PUBLIC = ("boost/asio", "boost/system", "paddock/")

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


def check_rooms():
    for path in sources("lib"):
        parts = path.relative_to(ROOT).parts
        room = parts[1] if len(parts) > 2 else None
        for number, name in includes(path):
            other = name.split("/")[0] if "/" in name else None
            if other in FORBIDDEN.get(room, set()):
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
        return "no clang-format: the format was not checked"
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    if "version 14." not in version:
        return "the format was not checked: that takes clang-format 14"
    files = list(sources("include", "lib", "samples", "tests", kinds={".hpp", ".cpp"}))
    command = [tool, "--dry-run", "--Werror", "--style=file", *files]
    result = subprocess.run(command, capture_output=True, text=True)
    first = {}
    for line in result.stderr.splitlines():
        if found := re.match(r"(.+?):(\d+):\d+: error:", line):
            first.setdefault(found.group(1), int(found.group(2)))
    for path, line in first.items():
        report(pathlib.Path(path), line, "clang-format would change this and maybe more")
    return None


check_zookeeper_header()
check_rooms()
check_public_headers()
check_text()
check_lists()
check_names()
if note := check_format():
    print(note)
print("\n".join(problems) if problems else "nothing to complain about")
sys.exit(1 if problems else 0)
