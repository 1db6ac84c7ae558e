#!/bin/sh
# Usage: check_refusals.sh SOURCE_DIR C_COMPILER...
# Configures paddock where the wrong ZooKeeper C client is found first: it must be refused, with the name of
# the package to install. So must a check of the style that does not see how the code is formatted.
set -eu

source=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

refused() { # expected words, C code of the library
  rm -rf "$folder/build" "$folder/lib"
  mkdir "$folder/lib"
  printf '%s\n' "$2" | compile -fPIC -c -x c - -o "$folder/lib/fake.o"
  compile -shared "$folder/lib/fake.o" -o "$folder/lib/libzookeeper_st.so"
  ar crs "$folder/lib/libzookeeper_st.a" "$folder/lib/fake.o"
  if LIBRARY_PATH=$folder/lib meson setup "$folder/build" "$source" -Dtests=disabled >"$folder/log" 2>&1; then
    echo "not refused: $1"
    exit 1
  fi
  grep -q "ERROR.*$1.*install libzookeeper-st-dev" "$folder/log" || { cat "$folder/log"; exit 1; }
}

compiler=$*
# The compiler's name may be several words.
# shellcheck disable=SC2086
compile() { $compiler "$@"; }

refused 'has no zookeeper_interest' 'int nothing_of_use;'
refused 'zookeeper_mt' 'int zookeeper_interest(void) { return 0; } int zoo_create(void) { return 0; }'

without_tools='import os, runpy, sys
os.environ["PATH"] = ""
runpy.run_path(sys.argv.pop(1), run_name="__main__")'
if python3 -c "$without_tools" "$source/tests/support/check_style.py" "$source" >"$folder/log"; then
  echo "the style is fine without clang-format"
  exit 1
fi
grep -q 'format was not checked: install clang-format-14' "$folder/log" || { cat "$folder/log"; exit 1; }
