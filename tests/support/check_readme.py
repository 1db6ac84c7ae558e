"""Compares the code in the READMEs with the samples that it was cut from; with --write, mends it.

A block is marked by a comment before it: <!-- cut from FILE, REGION -->; the region is what stands
between //[REGION and //] in the file.
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"(<!-- cut from (\S+), (\S+) -->\n```cpp\n)(.*?)(```)", re.DOTALL)


def region(root, file, name):
    text = (root / file).read_text()
    found = re.search(r"^//\[" + re.escape(name) + r"\n(.*?)^//\]", text, re.DOTALL | re.MULTILINE)
    if not found:
        sys.exit(f"{file} has no region {name}")
    return found.group(1)


def main():
    root = pathlib.Path(sys.argv[1])
    write = "--write" in sys.argv
    blocks = 0
    drifted = []
    for readme in (root / "README.md", root / "lib" / "README.md"):
        text = readme.read_text()
        fences = text.count("```cpp")
        marked = len(BLOCK.findall(text))
        if fences != marked:
            sys.exit(f"{readme.name}: {fences - marked} blocks of C++ are not cut from a sample")
        blocks += marked
        mended = BLOCK.sub(lambda m: m[1] + region(root, m[2], m[3]) + m[5], text)
        if mended != text:
            drifted.append(str(readme.relative_to(root)))
            if write:
                readme.write_text(mended)
    if blocks == 0:
        sys.exit("no block of code was found")
    if drifted and not write:
        sys.exit("drifted from the samples: " + ", ".join(drifted))


main()
