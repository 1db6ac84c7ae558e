#!/usr/bin/env python3
"""The manual pages and the completions, which are made from what --help says.
   manual_test.py PADDOCK FOLDER"""
import pathlib
import re
import shutil
import subprocess
import sys

PADDOCK, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*words, **how):
    return subprocess.run(words, check=True, capture_output=True, text=True, **how).stdout


def page(name):
    return re.sub(r".\x08", "", run("groff", "-man", "-Tutf8", "-P-c", "-rLL=200n", FOLDER / name)).replace("−", "-").replace("‐", "-")


def complete(*words):
    script = f'. "{FOLDER}/paddock.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _paddock; echo "${{COMPREPLY[*]}}"'
    return run("bash", "-c", script, "bash", *words).split()


pages = sorted(one.name for one in FOLDER.glob("paddock*.1"))
commands = re.findall(r"^  ([a-z]+)  ", run(PADDOCK, "--help").split("Subcommands:")[1].split("\n\n")[0], re.M)
assert len(commands) >= 3, commands
assert pages == sorted(["paddock.1"] + [f"paddock-{one}.1" for one in commands]), pages
for one in pages:
    said = subprocess.run(["groff", "-man", "-ww", "-z", FOLDER / one], check=True, capture_output=True, text=True)
    assert not said.stderr + said.stdout, said
for command in commands:
    text = page(f"paddock-{command}.1")
    options = set(re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", run(PADDOCK, command, "--help"), re.M))
    usage = run(PADDOCK, command, "--help").split("Usage: ")[1].split("\n")[0]
    assert usage.endswith(" -- COMMAND [ARGUMENT…]") == (command in ("lock", "once", "elect")), usage
    assert "--help" in options and "--servers" in options, options
    missing = [one for one in options if not re.search(re.escape(one) + r"\b", text)]
    assert not missing, (command, missing)
    assert set(complete("paddock", command, "--")) == options, (command, options)
    assert f"{command}" in page("paddock.1")
assert complete("paddock", "") == [*commands, "--help", "--version"], complete("paddock", "")
assert complete("paddock", "lock", "--ti") == ["--timeout"]
assert complete("paddock", "once", "/p", "--per", "d") == ["day"]
assert "true" in complete("paddock", "lock", "/p", "--", "tru")
if shutil.which("zsh"):
    run("zsh", "-n", FOLDER / "_paddock")
