#!/bin/sh
# Usage: check_consumers.sh SOURCE_DIR BUILD_DIR COMPILER...
# Projects outside the tree that use paddock as a CMake package, and as a Meson subproject, each with the shared and
# with the static library: their programs run against a real server.
set -eu
. "$1/tests/support/installed.sh"

project=$folder/project

fail() {
  echo "$1" >&2
  cat "$folder/log" >&2
  exit 1
}

locks() { # folder of the program, kind
  said=$("$1/program" "$server_address" 2>&1) || fail "$1/program ends with $?: $said"
  [ "$said" = "locked 1" ] || fail "$1/program says: $said"
  linked=static
  needed "$1/program" | grep -q '^libpaddock' && linked=shared
  [ "$linked" = "$2" ] || fail "$1/program is linked with the $linked library"
}

configure_cmake() { # build folder, installation, definitions…
  into=$1
  from=$2
  shift 2
  CXX=$folder/compiler cmake -G Ninja -S "$project" -B "$into" -DCMAKE_PREFIX_PATH="$from" "$@" >"$folder/log" 2>&1
}

# The versions that a project may ask for: its own interface's, up to this one.
# $version, major.minor.patch, is that of the installation.
check_cmake() { # kind, prefix below the root of the installation
  installation=$folder/$1-root$2
  patch=${version##*.}
  minor=${version#*.}
  minor=${minor%.*}
  major=${version%%.*}
  accepted="${version%.*};$version;0.0.1...$((major + 1))"
  refused="$((major + 1));$major.$((minor + 1));$major.$minor.$((patch + 1));0.0.1...<$version"
  [ "$major" -gt 0 ] || refused="$refused;0.$((minor - 1))"
  configure_cmake "$folder/cmake-$1" "$installation" -DREFUSED="$refused" -DACCEPTED="$accepted" ||
    fail "CMake does not find the $1 library"
  cmake --build "$folder/cmake-$1" >"$folder/log" 2>&1 || fail "the CMake project with the $1 library was not built"
  locks "$folder/cmake-$1" "$1"
}

# A library of another Boost is refused before anything is compiled.
check_cmake_boost() { # prefix below the root of the installation
  cp -r "$folder/shared-root" "$folder/other-root"
  find "$folder/other-root" -name paddockConfig.cmake -exec sed -i 's/(Boost [0-9.]* /(Boost 1.99.0 /' {} +
  if configure_cmake "$folder/cmake-other" "$folder/other-root$1" -DACCEPTED="$version"; then
    fail "CMake takes a library of another Boost"
  fi
  grep -qF 1.99.0 "$folder/log" || fail "CMake does not say that Boost is the reason"
}

check_subproject() { # kind
  CXX=$folder/compiler meson setup "$folder/meson-$1" "$project" -Ddefault_library="$1" \
    --force-fallback-for=paddock >"$folder/log" 2>&1 || fail "Meson does not find the $1 subproject"
  ninja -C "$folder/meson-$1" >"$folder/log" 2>&1 || fail "the Meson project with the $1 library was not built"
  locks "$folder/meson-$1" "$1"
}

mkdir -p "$project/subprojects"
cp "$root/tests/support/consumer/CMakeLists.txt" "$root/tests/support/consumer/meson.build" "$project"
cp "$root/tests/support/installed_program.cpp" "$project/program.cpp"
ln -s "$root" "$project/subprojects/paddock"

make_compiler
start_server
use_shared
check_cmake shared "$prefix"
check_cmake_boost "$prefix"
use_static
check_cmake static "$prefix"
check_subproject shared
check_subproject static
