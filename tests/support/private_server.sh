# The common part of server.sh and redis.sh: starts a private server on a free port of the loopback
# interface; to be sourced, needs $root.
# shellcheck shell=sh

# If the shell is killed, its traps do not run: then the kernel ends its servers.
dies_with_shell=
if setpriv --help 2>/dev/null | grep -q pdeathsig; then dies_with_shell="setpriv --pdeathsig KILL"; fi

# Calls `launch PORT`, which starts the server in the background, and `answers PORT`, which waits for it.
# Sets port; fails with the end of the server's log if it does not start.
start_on_free_port() { # name, launch, answers, log
  for attempt in 1 2 3 4 5; do
    port=$(python3 "$root/tests/support/server_probe.py" port)
    "$2" "$port"
    if "$3" "$port"; then return 0; fi
    # Another process may have taken the port in between.
    grep -qE 'BindException|Address already in use' "$4" || break
  done
  echo "The $1 server did not start (attempt $attempt). Its log ends with:" >&2
  tail -n 20 "$4" >&2
  return 1
}

end_private_server() { # pid, folder; empty: there is none
  if [ -n "$1" ]; then
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
  fi
  [ -z "$2" ] || rm -rf "$2"
}
