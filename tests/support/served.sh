#!/bin/sh
# A private server that stops, and starts again with its data at the same port, as the lines of stdin say. It answers
# each line, the first time unasked, with a line: address and process id. It ends with its stdin. (Redis keeps no data.)
#   served.sh SOURCE-ROOT zookeeper [SETTING=VALUE] | redis [OPTIONS]
set -eu
root=$1
. "$root/tests/support/common.sh"
. "$root/tests/support/server.sh"
. "$root/tests/support/redis.sh"
trap 'stop_server; stop_redis' EXIT

tell() {
  if [ "$kind" = zookeeper ]; then
    echo "$server_address $server_pid"
  else
    echo "$redis_address $redis_pid"
  fi
}

kind=$2
server_settings=${3:-}
redis_options=${3:-}
case $kind in
  zookeeper) start_server ;;
  redis) start_redis ;;
esac
tell
while read -r what; do
  case $kind-$what in
    zookeeper-stop)
      kill "$server_pid"
      wait "$server_pid" || true
      ;;
    zookeeper-start)
      launch_server "$port"
      server_answers "$port"
      ;;
    redis-stop)
      kill "$redis_pid"
      wait "$redis_pid" || true
      ;;
    redis-start)
      launch_redis "$port"
      redis_answers "$port"
      ;;
  esac
  tell
done
