#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# attacked_server_test.sh BUILD_DIR: stress --server against servers that run already, and against nobody.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"
server=
trap '[ -n "$server" ] && kill "$server" 2> /dev/null; rm -rf "$work"' EXIT

refused 'a scenario is required' stress
refused 'is not an attack on --server; it must be one of: resets, silence' stress overload --server 127.0.0.1:9
refused 'HOST:PORT' stress --server 127.0.0.1
refused '--allow-remote' stress --server 192.0.2.1:80
refused 'it must be one of: echo, resp, http' stress --server 127.0.0.1:9 --protocol smtp
refused 'twice --bound' stress --server 127.0.0.1:9 --window 1 --bound 1
refused 'at most 10000' stress --server 127.0.0.1:9 --peers 10001
refused '--model' stress --server 127.0.0.1:9 --model 4
refused '--server' stress resets --allow-remote
"$bench" stress --help | grep -qF -- '--server 127.0.0.1:6379 --protocol resp' || fail '--help has no example'

# start PATTERN COMMAND...: a server in the background, which prints PATTERN before its address; sets address.
start() {
  local pattern=$1
  shift
  : > "$work/serve"
  "$@" > "$work/serve" 2> "$work/serve.err" &
  server=$!
  for _ in $(seq 200); do
    address=$(sed -nE "s/^.*$pattern(127\.0\.0\.1:[0-9]+).*/\1/p" "$work/serve")
    [ -n "$address" ] && return
    sleep 0.05
  done
  fail "$*: $(cat "$work/serve" "$work/serve.err")"
}
stop() {
  kill "$server"
  wait "$server"
  server=
}
# attacked STATUS OPTION...: all attacks, few peers; waits are the machine's business, so the bound is wide.
attacked() {
  local expected=$1 status
  shift
  timeout 150 "$bench" stress --server "$address" --peers 40 --bound 1500ms --window 3 --json "$work/json" "$@" > "$work/out" \
    2> "$work/err"
  status=$?
  [ $status -eq "$expected" ] || fail "stress --server $address $*: status $status: $(cat "$work/out" "$work/err")"
}

start 'listening on ' "$bench" serve --model loop_per_thread --loops 2 --exit-with-parent
attacked 0
[ "$(grep -c ', 127.0.0.1:[0-9]*: passed$' "$work/out")" -eq 7 ] || fail "not seven attacks: $(cat "$work/out")"
grep -q '"unanswered": 0' "$work/json" || fail "no figures: $(cat "$work/json")"

# Ctrl-C ends it at once; what was found is written.
interrupted 'silence: 40 peers' stress --server "$address" --peers 40 --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
stop

if [ -x "$1/examples/kv" ]; then
  start 'kv: .*' "$1/examples/kv" --port 0
  attacked 0 non-readers --protocol resp
  attacked 1 silence --protocol http  # it does not speak that
  grep -q 'even before the attack' "$work/out" || fail "no reason: $(cat "$work/out")"
  stop
  start 'http_hello: .*' "$1/examples/http_hello" --port 0
  attacked 0 half-requests --protocol http
  stop
fi

# Nobody listens any more.
attacked 1 resets
grep -q '^resets, 127.0.0.1:[0-9]*: FAILED$' "$work/out" || fail "nobody: $(cat "$work/out")"

[ $failures -eq 0 ] && echo 'attacks on a server behave'
exit $((failures > 0))
