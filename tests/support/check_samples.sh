#!/bin/sh
# Runs every sample against a private server, and checks its output.
#   check_samples.sh SOURCE-ROOT FOLDER-OF-THE-PROGRAMS RIVAL WHETHER-ZOOKEEPER-OVER-TLS
set -eu
root=$1
programs=$2
rival=$3
over_tls=$4
. "$root/tests/support/common.sh"
. "$root/tests/support/server.sh"
folder=$(mktemp -d) # for what samples leave behind
rival_pid=
end_rival() {
  [ -z "$rival_pid" ] || kill "$rival_pid"
  rival_pid=
}
trap 'end_rival; stop_server; rm -rf "$folder"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

expect() { # pattern, how often, what the sample said
  found=$(printf '%s\n' "$3" | grep -cE "$1" || true)
  [ "$found" -eq "$2" ] || fail "expected $2 lines like '$1', found $found in: $3"
}

# Returns after so many tenths of a second, too: what is checked next tells what is missing.
await_line() { # pattern, file, tenths of a second
  tries=0
  until grep -q "$1" "$2" || [ "$tries" -eq "$3" ]; do
    tries=$((tries + 1))
    sleep 0.1
  done
}

for sample in "$root"/samples/*.cpp; do
  most=89
  case $sample in */20_many_ensembles.cpp) most=120 ;; esac # it has a protocol of its own
  [ "$(wc -l <"$sample")" -le "$most" ] || fail "$sample has more than $most lines"
done

start_server

said=$("$programs/hello_lock" "$server_address")
expect '^holding /locks/printer/_c_.*-lock-[0-9]{10}$' 1 "$said"

# Without a server it reports the trouble, and goes on trying.
"$programs/hello_lock" 127.0.0.1:1 >"$folder/lonely" 2>&1 &
lonely=$!
await_line '; still trying ' "$folder/lonely" 100
kill "$lonely" || fail "without a server it ends: $(cat "$folder/lonely")"
wait "$lonely" || true
expect '^paddock: no server of 127.0.0.1:1 answers: check the server list and ' 1 "$(cat "$folder/lonely")"
expect '^paddock: 127.0.0.1:1 refuses connections: ' 1 "$(cat "$folder/lonely")"
rm "$folder/lonely"

check_experiment() { # what demo.sh said
  expect '^ *[0-9]+\.[0-9] ms  node [0-9]+ +leads, token [0-9a-f]{32}$' 15 "$1"
  expect '^ *[0-9]+\.[0-9] ms  node [0-9]+ +unlocks$' 15 "$1"
  expect '^15 nodes led; .*min [0-9.]+ ms, max [0-9.]+ ms, avg [0-9.]+ ms$' 1 "$1"
  # A node leads only after the one before it has unlocked, and with a greater token.
  printf '%s\n' "$1" | awk '
    / leads, / { if (leading) { print "two leaders: " $0; exit 1 }
                 if ("" $NF <= token) { print "the token did not grow: " $0; exit 1 }
                 leading = 1; token = "" $NF }
    / unlocks$/ { leading = 0 }' || fail "$1"
  # Only a terminal gets the chart.
  [ "$(printf '%s\n' "$1" | tail -n 1)" = "who waited and who led: $PADDOCK_PICTURE" ] || fail "no picture: $1"
  expect '█' 0 "$1"
  printf '%s\n' "$1" >"$folder/said"
  check_picture 15 cat "$folder/said"
  cmp "$PADDOCK_PICTURE" "$folder/again.svg" || fail "$1"
  rm "$PADDOCK_PICTURE" "$folder/again.svg" "$folder/said"
}

check_picture() { # nodes, a program that says what they do
  nodes=$1
  shift
  chart=$(COLUMNS=60 PYTHONIOENCODING=utf-8 python3 "$root/samples/demo_picture.py" --chart "$folder/again.svg" "$@")
  printf '%s\n' "$chart" | python3 -X utf8 "$root/tests/support/check_picture.py" "$folder/again.svg" "$nodes" 60 ||
    fail "$chart"
}

