#!/bin/sh
# Usage: check_debian.sh SOURCE_DIR BUILD_DIR COMPILER...
# Makes the Debian packages, unpacks them into an empty folder, and compiles and runs a program with what is there.
set -eu
. "$1/tests/support/installed.sh"

fail() {
  echo "$1" >&2
  exit 1
}

make_packages() {
  # Not checked is what the packages say that building them needs: instead of Debian's, any meson and Boost will do.
  CXX=$folder/compiler DEB_BUILD_OPTIONS='noopt noautodbgsym terse' \
    sh "$root/lib/debian/make.sh" "$folder/packages" -d >"$folder/log" 2>&1 || {
    cat "$folder/log"
    fail "the packages were not made"
  }
  if grep -E '^(dpkg|dh)[a-z_-]*: warning' "$folder/log"; then fail "the packages were made with warnings"; fi
  find "$folder/packages" -name 'paddock_*.dsc' | grep -q . || fail "the source package was not made"
}

unpack() { # pattern of the name; sets package
  package=$(find "$folder/packages" -name "$1_*.deb")
  [ -f "$package" ] || fail "not one package $1, but: $package"
  dpkg-deb -x "$package" "$folder/debian-root"
}

depends() { # pattern of a dependency of $package
  dpkg-deb -f "$package" Depends | tr ',' '\n' | grep -qE "^ *$1( |\$)"
}

# The package is named for the soname, and needs what the library needs.
check_runtime() {
  name=$(dpkg-deb -f "$package" Package)
  installed=$(echo "$folder"/debian-root/usr/lib/*/libpaddock.so.*.*.*)
  [ "$(soname "$installed")" = "libpaddock.so.${name#libpaddock}" ] || fail "$name has $(soname "$installed")"
  dpkg-deb -I "$package" shlibs | grep -q "^libpaddock ${name#libpaddock} $name " || fail "$name: wrong shlibs"
  for every in libc6 'libstdc\+\+6'; do
    depends "$every" || fail "$name does not need $every, but $(dpkg-deb -f "$package" Depends)"
  done
  # The C client is inside.
  if depends 'lib(zookeeper|boost).*' || needed "$installed" | grep -q zookeeper; then
    fail "$name needs $(dpkg-deb -f "$package" Depends)"
  fi
  dpkg-deb -f "$package" Static-Built-Using | grep -q '^zookeeper (= [0-9]' || fail "$name does not name the C client"
}

check_development() {
  depends "$name \(= $(dpkg-deb -f "$package" Version)\)" || fail "libpaddock-dev takes another $name"
  depends 'libboost.*-dev' || fail "libpaddock-dev needs no Boost"
  find "$folder/debian-root" -name paddockConfig.cmake | grep -q . || fail "libpaddock-dev has nothing for CMake"
}

check_tools() {
  for file in bin/paddock libexec/paddock/paddock-with-tls share/man/man1/paddock-lock.1.gz share/bash-completion/completions/paddock.bash; do
    [ -f "$folder/debian-root/usr/$file" ] || fail "paddock-tools has no $file"
  done
  if depends 'lib(zookeeper|paddock).*'; then fail "paddock-tools needs $(dpkg-deb -f "$package" Depends)"; fi
  said=$("$folder/debian-root/usr/bin/paddock" --version)
  [ "$said" = "paddock $(dpkg-deb -f "$package" Version | cut -d- -f1)" ] || fail "the command says: $said"
}

make_compiler
make_packages
unpack 'libpaddock[0-9]*'
check_runtime
unpack libpaddock-dev
check_development
unpack paddock-tools
check_tools

use_installed "$folder/debian-root"
compile_program
# The flags are words.
# shellcheck disable=SC2086
compile "$folder/program.o" $flags -o "$folder/program"
needed "$folder/program" | grep -qxF "libpaddock.so.${name#libpaddock}" || fail "the program needs no libpaddock.so"
start_server
said=$(LD_LIBRARY_PATH=$libraries "$folder/program" "$server_address")
[ "$said" = "locked 1" ] || fail "the program says: $said"
