# SPDX-License-Identifier: BSL-1.0
# command_line_test.sh BUILD: wrong options end with status 2 and one line; servers and loads end cleanly.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/lib.sh"

refused "load" # no command
refused "frobnicate" frobnicate
refused "loop_per_thread_pool" serve --model 6
refused "it must be one of: echo" serve --workload ehco
refused "1..4\" and more" serve --workers "1..4\" and more"
refused "MIN..MAX" serve --workers 4..1
refused "0 to 65535" serve --port 70000
refused "it must be one of: automatic, epoll, asio" serve --engine kqueue
refused "it must be one of: main_reactor, reuse_port, reuse_port_cpu, exclusive" serve --accept all
refused "it must be one of: round_robin, least_connections, peer_hash" serve --placement random
refused "reuse_port is not available" serve --model 2 --accept reuse_port --strict
refused "own_descriptors" serve --model 4 --own-descriptors
refused "such as 1.2" serve --rebalance lots
refused "from 1.05" serve --rebalance 1
refused "it must be one of: connections, cpu_time" serve --rebalance 1.2 --rebalance-by luck
refused "cannot leave their loop" serve --model 4 --rebalance 1.2 --handler coroutine
refused "write 0, 0,1 or 0-1" serve --pin-loops=most
refused "--rebalance excludes --peer" serve --peer epoll --rebalance 1.2
refused "--accept excludes --peer" serve --peer epoll --accept exclusive
refused "at most 100 ms" serve --spin 1s
refused "duration" serve --spin -1us
refused "from 0 to 100 ms" serve --busy-poll 1s
refused "--spin excludes --peer" serve --peer epoll --spin 50us
refused "--spin" load 127.0.0.1:9 --client blocking --spin 50us
refused "--engine excludes --peer" serve --peer epoll --engine asio
refused "it must be one of: automatic, epoll" compare --quick --engine kqueue
refused "it must be one of: epoll, epoll-edge, blocking, asio, asio-coroutines, asio-uring, libevent, libuv, libev, asio-shared, asio-separate" serve --peer fork
version="quintet-bench $(sed -n 's/^#define QUINTET_VERSION_STRING "\(.*\)"/\1/p' "$(dirname "$0")/../../base/version.hpp")"
for command in "" serve load echo probe compare bus; do
  # shellcheck disable=SC2086
  [ "$("$bench" $command --version)" = "$version" ] || fail "$command --version: $("$bench" $command --version)"
done
for command in compare load; do  # a wrong path is refused before the run, and leaves nothing behind
  refused "is not a directory; make it first" $command --json "$work/none/x"
  [ ! -e "$work/none" ] || fail "$command --json made a directory"
done
# The documentation is made from a copy of what the program says of itself.
"$bench" describe > "$work/describe" || fail 'describe'
/usr/bin/python3 - "$work/describe" "$(dirname "$0")/../python/tests/data/describe.json" << 'END' || fail 'describe.json is out of date'
import json, sys
ours, copy = (json.load(open(path)) for path in sys.argv[1:])
for key in ("commands", "models", "accept", "offload", "peers", "workloads"):
    if ours[key] != copy[key]:
        print(key, ours[key], copy[key], sep="\n")
        sys.exit(1)
