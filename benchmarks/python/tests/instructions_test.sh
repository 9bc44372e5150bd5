#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# instructions_test.sh BUILD_DIR: quintet-bench peers --count instructions repeats itself and knows what is cheap.
# It counts at real-time priority, and whatever else runs would wait for it.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"
needs valgrind

timeout 100 "$bench" peers --count instructions --workloads latency --peers epoll --json "$work/counts.json" \
  > "$work/table" 2> "$work/err"
status=$?
[ $status -eq 0 ] || fail "status $status: $(tail -3 "$work/err")"
grep -q '1 connection x 8 B' "$work/table" || fail "no table: $(cat "$work/table")"

# count LABEL: its figure in the table.
count() { sed -nE "s/^ +$1 +([0-9,]+) .*/\1/p" "$work/table" | tr -d ,; }
epoll=$(count 'hand-written epoll')
ours=$(count 'single_reactor')
{ [ "${epoll:-0}" -gt 10 ] && [ "${ours:-0}" -gt "$epoll" ]; } || fail "cannot be: epoll $epoll, ours $ours"
grep -q '"instructions_per_request": [1-9]' "$work/counts.json" || fail 'the JSON has no instructions'
grep -q '"server_cpu_us_per_request": null' "$work/counts.json" || fail 'what was not measured is not null'

[ $failures -eq 0 ] && echo 'instructions are counted'
exit $((failures > 0))
