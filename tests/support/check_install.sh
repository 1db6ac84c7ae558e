#!/bin/sh
# Usage: check_install.sh SOURCE_DIR BUILD_DIR COMPILER...
# Installs paddock into an empty folder, as a shared and as a static library, and compiles, links and runs
# programs outside the tree with the flags of pkg-config only, against a real server. The documents are installed, too.
set -eu
. "$1/tests/support/installed.sh"

fail() {
  echo "$1; paddock.pc says $version" >&2
  exit 1
}

# $flags are words, not one word, everywhere below.
# shellcheck disable=SC2086
check_program() { # kind
  # It has Boost.JSON itself.
  compile "$folder/program.o" "$build"/tests/support/libtest_support_apart.a.p/json.cpp.o $flags -o "$folder/$1-program"
  compile -std=c++20 -shared -fPIC "$root/tests/support/installed_plugin.cpp" $flags -o "$folder/$1-plugin.so"
  said=$(LD_LIBRARY_PATH=$libraries "$folder/$1-program" "$server_address" "$folder/$1-plugin.so")
  [ "$said" = "locked 1" ] || { echo "the $1 program says: $said"; exit 1; }
}

# The version is the same everywhere; version.hpp says why the soname has a part of it only.
check_version() {
  interface=${version%%.*}
  [ "$interface" != 0 ] || interface=${version%.*}
  [ "$(soname "$libraries/libpaddock.so")" = "libpaddock.so.$interface" ] || fail "the soname is another one"
  file=$(readlink -f "$libraries/libpaddock.so.$interface")
  [ "${file##*/}" = "libpaddock.so.$version" ] || fail "the soname leads to $file"
  needed "$folder/shared-program" | grep -qxF "libpaddock.so.$interface" || fail "the program needs another library"
  said=$(LD_LIBRARY_PATH=$libraries "$folder/shared-program" --version)
  [ "$said" = "$version" ] || fail "the library says it is $said"
}

# Headers of another Boost, as far as paddock can tell: the program must not link, and the linker names the reason.
# shellcheck disable=SC2086
check_other_boost() { # kind
  compile -std=c++20 -I"$folder/other-boost" -c "$folder/tiny.cpp" $flags -o "$folder/tiny.o"
  for more in '' -Wl,--gc-sections; do
    if compile "$folder/tiny.o" $flags $more -o "$folder/tiny" 2>"$folder/log"; then
      echo "a program of another Boost links with the $1 library"
      exit 1
    fi
    grep -q 'undefined reference.*libpaddock_must_be_built_with_boost<999900>' "$folder/log" || {
      cat "$folder/log"
      exit 1
    }
  done
}

# The page beside the headers is no header.
check_documents() {
  for document in README.md guide.md CHANGELOG.md; do
    find "$folder/shared-root" -path "*/share/doc/paddock/$document" -size +0 | grep -q . ||
      fail "$document was not installed"
  done
  if find "$folder/shared-root" -path '*/include/*' -type f ! -name '*.hpp' | grep .; then
    fail "these are no headers"
  fi
}

mkdir -p "$folder/other-boost/boost"
cat >"$folder/other-boost/boost/version.hpp" <<EOF
#include_next <boost/version.hpp>
#undef BOOST_VERSION
#define BOOST_VERSION 999900
EOF
# A file that includes only error.hpp is refused as well: it may be linked with files of the right Boost.
cat >"$folder/tiny.cpp" <<EOF
#include <paddock/error.hpp>
int main() { return paddock::error_code(paddock::errc::closed).value() == 0; }
EOF

start_server
use_shared
check_documents
python3 "$root/tests/support/check_exports.py" "$libraries/libpaddock.so" "$root/include"
compile_program
check_program shared
check_version
check_other_boost shared
use_static
check_program static
check_other_boost static
