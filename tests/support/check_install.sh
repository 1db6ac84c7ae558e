#!/bin/sh
# Usage: check_install.sh BUILD_DIR COMPILER...
# Installs paddock into an empty folder, and compiles, links and runs a program outside the tree with
# nothing but what pkg-config says.
set -eu

build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

meson install -C "$build" --no-rebuild --quiet --destdir "$folder/root"
description=$(find "$folder/root" -name paddock.pc)
[ -n "$description" ] || { echo "paddock.pc was not installed"; exit 1; }
libraries=$(dirname "$(dirname "$description")")
prefix=$(sed -n 's/^prefix=//p' "$description")

export PKG_CONFIG_PATH="$libraries/pkgconfig"
flags=$(pkg-config --define-variable=prefix="$folder/root$prefix" --cflags --libs paddock)
cp "$here/installed_program.cpp" "$folder/program.cpp"
cd "$folder"
# The flags are words, not one word.
# shellcheck disable=SC2086
"$@" -std=c++20 program.cpp $flags -pthread -o program
LD_LIBRARY_PATH="$libraries" ./program
