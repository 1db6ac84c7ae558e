#!/bin/sh
# Builds the samples and runs concurrent_test, which lets many coroutines fight for one lock, against
# a private ZooKeeper server that lives as long as this script. Its arguments are passed on.
#
#   sh samples/demo.sh
#   PADDOCK_SERVERS=zk1:2181,zk2:2181,zk3:2181 sh samples/demo.sh     # your own ensemble
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/support/common.sh"
. "$root/tests/support/server.sh"

# shellcheck disable=SC2086
if [ -n "${PADDOCK_SERVERS:-}" ]; then
  need_packages $build_packages || exit 1
else
  need_packages $build_packages $server_packages || exit 1
fi

trap 'end_child; stop_server' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

configure "$root/build"
run meson compile -C "$root/build" concurrent_test

if [ -z "${PADDOCK_SERVERS:-}" ]; then
  start_server
  PADDOCK_SERVERS=$server_address
fi
run "$root/build/samples/concurrent_test" --servers "$PADDOCK_SERVERS" "$@"