END
refused "--model excludes --peer" serve --peer epoll --model 2
refused "only echo" serve --peer epoll --workload cpu:200us
refused "--workers excludes --peer" serve --peer epoll --workers 1..2
refused "needs --heartbeat" load 127.0.0.1:9 --workload heartbeat
refused "may use" serve --pin 999
refused "HOST:PORT" load
refused "HOST:PORT" load 127.0.0.1
refused "HOST:PORT" load 127.0.0.1:0
refused "1 to 103 bytes" load shm:
refused "no short connections" load shm:/nowhere --short
refused "--rate" load shm:/nowhere --rate 100
refused "a client of its own" load shm:/nowhere --client blocking
refused "--ring-size requires --unix" serve --ring-size 64k
refused "a power of two" serve --unix "$work/socket" --ring-size 5000
refused "--unix excludes --peer" serve --peer epoll --unix "$work/socket"
refused "--connections" load 127.0.0.1:9 --connections 0
refused "from 1 to" load 127.0.0.1:9 --rate fast
refused "duration" load 127.0.0.1:9 --duration soon
refused "more than 0" load 127.0.0.1:9 --duration 0
refused "from 8 to" load 127.0.0.1:9 --size 7
refused "epoll" load 127.0.0.1:9 --client select
refused "--frob" load 127.0.0.1:9 --frob
refused "one request each" load 127.0.0.1:9 --short --pipeline 4
refused "only with --client epoll" load 127.0.0.1:9 --http --client blocking
refused "is a directory" load 127.0.0.1:9 --json /
refused "is a directory" serve --json /
refused "--handler excludes --peer" serve --peer epoll --handler coroutine
refused "only echoes" serve --handler coroutine --workload mixed
refused "--peer excludes --json" serve --peer epoll --json -
refused "a number of 8 bytes" load 127.0.0.1:9 --workload timestamp --size 16
refused "a number of 8 bytes" serve --workload timestamp --size 16
refused "from 10 to 65537" load 127.0.0.1:9 --workload framed --size 9
refused "from 1 to 65536" serve --receive-size 0
refused "only echo" serve --peer epoll --workload framed
refused "short connections" load 127.0.0.1:9 --workload timestamp --short
refused "adds one" load 127.0.0.1:9 --workload timestamp --heartbeat 127.0.0.1:9
refused "at least 100ms" load 127.0.0.1:9 --every 10ms
refused "--server-pid" load 127.0.0.1:9 --server-pid 0
refused "4000" load 127.0.0.1:9 --client blocking --connections 4001

for command in "" serve load echo; do
  "$bench" $command --help | grep -F "Example: quintet-bench" > /dev/null || fail "$command --help has no example"
done

for arguments in "--peer epoll" "--peer blocking" "--model 1" "--model 2" "--model 2 --handler coroutine" "--model 3" "--model 4 --loops 2" \
  "--model 5 --workers 1..3"; do
  # shellcheck disable=SC2086
  serve $arguments
  timeout 60 "$bench" load "$address" --connections 20 --duration 0.2 --warm-up 0.05 --json "$work/json" \
    >"$work/out" 2>&1 ||
    fail "load against $arguments: $(cat "$work/out")"
  grep -q '"failed":0,' "$work/json" || fail "load against $arguments: $(cat "$work/json")"
  [ "$(grep -c '^measur' "$work/out")" -ge 2 ] || fail "load says neither measuring nor measured"
  stop_server
done

# Times that come back one more, a line for each interval, all of which add up, and what the bottleneck was.
for model in 1 2 3 4 5; do
  serve --model $model --workload timestamp
  timeout 60 "$bench" load "$address" --workload timestamp --connections 20 --pipeline 3 --duration 0.5 --warm-up 0.05 \
    --every 200ms --server-pid "$server" --json "$work/json" >"$work/out" 2>&1 || fail "timestamp: $(cat "$work/out")"
  sum=$(sed -nE 's/^[0-9.]+ s: .* ok ([0-9,]+) .*/\1/p' "$work/out" | tr -d , | awk '{ sum += $1 } END { printf "%d", sum }')
  grep -q "\"requests\":$sum," "$work/json" || fail "the lines say $sum: $(cat "$work/out" "$work/json")"
  for part in 'success 100.000 %' 'lo: [0-9.]* packets' 'bottleneck: .*server [0-9]* %'; do
    grep -q "$part" "$work/out" || fail "load does not say $part: $(cat "$work/out")"
  done
  stop_server
done

# Frames of eleven bytes, cut in each server's receive calls as it likes, and the distribution of their latencies.
for arguments in "--model 1" "--model 3" "--model 5 --receive-size 2"; do
  # shellcheck disable=SC2086
  serve $arguments --workload framed
  timeout 60 "$bench" load "$address" --workload framed --connections 20 --pipeline 3 --duration 0.3 --warm-up 0.05 \
    --distribution --json "$work/json" >"$work/out" 2>"$work/err" || fail "framed, $arguments: $(cat "$work/err")"
  grep -q '"message_bytes":13,' "$work/json" || fail "framed, $arguments: $(cat "$work/json")"
  grep -qE '^100.00% <= [0-9.]+ milliseconds$' "$work/out" || fail "no distribution: $(cat "$work/out")"
  grep -qE '^[0-9]+\.[0-9]{2} requests per second$' "$work/out" || fail "no rate: $(cat "$work/out")"
  stop_server
