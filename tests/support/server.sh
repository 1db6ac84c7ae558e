# A private ZooKeeper server for shell scripts; to be sourced, needs $root. The server listens on the
# loopback interface only, keeps its data in a temporary folder, and dies with the shell.
# shellcheck shell=sh
. "$root/tests/support/private_server.sh"

server_pid=
server_folder=
server_java_options=
server_settings= # lines of its configuration, which replace those below
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
$server_settings
EOF
  # shellcheck disable=SC2086
  $dies_with_shell java $server_java_options -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData \
    -Djava.awt.headless=true -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -Dzookeeper.extendedTypesEnabled=true -cp "$server_class_path" \
    org.apache.zookeeper.server.ZooKeeperServerMain "$server_folder/zoo.cfg" \
    >"$server_folder/log" 2>&1 &
  server_pid=$!
}

# Another server could have the port: the own one names its folder.
server_answers() { # port
  python3 "$root/tests/support/server_probe.py" wait "$1" "$server_pid" conf "dataDir=$server_folder/"
}

# Sets server_address; fails with the end of the server's log if it does not start.
start_server() {
  server_folder=$(mktemp -d)
  start_on_free_port ZooKeeper launch_server server_answers "$server_folder/log" || return 1
  server_address=127.0.0.1:$port
}

stop_server() {
  end_private_server "$server_pid" "$server_folder"
  server_pid=
  server_folder=
}
