# A private ZooKeeper server for shell scripts; to be sourced, needs $root. The server listens on the
# loopback interface only, keeps its data in a temporary folder, and dies with the shell.
# shellcheck shell=sh

server_pid=
server_folder=
server_java_options=
server_jars=/usr/share/java
server_class_path=${PADDOCK_ZOOKEEPER_CLASSPATH:-$server_jars/zookeeper.jar:$server_jars/slf4j-simple.jar}

launch_server() { # port
  cat >"$server_folder/zoo.cfg" <<EOF
dataDir=$server_folder/data
clientPort=$1
clientPortAddress=127.0.0.1
admin.enableServer=false
tickTime=500
minSessionTimeout=1000
maxSessionTimeout=60000
maxClientCnxns=0
4lw.commands.whitelist=*
EOF
  # If the shell is killed, its traps do not run: then the kernel ends the server.
  with=
  if setpriv --help 2>/dev/null | grep -q pdeathsig; then with="setpriv --pdeathsig KILL"; fi
  # shellcheck disable=SC2086
  $with java $server_java_options -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData \
    -Djava.awt.headless=true -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -Dzookeeper.extendedTypesEnabled=true -cp "$server_class_path" \
    org.apache.zookeeper.server.ZooKeeperServerMain "$server_folder/zoo.cfg" \
    >"$server_folder/log" 2>&1 &
  server_pid=$!
}

# Sets server_address; fails with the end of the server's log if it does not start.
start_server() {
  server_folder=$(mktemp -d)
  for attempt in 1 2 3 4 5; do
    port=$(python3 "$root/tests/support/server_probe.py" port)
    launch_server "$port"
    if python3 "$root/tests/support/server_probe.py" wait "$port" "$server_folder" "$server_pid"; then
      server_address=127.0.0.1:$port
      return 0
    fi
    # Another process may have taken the port in between.
    grep -q BindException "$server_folder/log" || break
    wait "$server_pid" 2>/dev/null || true
  done
  echo "The ZooKeeper server did not start (attempt $attempt). Its log ends with:" >&2
  tail -n 20 "$server_folder/log" >&2
  return 1
}

stop_server() {
  if [ -n "$server_pid" ]; then
    kill "$server_pid" 2>/dev/null || true
    wait "$server_pid" 2>/dev/null || true
    server_pid=
  fi
  if [ -n "$server_folder" ]; then
    rm -rf "$server_folder"
    server_folder=
  fi
}
