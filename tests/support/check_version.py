#!/usr/bin/env python3
"""Usage: check_version.py SOURCE_DIR

meson.build says which version this is; version.hpp says the same. Once it is released, so do the first section of
the changelog and the README; before that they may still name the last release."""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
problems = []


def number(version):
    return tuple(int(part) for part in version.split("."))


def found(file, pattern):
    parts = re.findall(pattern, (ROOT / file).read_text(), re.M)
    if not parts:
        sys.exit(f"{file} names no version")
    return parts


def check_header(version):
    header = "include/paddock/version.hpp"
    parts = found(header, r"^#define PADDOCK_VERSION_(MAJOR|MINOR|PATCH) (\d+)$")
    expected = list(zip(("MAJOR", "MINOR", "PATCH"), version.split(".")))
    if parts != expected:
        problems.append(f"{header} says {parts}, meson.build says {version}")
    if max(number(version)[1:]) > 99:
        problems.append(f"{version} has no room in PADDOCK_VERSION")


def check_changelog(version):
    """Returns the versions that the README may name."""
    first, *rest = found("CHANGELOG.md", r"^## \[(.*?)\]")
    if first != "Unreleased":
        if first != version:
            problems.append(f"CHANGELOG.md begins with {first}, meson.build says {version}")
        return {version}
    if rest and number(rest[0]) >= number(version):
        problems.append(f"{rest[0]} is released, and meson.build still says {version}")
    return {version, *rest[:1]}


def check_readme(allowed):
    named = found("README.md", r"^## Version\n\n(\d+\.\d+\.\d+)\b")[0]
    if named not in allowed:
        problems.append(f"README.md says {named}, expected one of {sorted(allowed)}")


def main():
    version = found("meson.build", r"^  version: '(\d+\.\d+\.\d+)',$")[0]
    check_header(version)
    check_readme(check_changelog(version))
    print("\n".join(problems) if problems else f"all of them say {version}")
    sys.exit(1 if problems else 0)


main()
