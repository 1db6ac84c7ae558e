#!/usr/bin/env python3
"""Usage: check_exports.py LIBRARY HEADERS

Exported symbols are shared by the whole program: another copy of Boost.JSON in the program would be mixed
with ours. So only what the public headers mark may be seen, and what Asio shares between shared objects."""

import pathlib
import re
import subprocess
import sys

MARK = r'\[\[gnu::visibility\("default"\)\]\]'
PREFIX = re.compile(
    r"^(?:vtable|VTT|typeinfo(?: name)?|guard variable|(?:non-)?virtual thunk|TLS \w+ function) (?:for|to) "
)
TEMPLATE_RESULT = re.compile(r"^(?:auto|void|bool) ")


def marked(headers):
    names = set()
    for path in headers.rglob("*.hpp"):
        text = path.read_text()
        names |= set(re.findall(r"^(?:class|struct) " + MARK + r" (\w+);", text, re.M))
        names |= set(re.findall(r"^" + MARK + r"\s[^;({]*?(\w+)\(", text, re.M))
    return names


def exported(library):
    command = ["nm", "-D", "-C", "--defined-only", library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        kind, name = re.match(r"[0-9a-f]+ (\S) (.*)", line).groups()
        yield kind, TEMPLATE_RESULT.sub("", PREFIX.sub("", name))


def fault(name, public):
    if "boost::json" in name:
        return "belongs to Boost.JSON"
    if "::" not in name and "operator" not in name:
        return "belongs to a C library"
    if ours := re.match(r"paddock::(?:detail::|redis::|testing::)?(\w+)", name):
        return None if ours[1] in public else "is not marked in a public header"
    if re.search(r"paddock::(redis::)?(detail|native|rules)", name):
        return "is made of what is inside"
    return None


def main():
    library, headers = sys.argv[1], pathlib.Path(sys.argv[2])
    public = marked(headers)
    symbols = list(exported(library))
    problems = [f"{name}: {why}" for kind, name in symbols if (why := fault(name, public))]
    if not {"client", "guard", "paddock_category"} <= public:
        problems.append("the marks in the public headers were not found")
    for name in sorted(public):
        if not any(re.match(rf"paddock::(detail::|redis::|testing::)?{name}\b", symbol) for _, symbol in symbols):
            problems.append(f"{name} is marked in a public header, but not exported")
    if not any("boost::asio::detail::call_stack<" in name and kind in "uVWB" for kind, name in symbols):
        problems.append("Asio's call stack is not shared with the program")
    print("\n".join(problems) if problems else f"{len(symbols)} symbols, all of them public or Asio's")
    sys.exit(1 if problems else 0)


main()
