#!/usr/bin/env python3
"""Usage: check_alone.py ROOT [all] COMPILER…

Compiles the sources that the last commits have changed, or all, each alone and with warnings as errors, as a build
folder with -Dunity=off would, but without making code of it: no source may rest on what others include before it."""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from join import INCLUDE

COMMITS = 30  # a source takes five seconds of a processor, and there are over 500

root = pathlib.Path(sys.argv[1]).resolve()
every = sys.argv[2] == "all"
compiler = sys.argv[3 if every else 2 :]


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


def compile_commands(build):
    options = ["-Dunity=off", "-Dwerror=true", "-Doptimization=0", "-Dtests=enabled", "-Ddebug=false"]
    environment = os.environ | {"CXX": shlex.join(compiler)}
    setup = subprocess.run(["meson", "setup", build, root, *options], env=environment, capture_output=True, text=True)
    if setup.returncode != 0:
        sys.exit(setup.stdout + setup.stderr)
    entries = json.loads((build / "compile_commands.json").read_text())
    # Without those that are made while building, and each of the others once.
    of_source = {(build / entry["file"]).resolve(): entry for entry in entries}
    found = {source: entry for source, entry in of_source.items() if source.exists() and build not in source.parents}
    return found or sys.exit("no source was found in compile_commands.json")


def names(source, headers):
    """Whether the source itself includes one of the headers."""
    found = INCLUDE.findall(source.read_text())
    return any(str(header).endswith("/" + name) for _, name in found for header in headers)


def main():
    with tempfile.TemporaryDirectory() as folder:
        commands = compile_commands(pathlib.Path(folder).resolve())
        recent = None if every else changed()
        if recent is not None:
            headers = [file for file in recent if file.suffix == ".hpp"]
            commands = {source: entry for source, entry in commands.items() if source in recent or names(source, headers)}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(compiles, commands.values()))
    for fine, said in results:
        if not fine:
            print(said)
    print(f"{sum(fine for fine, _ in results)} of {len(results)} sources compile alone")
    return 0 if all(fine for fine, _ in results) else 1


sys.exit(main())
