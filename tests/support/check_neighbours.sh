#!/bin/sh
# Usage: check_neighbours.sh SOURCE_DIR BUILD_DIR COMPILER...
# Programs that have libzookeeper_mt as well, whose functions have the names of those that paddock calls. The
# shared library has its own C client, which no other library can replace; elsewhere paddock works, or refuses to
# with the reason.
set -eu
. "$1/tests/support/installed.sh"

threaded=-l:libzookeeper_mt.so.2

fail() {
  echo "$1 says: $said" >&2
  exit 1
}

run_program() { # name, environment
  status=0
  said=$(env LD_LIBRARY_PATH="$libraries" ${2:+"$2"} timeout 60 "$folder/$1" "$server_address" 2>&1) || status=$?
}

locks() { # name, environment
  run_program "$@"
  [ "$status $said" = "0 locked 1" ] || fail "$1 ($status)"
}

locks_beside_neighbour() { # name
  run_program "$1"
  [ "$status $said" = "0 the neighbour has created a node: 0
locked 1" ] || fail "$1 ($status)"
}

refuses() { # name, environment
  run_program "$@"
  [ "$status" = 6 ] || fail "$1 ($status)"
  case $said in
    *libzookeeper_st*libzookeeper_mt.so.2*) ;;
    *) fail "$1" ;;
  esac
}

# $flags are words, not one word, everywhere below.
# shellcheck disable=SC2086
link() { # name, arguments
  name=$1
  shift
  compile -Wl,--no-as-needed "$folder/program.o" "$@" -o "$folder/$name"
}

preload=LD_PRELOAD=$(compile -print-file-name=libzookeeper_mt.so.2)

start_server
use_shared
shared_name=$(soname "$libraries/libpaddock.so")
compile_program
compile -x c -c "$root/tests/support/neighbour.c" -o "$folder/neighbour.o"

# shellcheck disable=SC2086
{
  link shared $flags
  link shared_before "$folder/neighbour.o" $flags $threaded
  link shared_after "$folder/neighbour.o" $threaded $flags
  locks shared
  locks shared "$preload"
  locks_beside_neighbour shared_before
  locks_beside_neighbour shared_after

  use_static
  link static $flags
  link static_before $flags $threaded
  link static_after $threaded $flags
  locks static
  refuses static "$preload"
  locks static_before
  refuses static_after

  # A shared library without a C client of its own, as it is made where there is only a shared one.
  mkdir "$folder/bare"
  bare=$folder/bare/$shared_name
  compile -shared -Wl,-soname,"$shared_name" -Wl,--whole-archive "$libraries/libpaddock.a" \
    -Wl,--no-whole-archive -lzookeeper_st -lssl -lcrypto -o "$bare"
  libraries=$folder/bare
  locks shared
  refuses shared "$preload"
  link bare_before "$bare" $threaded
  refuses bare_before
}