export PADDOCK_PICTURE="$folder/demo.svg"
said=$(PADDOCK_SERVERS= PADDOCK_PROGRAMS=$programs sh "$root/samples/demo.sh" --nodes 15)
check_experiment "$said"
expect '^ *[0-9]+\.[0-9] ms  node [0-9]+ +waits for node [0-9]+$' 14 "$said"

# Without the feature `redis` it is not built.
if [ -x "$programs/experiment_on_redis" ]; then
  said=$(PADDOCK_SERVERS= PADDOCK_PROGRAMS=$programs sh "$root/samples/demo.sh" --redis --nodes 15)
  check_experiment "$said"
  expect '^ *[0-9]+\.[0-9] ms  node [0-9]+ +asks$' 15 "$said"
fi

# Many nodes, and the last one leads first.
check_picture 150 awk 'BEGIN {
  for (i = 1; i <= 150; ++i) printf "%7.1f ms  node %-3d asks\n", i / 10, i
  for (i = 150; i > 0; --i) printf "%7.1f ms  node %-3d leads, token\n%7.1f ms  node %-3d unlocks\n",
                                   100 * (151 - i), i, 100 * (151 - i) + 50, i }'
rm "$folder/again.svg"

said=$("$programs/timeout_and_cancellation" "$server_address")
expect 'it is taken|still taken after 50 ms|closing time came first|and now it is ours' 4 "$said"

# A rival behind it in the queue is granted the lock when it unlocks, and keeps it.
mkfifo "$folder/rival"
"$rival" "$server_address" /locks/report >"$folder/rival" &
rival_pid=$!
exec 3<"$folder/rival"
read -r _ <&3 # it holds the lock
said=$("$programs/timeout_and_cancellation" "$server_address") || fail "beside a rival: $said"
expect 'it is taken|still taken after 50 ms|closing time came first|not our turn within a second' 4 "$said"
end_rival
exec 3<&-
rm "$folder/rival"

said=$("$programs/readers_and_writers" "$server_address")
expect '^reader [12] sees 100$|^reader 3 sees 110$' 3 "$said"
expect '^the writer (makes it|still sees) 110$' 2 "$said"

said=$("$programs/election" "$server_address")
expect '^(alice|bob|carol) (leads, with token [0-9a-f]{32}|resigns)$' 6 "$said"
expect '^  the follower sees that there is no leader$' 1 "$said"

said=$("$programs/a_place_in_the_queue" "$server_address")
expect '^ahead of us: 1$|label nightly build$|^the holder gets the request, and releases the lock$|^ahead of us now: 0$|^our turn$' 5 "$said"

said=$("$programs/recursive_mutex" "$server_address")
expect '^owner [0-9]+ books (a withdrawal|a deposit|interest)$' 5 "$said"
# No booking of another owner comes between those of one transfer.
printf '%s\n' "$said" | awk '
  / a withdrawal$/ { if (inside) exit 1; inside = $2 }
  inside && $2 != inside { exit 1 }
  / a deposit$/ { inside = 0 }' || fail "$said"

said=$("$programs/lock_all" "$server_address")
expect '^moved [0-9]+, token [0-9a-f]{32}$' 4 "$said"
expect '^balances 150 60 90$|^one of them is taken, so none is held$|^an audit under 3 locks$' 3 "$said"

said=$("$programs/so_many_at_a_time" "$server_address")
expect '^takes [123], in use [123]$' 4 "$said"
expect '^there is no room$|^2 of 5 permits are taken$' 2 "$said"

said=$("$programs/simple_mutex" "$server_address")
expect '^(left|middle|right) migrates, token [0-9a-f]{32}$' 3 "$said"
printf '%s\n' "$said" | awk '
  / migrates, / { if (inside) exit 1; inside = 1 }
  / is done$/ { inside = 0 }' || fail "$said"

