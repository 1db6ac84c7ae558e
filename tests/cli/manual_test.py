#!/usr/bin/env python3
"""The manual pages and the completions, which are made from what --help says.
   manual_test.py PADDOCK FOLDER"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PADDOCK, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*words, **how):
    return subprocess.run(words, check=True, capture_output=True, text=True, **how).stdout


def page(name):
    return re.sub(r".\x08", "", run("groff", "-man", "-Tutf8", "-P-c", "-rLL=200n", FOLDER / name)).replace("−", "-").replace("‐", "-")


def complete(*words):
    script = f'. "{FOLDER}/paddock.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _paddock; echo "${{COMPREPLY[*]}}"'
    return run("bash", "-c", script, "bash", *words).split()


# A shell in a terminal, which completes one line after the other. What it offers goes into a file.
ZSH_SETUP = """
PROMPT='ready>' # the terminal is zsh's now, and keeps nothing for itself
setopt no_auto_list no_beep
fpath=($1 $fpath)
autoload -Uz compinit
compinit -u -D
bindkey '^I' complete-word
bindkey '^U' kill-whole-line
compadd() {
  if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\\ * ]]; then
    local -a found
    builtin compadd -A found "$@"
    print -n -r -- $found '' >>offered
  fi
  builtin compadd "$@"
}
end_of_line() { print >>offered; comppostfuncs=(end_of_line) }
comppostfuncs=(end_of_line)
"""
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source ./setup $1"
zpty -r shell said '*ready>*'
shift
for line; do zpty -n -w shell $'\\C-u'$line$'\\t'; done
zpty -w shell $'\\C-u'exit
while zpty -r shell said; do :; done
"""


def test_zsh(folder):
    def options(command):
        return {one for one in complete("paddock", command, "--") if len(one) > 2}

    (folder / "setup").write_text(ZSH_SETUP)
    wanted = {
        "paddock ": set(commands),
        "paddock --": {"--help", "--version"},
        "paddock once --": options("once"),
        "paddock kick /p 7 --": options("kick"),
        "paddock lock /p --try --ti": {"--timeout"},
        "paddock lock --timeout=5s --label me /p --sh": {"--shared"},
        "paddock once /p --per ": {"hour", "day", "week"},
        "paddock once /p --per=d": {"day"},
        "paddock lock --auth-file setu": {"setup"},
        "paddock lock /p --try -- cat setu": {"setup"},
        "paddock elect /p -- zmodloa": {"zmodload"},
        "paddock lock /p /q ": set()}
    run("zsh", "-f", "-c", ZSH, "zsh", FOLDER.resolve(), *wanted, cwd=folder, stdin=subprocess.DEVNULL)
    offered = (folder / "offered").read_text().splitlines()
    for line, seen in zip(wanted, offered, strict=True):
        assert set(seen.split()) == wanted[line], (line, seen)


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
    with tempfile.TemporaryDirectory() as folder:
        test_zsh(pathlib.Path(folder))
