#!/usr/bin/env python3
"""Usage: check_alone.py BUILD

Compiles every source of the tests alone, as a build folder with -Dunity=off would, but without making code of it: no
source may rest on what others include before it. (That build has compiled the other sources so, anyway.)"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

build = pathlib.Path(sys.argv[1])


def compiles(entry):
    words = iter(shlex.split(entry["command"]))
    command = []
    for word in words:
        if word in ("-o", "-MQ", "-MF"):
            next(words)  # what the compiler would write
        elif word not in ("-c", "-MD"):
            command.append(word)
    run = subprocess.run([*command, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True)
    return run.returncode == 0, run.stderr


entries = [
    entry
    for entry in json.loads((build / "compile_commands.json").read_text())
    if entry["file"].endswith("_test.cpp")
]
if not entries:
    sys.exit("no test was found in compile_commands.json")
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(compiles, entries))
for fine, said in results:
    if not fine:
        print(said)
print(f"{sum(fine for fine, _ in results)} of {len(results)} sources compile alone")
sys.exit(0 if all(fine for fine, _ in results) else 1)
