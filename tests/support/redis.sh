# A private Redis server for shell scripts; to be sourced, needs $root. The server listens on the
# loopback interface only, keeps its data in a temporary folder, and dies with the shell.
# shellcheck shell=sh
. "$root/tests/support/private_server.sh"

redis_pid=
redis_folder=
redis_options=

launch_redis() { # port
  # shellcheck disable=SC2086
  $dies_with_shell "$redis_folder/redis-server" --bind 127.0.0.1 --port "$1" --save '' \
    --dir "$redis_folder" $redis_options >"$redis_folder/log" 2>&1 &
  redis_pid=$!
}

# Another server could have the port: the own one names its program.
redis_answers() { # port
  python3 "$root/tests/support/server_probe.py" wait "$1" "$redis_pid" "INFO server
QUIT
" "executable:$redis_folder/"
}

# Sets redis_address; fails with the end of the server's log if it does not start.
start_redis() {
  redis_folder=$(mktemp -d)
  # Debian's redis-tools has the server under the name of another tool.
  ln -s "$(command -v redis-check-rdb)" "$redis_folder/redis-server"
  start_on_free_port Redis launch_redis redis_answers "$redis_folder/log" || return 1
  redis_address=127.0.0.1:$port
}

stop_redis() {
  end_private_server "$redis_pid" "$redis_folder"
  redis_pid=
  redis_folder=
}
