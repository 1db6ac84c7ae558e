#!/bin/sh
# Measures paddock side by side with the C client's own multi-threaded library, used synchronously: the
# same server, the same run, one after the other in turns; so the ratios mean something even where the
# times do not. A bare loop around the single-threaded library is the floor below both. Needs
# libzookeeper-mt2 (the runtime package, which does not conflict with -st-dev).
#   sh tests/bench/run.sh [rounds]
set -eu
rounds=${1:-15}
case $rounds in
  '' | *[!0-9]* | 0*) echo "rounds: a number from 1 on is wanted, not '$rounds'" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/support/common.sh"
. "$root/tests/support/server.sh"

# shellcheck disable=SC2086
need_packages $build_packages $server_packages $test_packages libzookeeper-mt2 || exit 1
trap 'end_child; stop_server' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

configure "$root/build-bench" -Dbuildtype=release -Dbench=true -Dtests=enabled
run meson configure "$root/build-bench" -Dbuildtype=release -Dbench=true -Dtests=enabled
run ninja -C "$root/build-bench" tests/bench/bench_paddock tests/bench/bench_c_client tests/bench/bench_bare
compare() { # what
  start_server
  run python3 "$root/tests/bench/compare.py" "$root/build-bench/tests/bench" "$server_address" "${1}" "$rounds"
  stop_server
}
# A write waits for the disk, which takes the same time from both: so once with it, and once without.
compare disk
server_java_options=-Dzookeeper.forceSync=no
compare everything