done

# One server over TCP, its Unix socket and shared memory; in one model also requests larger than a ring, and the rest.
for arguments in "--model 1" "--model 2" "--model 2 --handler coroutine" "--model 3" "--model 4 --loops 2" "--model 5"; do
  # shellcheck disable=SC2086
  serve $arguments --unix "$work/socket" --ring-size 16k --spin 50us
  grep -q "^also on unix:$work/socket and shm:$work/socket$" "$work/serve" || fail "serve --unix: $(cat "$work/serve")"
  targets=("$address" "unix:$work/socket" "shm:$work/socket")
  [ "$arguments" != "--model 2" ] || targets+=("shm:$work/socket --spin 50us --threads 2" "unix:$work/socket --short"
    "shm:$work/socket --size 100k --pipeline 3" "unix:$work/socket --client blocking")
  for target in "${targets[@]}"; do
    # shellcheck disable=SC2086
    timeout 60 "$bench" load $target --connections 20 --duration 0.2 --warm-up 0.05 --server-pid "$server" \
      --json "$work/json" >"$work/out" 2>&1 || fail "load $target against $arguments: $(cat "$work/out")"
    grep -q '"failed":0,' "$work/json" || fail "load $target against $arguments: $(cat "$work/json")"
    grep -q '"requests":0,' "$work/json" && fail "load $target against $arguments: no requests"
    case $target in shm:*) grep -q '"client":"shared_memory"' "$work/json" || fail "$target: another client" ;; esac
  done
  stop_server
done
# A server that dies fails what was under way over shared memory, and nobody waits for it.
serve --model 2 --unix "$work/other"
"$bench" load "shm:$work/other" --connections 3 --duration 60 --warm-up 0 --json "$work/json" >"$work/out" 2>&1 &
load=$!
await '^measuring$' "$work/out" $load || fail "a load over shared memory: $(cat "$work/out")"
disown "$server"
kill -KILL "$server"
server=
wait $load
[ $? -eq 1 ] || fail "a load whose server died: $(cat "$work/out")"
grep -q 'first failure: ' "$work/out" || fail "a server's death is not told: $(cat "$work/out")"
timeout 20 "$bench" load "shm:$work/nowhere" --connections 3 >"$work/out" 2>&1 && fail "a load without a server ended well"
grep -q "cannot connect to shm:$work/nowhere: " "$work/out" || fail "no reason given: $(cat "$work/out")"

serve --model 4 --loops 2 --json "$work/counts"
timeout 60 "$bench" load "$address" --connections 7 --duration 0.2 --warm-up 0.05 >"$work/out" 2>&1 ||
  fail "load: $(cat "$work/out")"
stop_server
grep -q '"opened":7,' "$work/counts" || fail "a server's last counters: $(cat "$work/counts")"

# The port of a server that is gone; Ctrl-C in the middle of a load; a stray port in use.
timeout 60 "$bench" load "$address" --duration 1 >"$work/out" 2>&1 && fail "a load against nobody ended well"
grep -q "cannot connect to $address" "$work/out" || fail "no reason given: $(cat "$work/out")"
serve --workload heartbeat --priority-port 0 --model 5
"$bench" load "$address" --workload heartbeat --heartbeat "$priority" --connections 4 --duration 60 --warm-up 0 \
  --every 1s --json "$work/json" >"$work/out" 2>&1 &
load=$!
await ' s: .* ok ' "$work/out" $load || fail "a load with heartbeats: $(cat "$work/out")"
kill -INT $load
wait $load
status=$?
[ $status -eq 130 ] || fail "an interrupted load ended with $status instead of 130: $(cat "$work/out")"
grep -q '"interrupted":true' "$work/json" || fail "an interrupted load wrote no result"
grep -q '"heartbeat_p50_us":null' "$work/json" && fail "no heartbeat was measured"
timeout 20 "$bench" serve --port "${address##*:}" >"$work/out" 2>"$work/err" && fail "two servers on one port"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "a port in use is not said in one line: $(cat "$work/err")"
stop_server INT
[ $failures -eq 0 ] && echo 'the command line behaves'
exit $((failures > 0))
