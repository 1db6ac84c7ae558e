#!/bin/sh
# Builds concurrent_test, which lets many coroutines fight for one lock, and runs it against a private ZooKeeper
# server that lives as long as this script. Its arguments are passed on. Then it draws who waited, and who led, into an
# SVG file, and on a terminal as text. Or runs two shops (samples/shop), with customers, whose page shows the locks.
#
#   sh samples/demo.sh
#   sh samples/demo.sh --redis               # experiment_on_redis, against a private Redis server
#   sh samples/demo.sh --shop                # until Ctrl-C
#   PADDOCK_SERVERS=zk1:2181,zk2:2181,zk3:2181 sh samples/demo.sh     # your own servers
#
# PADDOCK_PROGRAMS names a folder that has the samples, so that nothing is built, PADDOCK_PICTURE the file for the
# picture; otherwise it stands beside the program.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/support/common.sh"
. "$root/tests/support/server.sh"
. "$root/tests/support/redis.sh"

sample=concurrent_test
private_packages=$server_packages
sample_packages=
redis=disabled
if [ "${1:-}" = --redis ]; then
  sample=experiment_on_redis
  private_packages=$redis_packages
  redis=enabled
  shift
elif [ "${1:-}" = --shop ]; then
  sample=shop/shop
  sample_packages=$shop_packages
  shift
fi
[ -z "${PADDOCK_SERVERS:-}" ] || private_packages=

# shellcheck disable=SC2086
need_packages $build_packages $sample_packages $private_packages || exit 1

trap 'end_child; stop_server; stop_redis' EXIT

programs=${PADDOCK_PROGRAMS:-}
if [ -z "$programs" ]; then
  # What the demo needs, and no more.
  build=$root/build-${sample##*/}
  configure "$build" -Dtests=disabled -Dredis=$redis -Ddefault_library=static -Ddebug=false -Doptimization=1
  run ninja -j"$(nproc)" -C "$build" "samples/$sample"
  programs=$build/samples
fi

if [ -z "${PADDOCK_SERVERS:-}" ]; then
  if [ "$sample" = experiment_on_redis ]; then
    start_redis
    PADDOCK_SERVERS=$redis_address
    set -- --new-servers "$@"
  else
    start_server
    PADDOCK_SERVERS=$server_address
  fi
fi
if [ "$sample" = shop/shop ]; then
  run python3 "$root/samples/shop/demo.py" "$programs/$sample" "$PADDOCK_SERVERS"
  exit
fi
chart=
[ ! -t 1 ] || chart=--chart
# shellcheck disable=SC2086
run python3 "$root/samples/demo_picture.py" $chart "${PADDOCK_PICTURE:-$programs/$sample.svg}" \
  "$programs/$sample" --servers "$PADDOCK_SERVERS" "$@"
