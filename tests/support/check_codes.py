#!/usr/bin/env python3
"""Usage: check_codes.py ROOT COMPILER...

Every error code of the installed C client has a name in zk_errc. (The compiler sees that each name has a text.)"""

import pathlib
import re
import subprocess
import sys

HEADER = "zookeeper/zookeeper.h"


def numbers_in(enumerators):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", enumerators, flags=re.S)
    return {int(number): name for name, number in re.findall(r"(\w+)\s*=\s*(-?\d+)", text)}


def body_of(enum, text):
    found = re.search(enum + r"[^{;]*\{(.*?)\};", text, re.S)
    return found[1] if found else ""


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    command = [*compiler, "-E", "-P", "-x", "c++", "-"]
    header = subprocess.run(command, input=f"#include <{HEADER}>\n", check=True, capture_output=True, text=True).stdout
    theirs = numbers_in(body_of("enum ZOO_ERRORS", header))
    ours = numbers_in(body_of("enum class zk_errc", (root / "include/paddock/error.hpp").read_text()))
    problems = [f"{name} ({number}) has no name in zk_errc" for number, name in theirs.items() if number and number not in ours]
    if not {-4, -101, -112} <= set(theirs):
        problems.append(f"the codes in <{HEADER}> were not found")
    print("\n".join(problems) if problems else f"all {len(theirs)} codes of <{HEADER}> have names")
    sys.exit(1 if problems else 0)


main()
