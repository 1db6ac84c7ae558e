# What the scripts of tests/ and samples/ share; to be sourced, needs $root.
# shellcheck shell=sh

# A signal ends the script, so that its EXIT trap runs.
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# A package with a command behind the colon counts as installed if there is such a command.
build_packages="g++:g++ meson:meson ninja-build:ninja pkg-config:pkg-config python3:python3
  libboost1.81-dev libssl-dev libzookeeper-st-dev"
server_packages="default-jre-headless:java libzookeeper-java libservlet-api-java libslf4j-java"
# redis-tools has the server, too, and starts none.
redis_packages="redis-tools:redis-check-rdb"
shop_packages="libcli11-dev libsqlite3-dev libsqlitecpp-dev"
test_packages="$shop_packages doctest-dev libspdlog-dev patch:patch clang-format-14:clang-format-14 libzookeeper-mt2
  groff-base:groff openssl:openssl"
tidy_packages="clang-tidy-14:clang-tidy-14"
# Only builds without sanitizers check the installation.
install_packages="cmake:cmake debhelper:dh"
# The peers of tests/interop; only in builds without sanitizers.
interop_packages="default-jdk-headless:javac libcurator-recipes-java python3-kazoo python3-redis"
# For the page of the sample shop, 131 MB to download; only in builds without sanitizers.
browser_packages="chromium:chromium chromium-driver:chromedriver"

is_installed() { # package[:command]
  case $1 in
    *:*) command -v "${1#*:}" >/dev/null 2>&1 ;;
    # A later Boost will do as well; the build checks which one it is.
    libboost*) dpkg-query -W -f='${Status} ' 'libboost1.*-dev' 2>/dev/null | grep -q 'ok installed' ;;
    *) dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed' ;;
  esac
}

# Makes sure that the packages are there: installs them if that needs no password,
# else says how to do it and fails.
need_packages() {
  if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "This is no Debian; it needs what Debian calls: $*" >&2
    return 0
  fi
  missing=
  for package in "$@"; do
    is_installed "$package" || missing="$missing ${package%%:*}"
  done
  [ -n "$missing" ] || return 0
  # No installed package is removed for it.
  install="apt-get install -y --no-install-recommends --no-remove$missing"
  if [ "$(id -u)" -eq 0 ]; then
    sudo=
  elif sudo -n true 2>/dev/null; then
    sudo="sudo -n"
  else
    echo "Some packages are missing. Please run:" >&2
    echo "  sudo apt-get update && sudo $install" >&2
    return 1
  fi
  echo "Installing$missing, and what they need ..."
  said=$(mktemp)
  # shellcheck disable=SC2086
  if $sudo apt-get update >"$said" 2>&1 && $sudo env DEBIAN_FRONTEND=noninteractive $install >>"$said" 2>&1; then
    status=0
  else
    status=1
    cat "$said" >&2
  fi
  rm -f "$said"
  return "$status"
}

# What the parts of a script took: `took configuration` ends one, show_times prints them all. The time of the processors
# is that of the commands that have ended.
told_times=
part_begin=$(date +%s)
part_cpu=0
took() { # name
  now=$(date +%s)
  cpu=$(awk '{ printf "%d", ($16 + $17) / 100 }' "/proc/$$/stat")
  told_times="${told_times:+$told_times, }$1 $((now - part_begin)) s (processors: $((cpu - part_cpu)) s)"
  part_begin=$now
  part_cpu=$cpu
}

show_times() {
  [ -z "$told_times" ] || echo "took: $told_times"
}

# Runs a command so that a signal for this shell ends the command, and not only after it.
child=
run() {
  "$@" &
  child=$!
  status=0
  wait "$child" || status=$?
  child=
  return "$status"
}

end_child() {
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
    child=
  fi
}

# Sets up a build folder, unless it is there: then ninja sees by itself what has changed. A folder
# that this function made with other options is made again; any other folder is left alone.
configure() { # folder, options of meson setup…
  folder=$1
  shift
  # Meson gives a folder the defaults of its first configuration for ever.
  wanted="${CXX:-} ${CXXFLAGS:-} $* $(sed -n '/default_options/,/\])/p' "$root/meson.build")"
  if [ ! -d "$folder/meson-private" ]; then
    run meson setup "$folder" "$root" "$@" || return 1
  elif [ ! -f "$folder/build.ninja" ] || [ "$(cat "$folder/options" 2>/dev/null)" != "$wanted" ]; then
    # Another's options, or an interrupted configuration.
    run meson setup --wipe "$folder" "$root" "$@" || return 1
  else
    return 0
  fi
  echo "$wanted" >"$folder/options"
}
