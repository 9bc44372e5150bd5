#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# compare_test.sh BUILD_DIR: the command as a user meets it: real servers, wrong options, Ctrl-C.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

# Wrong options: status 2 and one line.
while read -r options; do
  # shellcheck disable=SC2086
  "$bench" compare $options > "$work/out" 2> "$work/err"
  status=$?
  [ $status -eq 2 ] || fail "compare $options: status $status, not 2"
  [ "$(wc -l < "$work/err")" -eq 1 ] || fail "compare $options: not one line: $(cat "$work/err")"
done <<'OPTIONS'
--models 6
--workloads nonsense
--rounds 0
--duration 1ms
--workers 4..1
--from /nonexistent.json
--bogus
OPTIONS
"$bench" compare --help | grep -F 'quintet-bench compare --quick' > /dev/null || fail "--help has no example"

# A short real comparison.
"$bench" compare --workloads echo --models 2,4 --rounds 2 --duration 100ms --warm-up 50ms --seed 1 \
  --json "$work/results.json" --html "$work/report.html" > "$work/table" 2> "$work/err"
status=$?
[ $status -eq 0 ] || fail "comparison: status $status: $(tail -3 "$work/err")"
for part in single_reactor loop_per_thread 'hand-written epoll' 'requests/s' 'Noise:'; do
  grep -q -- "$part" "$work/table" || fail "the table does not mention $part"
done
[ "$(grep -c '"workload"' "$work/results.json")" -gt 6 ] || fail "results.json lacks results"
grep -q '"failed": [1-9]' "$work/results.json" && fail "requests failed"
[ -s "$work/report.html" ] || fail "no report"

# Ctrl-C: what was measured so far is printed and written, and nothing is left running.
"$bench" compare --workloads echo --models 2 --rounds 50 --duration 200ms --warm-up 50ms \
  --json "$work/partial.json" > "$work/table" 2> "$work/err" &
pid=$!
for _ in $(seq 100); do
  sleep 0.1
  grep -q ' 2 of ' "$work/err" && break
done
kill -INT $pid
wait $pid
status=$?
[ $status -eq 130 ] || fail "interrupted: status $status, not 130"
grep -q '"interrupted": true' "$work/partial.json" || fail "interrupted: no results written"
grep -q 'requests/s' "$work/table" || fail "interrupted: no table printed"

[ $failures -eq 0 ] && echo "compare behaves"
exit $((failures > 0))
