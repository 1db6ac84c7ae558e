#!/bin/sh
# A private ZooKeeper server that stops, and starts again with its data at the same port, as the lines of stdin say.
# It answers each line, the first time unasked, with a line: the address. It ends with its stdin.
#   servers.sh SOURCE-ROOT
set -eu
root=$1
. "$root/tests/support/common.sh"
. "$root/tests/support/server.sh"
trap stop_server EXIT

start_server
echo "$server_address"
while read -r what; do
  case $what in
    stop)
      kill "$server_pid"
      wait "$server_pid" || true
      ;;
    start)
      launch_server "$port"
      server_answers "$port"
      ;;
  esac
  echo "$server_address"
done
