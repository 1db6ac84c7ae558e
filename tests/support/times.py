#!/usr/bin/env python3
"""Usage: times.py BUILD

Shows what took longest in the last build and in the last run of the tests of a build folder."""

import json
import pathlib
import sys

MOST = 12

build = pathlib.Path(sys.argv[1])


def show(what, rows):
    rows = sorted(rows, reverse=True)
    print(f"{what}: {len(rows)}, together {sum(seconds for seconds, _ in rows):.0f} s; the longest:")
    for seconds, name in rows[:MOST]:
        print(f"  {seconds:6.1f} s  {name}")


log = build / ".ninja_log"
if log.exists():
    # The last line of an output is that of the build that made it last.
    steps = {}
    for line in log.read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        steps[output] = (int(end) - int(begin)) / 1000
    show("build steps", [(seconds, output) for output, seconds in steps.items()])
log = build / "meson-logs/testlog.json"
if log.exists():
    tests = [json.loads(line) for line in log.read_text(errors="replace").splitlines()]
    show("tests", [(test["duration"], test["name"].removeprefix("paddock:")) for test in tests])
