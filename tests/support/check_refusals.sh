#!/bin/sh
# Usage: check_refusals.sh SOURCE_DIR C_COMPILER...
# Configures paddock where the wrong ZooKeeper C client is found first: it must be refused, with the name of
# the package to install.
set -eu

source=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

refused() { # expected words, C code of the library
  rm -rf "$folder/build" "$folder/lib"
  mkdir "$folder/lib"
  printf '%s\n' "$2" | compile -shared -fPIC -x c - -o "$folder/lib/libzookeeper_st.so"
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
