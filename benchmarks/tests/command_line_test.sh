# SPDX-License-Identifier: BSL-1.0
# command_line_test.sh BUILD: wrong options end with status 2 and one line; servers and loads end cleanly.
bench=$1/benchmarks/quintet-bench
work=$(mktemp -d)
server=
trap '[ -n "$server" ] && kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
bad=0
complain() { echo "FAILED: $*"; bad=1; }

# refused TEXT ARGUMENT...: status 2, nothing on the standard output, one line with TEXT in it.
refused() {
  local text=$1
  shift
  timeout 20 "$bench" "$@" >"$work/out" 2>"$work/err"
  local status=$?
  [ $status -eq 2 ] || complain "quintet-bench $*: status $status instead of 2"
  [ ! -s "$work/out" ] || complain "quintet-bench $*: wrote to the standard output"
  [ "$(wc -l <"$work/err")" -eq 1 ] || complain "quintet-bench $*: not one line: $(cat "$work/err")"
  grep -qF -- "$text" "$work/err" || complain "quintet-bench $*: does not say \"$text\": $(cat "$work/err")"
}

refused "load" # no command
refused "frobnicate" frobnicate
refused "loop_per_thread_pool" serve --model 6
refused "there are: echo" serve --workload ehco
refused "1..4\" and more" serve --workers "1..4\" and more"
refused "MIN..MAX" serve --workers 4..1
refused "0 to 65535" serve --port 70000
refused "epoll" serve --engine kqueue
refused "blocking" serve --reference fork
refused "--model" serve --reference epoll --model 2
refused "only echo" serve --reference epoll --workload cpu:200us
refused "may use" serve --pin 999
refused "HOST:PORT" load
refused "HOST:PORT" load 127.0.0.1
refused "HOST:PORT" load 127.0.0.1:0
refused "--connections" load 127.0.0.1:9 --connections 0
refused "from 1 to" load 127.0.0.1:9 --rate fast
refused "duration" load 127.0.0.1:9 --duration soon
refused "more than 0" load 127.0.0.1:9 --duration 0
refused "from 8 to" load 127.0.0.1:9 --size 7
refused "epoll" load 127.0.0.1:9 --client select
refused "--frob" load 127.0.0.1:9 --frob
refused "one request each" load 127.0.0.1:9 --short --pipeline 4
refused "is a directory" load 127.0.0.1:9 --json /
refused "is a directory" serve --json /
refused "leave --stats" serve --reference epoll --json -
refused "4000" load 127.0.0.1:9 --client blocking --connections 4001

for command in "" serve load; do
  "$bench" $command --help | grep -F "Example: quintet-bench" > /dev/null || complain "$command --help has no example"
done

# start ARGUMENT...: a server in $server, its address in $address.
start() {
  "$bench" serve --exit-with-parent "$@" >"$work/serve" 2>&1 &
  server=$!
  for _ in $(seq 100); do
    grep -q listening "$work/serve" && break
    sleep 0.1
  done
  address=$(sed -n 's/^listening on //p' "$work/serve")
  [ -n "$address" ] || complain "serve $*: $(cat "$work/serve")"
}
stop() {
  kill -"$1" "$server"
  wait "$server"
  local status=$?
  server=
  [ $status -eq 0 ] || complain "a server ended with status $status after SIG$1"
}

for arguments in "--reference epoll" "--reference blocking" "--model 1" "--model 2" "--model 3" "--model 4 --loops 2" \
  "--model 5 --workers 1..3"; do
  # shellcheck disable=SC2086
  start $arguments
  timeout 60 "$bench" load "$address" --connections 20 --duration 0.2 --warm-up 0.05 --json "$work/json" \
    >"$work/out" 2>&1 ||
    complain "load against $arguments: $(cat "$work/out")"
  grep -q '"failed":0,' "$work/json" || complain "load against $arguments: $(cat "$work/json")"
  [ "$(grep -c '^measur' "$work/out")" -ge 2 ] || complain "load says neither measuring nor measured"
  stop TERM
done

start --model 4 --loops 2 --json "$work/counts"
timeout 60 "$bench" load "$address" --connections 7 --duration 0.2 --warm-up 0.05 >"$work/out" 2>&1 ||
  complain "load: $(cat "$work/out")"
stop TERM
grep -q '"opened": 7,' "$work/counts" || complain "a server's last counters: $(cat "$work/counts")"

# The port of a server that is gone; Ctrl-C in the middle of a load; a stray port in use.
timeout 60 "$bench" load "$address" --duration 1 >"$work/out" 2>&1 && complain "a load against nobody ended well"
grep -q "cannot connect to $address" "$work/out" || complain "no reason given: $(cat "$work/out")"
start --workload heartbeat --priority-port 0 --model 5
priority=$(sed -n 's/^priority on //p' "$work/serve")
"$bench" load "$address" --workload heartbeat --heartbeat "$priority" --connections 4 --duration 60 --warm-up 0 \
  --json "$work/json" >"$work/out" 2>&1 &
load=$!
sleep 1.5
kill -INT $load
wait $load
status=$?
[ $status -eq 130 ] || complain "an interrupted load ended with $status instead of 130: $(cat "$work/out")"
grep -q '"interrupted":true' "$work/json" || complain "an interrupted load wrote no result"
grep -q '"heartbeat_p50_us":null' "$work/json" && complain "no heartbeat was measured"
timeout 20 "$bench" serve --port "${address##*:}" >"$work/out" 2>"$work/err" && complain "two servers on one port"
[ "$(wc -l <"$work/err")" -eq 1 ] || complain "a port in use is not said in one line: $(cat "$work/err")"
stop INT
exit $bad
