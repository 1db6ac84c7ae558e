#!/usr/bin/env python3
"""Usage: check_alone.py ROOT BUILD [all]

Compiles the sources of tests that the last commits have changed, or all, each alone, as a build folder with -Dunity=off
would, but without making code of it: no source may rest on what others include before it. (That build has compiled the
other sources so, anyway.)"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

COMMITS = 50  # all sources take a quarter of an hour of a processor

root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def changed():
    """Files that the last commits have changed; None if that is not known."""
    command = ["git", "-C", root, "diff", "--name-only", "--relative", f"HEAD~{COMMITS}", "--", "."]
    try:
        found = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return {(root / name).resolve() for name in found.stdout.splitlines()} if found.returncode == 0 else None


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
recent = None if "all" in sys.argv[3:] else changed()
if recent is not None:
    entries = [entry for entry in entries if (build / entry["file"]).resolve() in recent]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(compiles, entries))
for fine, said in results:
    if not fine:
        print(said)
print(f"{sum(fine for fine, _ in results)} of {len(results)} sources compile alone")
sys.exit(0 if all(fine for fine, _ in results) else 1)
