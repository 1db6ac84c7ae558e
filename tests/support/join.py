#!/usr/bin/env python3
"""Usage: join.py OUTPUT… -- SOURCE…

Spreads the sources of test cases over the outputs, which are compiled in their place: Asio's headers are read, and its
templates instantiated, once for all that an output has. Each source has a namespace of its own, so the same name may
occur in several; what they include stands before, outside of it."""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
REACHES_ON = re.compile(r"^\s*#\s*(define|undef|pragma)\b", re.M)


def included(source):
    text = source.read_text()
    if found := REACHES_ON.search(COMMENT.sub("", text)):
        sys.exit(f"{source}: #{found[1]} would reach the sources that are joined with it; put it into a header")
    for kind, name in INCLUDE.findall(text):
        beside = source.parent / name
        if kind == "<":
            yield f"<{name}>"
        else:
            yield f'"{beside if beside.exists() else name}"'


def joined(sources):
    headers = dict.fromkeys(name for source in sources for name in included(source))
    return "".join(
        [f"#include {name}\n" for name in headers]
        + [f'\nnamespace {source.stem} {{\n#include "{source}"\n}}\n' for source in sources]
    )


def main():
    end = sys.argv.index("--")
    outputs = [pathlib.Path(name) for name in sys.argv[1:end]]
    sources = [pathlib.Path(name).resolve() for name in sys.argv[end + 1 :]]
    for number, output in enumerate(outputs):
        text = joined(sources[number * len(sources) // len(outputs) : (number + 1) * len(sources) // len(outputs)])
        # Otherwise a changed source would make all of them anew.
        if not output.exists() or output.read_text() != text:
            output.write_text(text)


if __name__ == "__main__":
    main()
