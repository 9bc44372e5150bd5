#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# echo_test.sh BUILD: server and clients in one process: all is answered and released, in every model; failures show.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/lib.sh"

refused 'it must be one of: thread_per_connection' echo --model 6
refused '--client-threads' echo --client-threads 0
refused 'more than 0' echo --duration 0

for model in 1 2 3 4 5; do
  timeout 60 "$bench" echo --model $model --connections 20 --client-threads 2 --quick --json "$work/json" 2> "$work/err" ||
    fail "model $model: status $?: $(cat "$work/err")"
  for part in '"command":"echo"' '"client_threads":2' '"failed":0,' '"connections_left":0' '"descriptors_left":0'; do
    grep -qF "$part" "$work/json" || fail "model $model: no $part: $(cat "$work/json")"
  done
  grep -q '"requests":0,' "$work/json" && fail "model $model: nothing was answered"
  grep -q '^[0-9.]* s: .* ok [1-9].* failed 0  success 100.000 %$' "$work/err" || fail "no line a second: $(cat "$work/err")"
done

# Clients that cannot connect are failures, and what was open is released all the same.
(ulimit -n 60 && timeout 60 "$bench" echo --model 2 --connections 100 --duration 200ms --json "$work/json" 2> "$work/err")
[ $? -eq 1 ] || fail "too few descriptors: status is not 1: $(cat "$work/err")"
grep -qF 'first failure: ' "$work/err" || fail "too few descriptors: no reason: $(cat "$work/err")"
grep -qF '"descriptors_left":0' "$work/json" || fail "too few descriptors: $(cat "$work/json")"

interrupted ' s: ' echo --duration 60 --json "$work/json"
grep -q '"interrupted":true.*"descriptors_left":0' "$work/json" || fail "interrupted: $(cat "$work/json")"

[ $failures -eq 0 ] && echo 'echo answers everything and releases everything'
exit $((failures > 0))
