#!/usr/bin/env python3
"""Usage: check_cpp20.py INCLUDE COMPILER...

Without C++20, or without coroutines, the first thing that a compiler says about a header is that paddock needs it."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys


def first_error(compiler, options, include, header):
    limit = "-ferror-limit=1" if "clang" in compiler[-1] else "-fmax-errors=1"
    command = [*compiler, *options, limit, "-E", "-o", os.devnull, f"-I{include}", "-x", "c++", "-"]
    text = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True).stderr
    found = re.search(r"error: (.*)", text)
    return found[1] if found else "there is no error"


def main():
    include, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.hpp"))
    cases = [(header, ["-std=c++17"], "paddock needs C++20: ") for header in headers]
    if "clang" not in compiler[-1]:
        cases.append(("paddock/paddock.hpp", ["-std=c++20", "-fno-coroutines"], "paddock needs C++20 coroutines"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda case: first_error(compiler, case[1], include, case[0]), cases))
    problems = [
        f"{header} with {' '.join(options)}: {text}"
        for (header, options, wanted), text in zip(cases, said)
        if wanted not in text
    ]
    print("\n".join(problems) if problems else f"{len(headers)} headers say that they need C++20")
    sys.exit(1 if problems or not headers else 0)


main()
