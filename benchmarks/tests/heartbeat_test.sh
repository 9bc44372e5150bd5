#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# heartbeat_test.sh BUILD: heartbeats on the priority port are at least 50 times faster (p99) than on the data port, while
# each request there computes for 2 ms. The ratio is of one machine in one minute, and thousands in fact.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# p99 ADDRESS: of heartbeats to it, in microseconds, beside 50 connections that always have a request under way.
p99() {
  timeout 60 "$bench" load "$address" --workload cpu:2ms --connections 50 --duration 2 --warm-up 500ms --heartbeat "$1" \
    --json "$work/json" > "$work/out" 2>&1
  sed -n 's/.*"heartbeat_p99_us":\([0-9.E+]*\).*/\1/p' "$work/json"
}

for model in 2 4; do  # in model 5 cheap heartbeats run on the loops
  serve --model $model --workload cpu:2ms --priority-port 0
  own=$(p99 "$priority")
  shared=$(p99 "$address")  # none if no heartbeat was answered in time
  echo "model $model: p99 of heartbeats ${shared:-none} us on the data port, $own us on the priority port"
  awk -v s="${shared:-1e9}" -v o="${own:-1e9}" 'BEGIN { exit !(s / o >= 50) }' || fail "model $model: less than 50 times: $(cat "$work/out")"
  stop_server
done
exit $((failures > 0))
