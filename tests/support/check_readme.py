"""Checks the Markdown files: code is what the samples have, links resolve, and the tests that tables name exist.

- The first page stays short. It and the guide have code from the samples, and the guide lists all its sections.
- A block of C++ has a comment before it: <!-- cut from FILE, REGION -->; the region is what stands between //[REGION
  and //] in the file. With --write, the blocks are mended.
- The last column of a table is "shown by": names of tests, `folder/name` below tests/, or `name` beside the file.
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"(<!-- cut from (\S+), (\S+) -->\n```cpp\n)(.*?)(```)", re.DOTALL)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SHOWN = re.compile(r"^\|.*\| shown by \|\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)

FIRST_PAGE = "README.md"
MOST_WORDS = 1100  # as `wc -w` counts
GUIDE = "include/paddock/README.md"

ROOT = pathlib.Path(sys.argv[1]).resolve()
problems = []


def documents():
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        if parts[0] == ".github" or not any(part.startswith((".", "build")) for part in parts):
            yield path


def region(file, name):
    text = (ROOT / file).read_text()
    found = re.search(r"^//\[" + re.escape(name) + r"\n(.*?)^//\]", text, re.DOTALL | re.MULTILINE)
    if not found:
        sys.exit(f"{file} has no region {name}")
    return found.group(1)


def check_code(path, text, write):
    blocks = len(BLOCK.findall(text))
    if text.count("```cpp") != blocks:
        problems.append(f"{path.relative_to(ROOT)}: a block of C++ is not cut from a sample")
    mended = BLOCK.sub(lambda m: m[1] + region(m[2], m[3]) + m[5], text)
    if mended != text and write:
        path.write_text(mended)
    elif mended != text:
        problems.append(f"{path.relative_to(ROOT)}: drifted from the samples")
    return blocks


def anchors(path, level="#+"):
    """What GitHub makes of the headings."""
    headings = re.findall(rf"^{level} (.*)$", FENCED.sub("", path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(path, text):
    for link in LINK.findall(FENCED.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        to = path.parent / file if file else path
        if not to.exists() or (anchor and anchor not in anchors(to)):
            problems.append(f"{path.relative_to(ROOT)}: the link {link} leads nowhere")


def check_tests(path, text):
    """Returns how many were named."""
    named = 0
    for table in SHOWN.findall(text):
        for row in table.splitlines():
            for name in re.findall(r"`([^`]+)`", row.rstrip(" |").rsplit("|", 1)[1]):
                folder = ROOT / "tests" if "/" in name else path.parent
                if not (folder / name).is_file() and not (folder / f"{name}_test.cpp").is_file():
                    problems.append(f"{path.relative_to(ROOT)}: there is no test {name}")
                named += 1
    return named


def check_length(text):
    words = len(text.split())
    if words > MOST_WORDS:
        problems.append(f"{FIRST_PAGE}: {words} words, {MOST_WORDS} at most; more belongs into {GUIDE}")


def check_contents(path, text):
    """The guide begins with links to its sections."""
    listed = LINK.findall(text.partition("\n## ")[0])
    for anchor in sorted(anchors(path, "##")):
        if f"#{anchor}" not in listed:
            problems.append(f"{GUIDE}: its contents lack #{anchor}")


def main():
    blocks = {}
    for path in documents():
        text = path.read_text()
        page = path.relative_to(ROOT).as_posix()
        blocks[page] = check_code(path, text, "--write" in sys.argv)
        check_links(path, text)
        named = check_tests(path, text)
        if "shown by" in text and named == 0:
            problems.append(f"{page}: its table of tests was not found")
        if page == FIRST_PAGE:
            check_length(text)
        if page == GUIDE:
            check_contents(path, text)
    for page in (FIRST_PAGE, GUIDE):
        if not blocks.get(page):
            problems.append(f"{page}: no block of code was found")
    print("\n".join(problems) if problems else "nothing to complain about")
    sys.exit(1 if problems else 0)


main()