said=$(cd "$folder" && "$programs/stock_of_goods" "$server_address")
expect '^sold$|^7 apples left$' 2 "$said"
expect '^rolled back$' 2 "$said"
[ "$(ls "$folder" | wc -l)" -eq 2 ] || fail "drafts were left behind: $(ls "$folder")"
[ "$(cat "$folder"/stock-*[1-9a-f]*)" = 'apples 7
pears 4' ] || fail "the stock is $(cat "$folder"/stock-*[1-9a-f]*)"

said=$("$programs/lock_by_key" "$server_address")
expect '^ordered (1 apple|2 apple|3 pear|4 EU/4711)$' 4 "$said"
expect '^7 of apple are left$|^7 of pear are left$|^6 of EU/4711 are left$' 3 "$said"
expect '^two readers, no writer$|^the lock of EU/4711 is /locks/orders/EU%2F4711$' 2 "$said"

said=$("$programs/nightly_job" "$server_address")
expect '^[a-z]+day: (cleans up|is done)$' 5 "$said"
expect '^monday: another machine (is at it|was faster)$' 2 "$said"
expect '^tuesday: the hold has reached its longest time$' 1 "$said"

said=$("$programs/recursive_shared_mutex" "$server_address")
expect '^(anna|bert|the booking) reports 1[01]0$' 3 "$said"
expect '^the booking reports 110$|^a reader cannot become a writer$' 2 "$said"

said=$("$programs/any_system" "zk://$server_address")
expect '^printing page [12] under /locks/any-printer/_c_' 2 "$said"
expect '^one holder of apple at a time$|^its token is [0-9a-f]{32}$' 2 "$said"
expect '^url has the scheme .etcd., which is not known' 1 "$("$programs/any_system" etcd://x 2>&1 || true)"

"$programs/graceful_shutdown" "$server_address" >"$folder/shutdown" &
service=$!
await_line '^ships order 2$' "$folder/shutdown" 100
kill "$service"
wait "$service" || fail "graceful_shutdown ended with status $?"
[ "$(tail -n 3 "$folder/shutdown")" = 'ships order 2
has shipped order 2
has closed' ] || fail "$(cat "$folder/shutdown")"

if [ -x "$programs/log_to_spdlog" ]; then
  said=$("$programs/log_to_spdlog" "$server_address")
  expect '^error: the lock /locks/logged is lost, held for .* \[lock_lost\] /locks/logged$' 1 "$said"
fi

said=$("$programs/many_ensembles" "$server_address")
expect '^list [12]: sold$' 4 "$said"
[ "$(printf '%s\n' "$said" | sed -n '1p;$p')" = 'list 1: sold
list 2: sold' ] || fail "$said"

said=$("$programs/metrics" "$server_address")
expect '^paddock_lock_wait_seconds_count{lock="/locks/carts",kind="mutex",outcome="granted"} 10$' 1 "$said"
expect '^paddock_locks_held{lock="/locks/..leader..",kind="election"} 0$' 1 "$said"
expect '^paddock_leader{lock="/locks/..leader.."} 0$' 1 "$said"
expect '^paddock_lock_lost_total{lock="/locks/carts",kind="mutex",reason="lease_lapsed"} 0$' 1 "$said"

said=$("$programs/operators_view" "$server_address")
expect "^ready: connected to $server_address$" 1 "$said"
expect '^the last answer took [0-9.e-]* ms$' 1 "$said"

expect '^saves only under the lock$' 1 "$("$programs/unit_test")"

# Without SQLite it is not built; configured for tests it must be.
if [ -x "$programs/fencing" ]; then
  said=$(cd "$folder" && "$programs/fencing" "$server_address")
  expect '^the first holder, before its pause: valid 1$' 1 "$said"
  expect '^the next holder: sold$' 1 "$said"
  expect '^the first holder, after its pause: valid 0$' 1 "$said"
  expect '^the first holder: refused$' 1 "$said"
fi

# Without CLI11 and SQLiteCpp it is not built; configured for tests it must be.
if [ -x "$programs/shop/shop" ]; then
  lines=$(cat "$root"/samples/shop/*.hpp "$root"/samples/shop/*.cpp | grep -cvE '^ *(//.*)?$')
  [ "$lines" -le 700 ] || fail "the shop has $lines lines of code: more than 700"
  PADDOCK_SERVERS=$server_address PADDOCK_PROGRAMS=$programs sh "$root/samples/demo.sh" --shop >"$folder/shops" &
  shops=$!
  await_line 'Ctrl-C ends both' "$folder/shops" 300
  page=$(sed -n 's/.* who waits: \([^ ]*\) .*/\1/p' "$folder/shops")
  python3 - "$page" <<'END' || fail "the demo of the shop shows no holder: $(cat "$folder/shops")"
import json, sys, time, urllib.request
for _ in range(300):
    seen = json.load(urllib.request.urlopen(sys.argv[1] + "locks"))
    if any(one["holds"] for article in seen["articles"] for one in article["queue"]):
        sys.exit(0)
    time.sleep(0.1)
sys.exit(1)
END
  kill "$shops"
  wait "$shops" && fail "the demo of the shop ended by itself"
  [ $? -eq 143 ] || fail "the demo of the shop ended with status $?"

  # The answer does not wait until the lock is free again, which an ensemble that stops cannot say.
  "$programs/shop/shop" --stock "$folder/stock" --put plums=5
  $dies_with_shell "$programs/shop/shop" --stock "$folder/stock" --listen 127.0.0.1:0 --servers "$server_address" --packing 2s \
    >"$folder/shop" &
  shop=$!
  await_line http "$folder/shop" 300
  python3 - "$(cat "$folder/shop")" "$server_pid" <<'END' || fail "an answer waits for the release of its lock"
import concurrent.futures, json, os, signal, sys, time, urllib.request
shop, server = sys.argv[1], int(sys.argv[2])
body = json.dumps({"items": [{"article": "plums", "count": 1}]}).encode()
order = urllib.request.Request(shop + "orders", body, {"Content-Type": "application/json"})
with concurrent.futures.ThreadPoolExecutor() as customers:
    answer = customers.submit(urllib.request.urlopen, order, timeout=8)
    while b'paddock_locks_held{lock="/shop",kind="mutex"} 1' not in urllib.request.urlopen(shop + "metrics").read():
        if answer.done():
            sys.exit(f"no lock was held: {answer.result().status}")
        time.sleep(0.05)
    os.kill(server, signal.SIGSTOP)
    try:
        sys.exit(answer.result().status != 201)
    finally:
        os.kill(server, signal.SIGCONT)
END
  kill "$shop"
  wait "$shop" || fail "the shop ended with status $?"

  if [ "$over_tls" = true ]; then
    # shellcheck disable=SC2086
    PYTHONPATH=$root/tests/cli python3 -B - "$folder" "$server_address" $dies_with_shell "$programs/shop/shop" <<'END' ||
import contextlib, json, pathlib, subprocess, sys, urllib.error, urllib.request
from scene import Authority, TlsProxy
folder, server, *program = pathlib.Path(sys.argv[1]), *sys.argv[2:]
authority = Authority(folder)
ensemble = TlsProxy(server, authority.issue("server"), wants=authority.ca)
certificate, key = authority.issue("shop")
whole = ["--tls-ca", authority.ca, "--tls-cert", certificate, "--tls-key", key]

@contextlib.contextmanager
def shop(*options):
    words = ["--stock", folder / "stock", "--listen", "127.0.0.1:0", "--servers", ensemble.address, *options]
    with subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()

def order(process):
    body = json.dumps({"items": [{"article": "plums", "count": 1}]}).encode()
    asked = urllib.request.Request(process.stdout.readline().strip() + "orders", body, {"Content-Type": "application/json"})
    try:
        return urllib.request.urlopen(asked, timeout=30).status
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)["error"]

for options, answer in ((whole, 201), (whole[:2], (503, "no_ensemble")), ([*whole, "--tls-name", "other"], (503, "no_ensemble"))):
    with shop("--limit", "20s" if answer == 201 else "1s", *options) as process:
        got = order(process)
        assert got == answer, (options, got)
validation_error = 105  # of CLI11
for option, file, status, named in (("--tls-cert", "/nowhere.pem", validation_error, "--tls-cert: File does not exist: /nowhere.pem"),
                                    ("--tls-ca", "", validation_error, "--tls-ca: File does not exist: "), ("--tls-ca", key, 1, str(key))):
    with shop(option, file) as process:
        said = process.stderr.read()
        assert process.wait() == status and named in said, (option, file, said)
END
      fail "the shop does not use TLS as it should"
  fi
fi
