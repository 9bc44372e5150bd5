#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# compare_test.sh BUILD_DIR: the command as a user meets it: real servers, wrong options, Ctrl-C.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'or 1 to 5' compare --models 6
refused 'is not a workload' compare --workloads nonsense
refused '--rounds' compare --rounds 0
refused 'is out of range' compare --duration 1ms
refused 'MIN..MAX' compare --workers 4..1
refused '/nonexistent.json' compare --from /nonexistent.json
refused '--bogus' compare --bogus
"$bench" compare --help | grep -F 'quintet-bench compare --quick' > /dev/null || fail "--help has no example"

# A short real comparison.
"$bench" compare --workloads echo --models 2,4 --rounds 2 --duration 100ms --warm-up 50ms --seed 1 \
  --json "$work/results.json" --html "$work/report.html" > "$work/table" 2> "$work/err"
judge $? comparison
for part in single_reactor loop_per_thread 'hand-written epoll' 'requests/s' 'Noise:' '-> Bottleneck: '; do
  grep -q -- "$part" "$work/table" || fail "the table does not mention $part"
done
[ "$(grep -c '"workload"' "$work/results.json")" -gt 6 ] || fail "results.json lacks results"
grep -q '"failed": [1-9]' "$work/results.json" && fail "requests failed"
[ -s "$work/report.html" ] || fail "no report"

# Ctrl-C: what was measured so far is printed and written, and nothing is left running.
interrupted ' 2 of ' compare --workloads echo --models 2 --rounds 50 --duration 200ms --warm-up 50ms \
  --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail "interrupted: no results written"
grep -q 'requests/s' "$work/table" || fail "interrupted: no table printed"

[ $failures -eq 0 ] && echo "compare behaves"
exit $((failures > 0))
