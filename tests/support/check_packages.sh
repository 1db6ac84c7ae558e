#!/bin/sh
# Usage: check_packages.sh SOURCE-ROOT
# need_packages on other kinds of machines: bare, and with or without the right to install.
# The commands that it calls are stand-ins, which record their arguments.
set -eu
root=$1
folder=$(mktemp -d)
. "$root/tests/support/common.sh"
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$1, but: $(cat "$folder/said" "$folder/calls")" >&2
  exit 1
}

stand_in() { # command, script
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}

new_machine() { # user id, status of sudo
  rm -rf "$folder/bin"
  mkdir "$folder/bin"
  : >"$folder/calls"
  for command in cat env grep mktemp rm true; do ln -s "$(command -v "/bin/$command")" "$folder/bin"; done
  stand_in id "echo $1"
  # shellcheck disable=SC2016
  stand_in sudo '[ "$*" = "-n true" ] || echo "sudo $1" >>"'"$folder/calls"'"
    [ '"$2"' = 0 ] || exit '"$2"'
    shift
    exec "$@"'
  # shellcheck disable=SC2016
  stand_in apt-get 'echo "apt-get $* ($DEBIAN_FRONTEND)" >>"'"$folder/calls"'"'
  stand_in dpkg-query 'case $* in
      *-dev) echo "'"${installed:-}"'" ;;
      *) exit 1 ;;
    esac'
}

ask() { # packages…
  (
    # No other command exists.
    PATH=$folder/bin
    unset DEBIAN_FRONTEND
    need_packages "$@"
  ) >"$folder/said" 2>&1
}

called() { # lines
  [ "$(cat "$folder/calls")" = "$1" ] || fail "expected: $1"
}

wanted='g++:g++ default-jre-headless:java libzookeeper-java'
update='apt-get update ()'
install='apt-get install -y --no-install-recommends --no-remove g++ default-jre-headless libzookeeper-java'

# shellcheck disable=SC2086 # the words of $wanted are several packages, everywhere below
{
  new_machine 0 1
  ask $wanted || fail "root installs"
  called "$update
$install (noninteractive)"

  new_machine 1000 0
  ask $wanted || fail "with sudo the packages are installed"
  called "sudo -n
$update
sudo -n
$install (noninteractive)"

  new_machine 1000 1
  ! ask $wanted || fail "without the right to install it fails"
  called ''
  grep -qxF "  sudo apt-get update && sudo $install" "$folder/said" || fail "without the right to install it prints the command"

  new_machine 0 1
  stand_in g++ ''
  stand_in java ''
  ask $wanted || fail "a package whose command exists is not installed"
  called "$update
apt-get install -y --no-install-recommends --no-remove libzookeeper-java (noninteractive)"

  # Debian's output for packages that are not installed, and of one that is.
  installed='deinstall ok config-files unknown ok not-installed install ok installed '
  new_machine 0 1
  ask libboost1.81-dev || fail "a later Boost will do"
  called ''

  installed='deinstall ok config-files unknown ok not-installed '
  new_machine 0 1
  ask libboost1.81-dev || fail "a Boost that was removed is installed"
  called "$update
apt-get install -y --no-install-recommends --no-remove libboost1.81-dev (noninteractive)"

  new_machine 0 1
  ask $wanted
  [ "$(wc -l <"$folder/said")" = 1 ] || fail "one line says what happens"

  new_machine 0 1
  stand_in apt-get 'echo no such mirror; exit 100'
  ! ask $wanted || fail "a failed installation fails"
  grep -q 'no such mirror' "$folder/said" || fail "what apt-get said of it is shown"

  new_machine 0 1
  rm "$folder/bin/dpkg-query"
  ask $wanted || fail "elsewhere it goes on"
  called ''
  grep -q 'no Debian.*libzookeeper-java' "$folder/said" || fail "elsewhere it says what it needs"
}
