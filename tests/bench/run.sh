#!/bin/sh
# Measures paddock side by side with what people use today, and with bare requests, which no library
# could beat: on the same private servers, in the same run, one after the other in turns; so the ratios
# mean something even where the times do not. One table, and build-bench/tests/bench/report: report.json,
# and SVG plots if gnuplot-nox is installed. A contestant whose package is missing is left out.
#   sh tests/bench/run.sh [--quick] [--redis|--zookeeper|--tls] [--ensemble] [--disk] [--network 1ms]
#                         [--rounds N] [--case NAME]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/support/common.sh"

# shellcheck disable=SC2086
need_packages $build_packages $server_packages redis-tools:redis-cli openssl || exit 1
trap end_child EXIT

export PYTHONDONTWRITEBYTECODE=1
configure "$root/build-bench" -Dbuildtype=release -Dbench=true -Dsamples=disabled >&2
run ninja -C "$root/build-bench" contestants >&2
run python3 "$root/tests/bench/runner/run.py" --built "$root/build-bench/tests/bench" "$@"
