# What the tests of the suite install begin with; to be sourced with their arguments, SOURCE_DIR BUILD_DIR COMPILER...
# Sets $root, $build and $compiler, and $folder, which is deleted at the end; has a server, and installs paddock into
# empty folders.
# shellcheck shell=sh

root=$1
build=$2
shift 2
compiler=$* # may be several words
folder=$(mktemp -d)
. "$root/tests/support/common.sh"
. "$root/tests/support/server.sh"
trap 'stop_server; rm -rf "$folder"' EXIT

compile() {
  # shellcheck disable=SC2086
  $compiler "$@"
}

# The names by which the loader knows a library, and those that a program or library needs.
soname() { # file
  readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p'
}

needed() { # file
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'
}

# Sets libraries, version and flags for the installation below a folder, and checks only that it exists.
use_installed() { # folder
  description=$(find "$1" -name paddock.pc)
  [ -n "$description" ] || { echo "paddock.pc was not installed"; return 1; }
  libraries=$(dirname "$(dirname "$description")")
  prefix=${libraries%/lib*}
  prefix=${prefix#"$1"}
  version=$(sed -n 's/^Version: //p' "$description")
  # It was installed for another place: the file finds its own.
  flags=$(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --cflags --libs paddock)
}

use_shared() {
  [ -d "$folder/shared-root" ] ||
    meson install -C "$build" --no-rebuild --quiet --destdir "$folder/shared-root"
  use_installed "$folder/shared-root"
}

# As -Ddefault_library=static installs it. The archive is not compiled once more: it is made of the same object
# files as the one that tests of the inside link.
use_static() {
  [ -d "$folder/static-root" ] || {
    meson setup "$folder/static-build" "$root" -Ddefault_library=static -Dtests=disabled -Dsamples=disabled \
      -Dtools=disabled \
      >"$folder/log" 2>&1 || { cat "$folder/log"; return 1; }
    mkdir -p "$folder/static-build/lib"
    # It is a thin one, with the names of the files in it.
    # shellcheck disable=SC2046
    (cd "$build" && ar crs "$folder/static-build/lib/libpaddock.a" $(ar t lib/libpaddock-inside.a))
    meson install -C "$folder/static-build" --no-rebuild --quiet --destdir "$folder/static-root"
  }
  use_installed "$folder/static-root"
}

# The program of installed_program.cpp, as an object file.
compile_program() {
  # The flags are words, not one word; of the libraries none is used here.
  # shellcheck disable=SC2086
  compile -std=c++20 -fPIE -c "$root/tests/support/installed_program.cpp" $flags -o "$folder/program.o" 2>&1
}

# Makes $folder/compiler, for builds of paddock that are about everything but compiling: it copies the object files of
# the library and the command, which the tested build has already, and else it is the compiler.
make_compiler() {
  # The archive is a thin one, with the names of the files in it.
  objects=$(cd "$build" && ar t lib/libpaddock-inside.a | sed -n 's,/[^/]*$,,; 1p')
  cat >"$folder/compiler" <<EOF
#!/bin/sh
before=
for word; do
  case \$before\$word in
    -o*lib/libpaddock-json.a.p/*.o) exec cp "$build/lib/libpaddock-json.a.p/\${word##*/}" "\$word" ;;
    -osamples/cli/*.p/*.o) exec cp "$build/\$word" "\$word" ;;
    -o*lib/libpaddock.*.p/*.o) exec cp "$build/$objects/\${word##*/}" "\$word" ;;
  esac
  before=\$word
done
exec $compiler "\$@"
EOF
  chmod +x "$folder/compiler"
}
