#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# heartbeat_test.sh BUILD: heartbeats on the priority port are at least 50 times faster (p99) than on the data port, while
# each request there computes for 2 ms. The ratio is of one machine in one minute, and thousands in fact.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/lib.sh"
server=
trap '[ -n "$server" ] && kill "$server" 2> /dev/null; rm -rf "$work"' EXIT

# p99 ADDRESS: of heartbeats to it, in microseconds, beside 50 connections that always have a request under way.
p99() {
  timeout 60 "$bench" load "$data" --workload cpu:2ms --connections 50 --duration 2 --warm-up 500ms --heartbeat "$1" \
    --json "$work/json" > "$work/out" 2>&1
  sed -n 's/.*"heartbeat_p99_us":\([0-9.E+]*\).*/\1/p' "$work/json"
}

for model in 2 4; do  # in model 5 cheap heartbeats run on the loops
  timeout 60 "$bench" serve --model $model --workload cpu:2ms --priority-port 0 --exit-with-parent > "$work/serve" 2>&1 &
  server=$!
  for _ in $(seq 200); do
    grep -q '^priority on ' "$work/serve" && break
    sleep 0.05
  done
  data=$(sed -n 's/^listening on //p' "$work/serve")
  own=$(p99 "$(sed -n 's/^priority on //p' "$work/serve")")
  shared=$(p99 "$data")  # none if no heartbeat was answered in time
  echo "model $model: p99 of heartbeats ${shared:-none} us on the data port, $own us on the priority port"
  awk -v s="${shared:-1e9}" -v o="${own:-1e9}" 'BEGIN { exit !(s / o >= 50) }' || fail "model $model: less than 50 times: $(cat "$work/out")"
  kill $server
  wait $server
  server=
done
exit $((failures > 0))
