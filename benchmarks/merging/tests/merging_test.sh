#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# merging_test.sh BUILD_DIR: a short run of merging in each direction, Ctrl-C, and wrong options. Counts, never times.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused '65536' merging --sizes 8..100000
refused 'MIN..MAX' merging --sizes 9..8
refused 'model' merging --model 6
refused 'one' merging --model 2,3
refused '--bogus' merging --bogus
refused 'for --workload ask' serve --pieces 8

timeout 60 "$bench" merging --sizes 8..128 --rounds 1 --duration 200ms --json "$work/json" > "$work/out" 2> "$work/err" ||
  fail "merging: status $?: $(cat "$work/err")"
# The one that merges comes first.
tr -d ' {}[]' < "$work/json" | tr ',' '\n' > "$work/figures"
awk -F: '$1 == "\"writes_per_message\"" {found[++n] = $2}
         END {exit !(n == 2 && found[1] > 0 && found[1] <= 0.01 && found[2] > 0.5 && found[2] <= 1.1)}' "$work/figures" ||
  fail "writes for a message: $(grep writes_per "$work/figures")"
grep -q 'times as many messages' "$work/out" || fail "no verdict: $(cat "$work/out")"

interrupted 'a write for each message' merging --sizes 8..128 --rounds 1000 --duration 100ms --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
grep -q 'messages/s' "$work/table" || fail 'interrupted: no table printed'

[ $failures -eq 0 ] && echo 'merging behaves'
exit $((failures > 0))
