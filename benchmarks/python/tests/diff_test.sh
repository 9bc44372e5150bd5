#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# diff_test.sh BUILD_DIR: quintet-bench diff as a user and as continuous integration use it.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

# results FILE SPEED...: a file of results, a round for each speed.
results() {
  local file=$1 text
  shift
  text=$(printf '{"workload": "echo", "model": "single_reactor", "requests_per_s": %s}, ' "$@")
  echo "{\"command\": \"compare\", \"environment\": {\"kernel\": \"6.1\"}, \"results\": [${text%, }]}" > "$file"
}
results "$work/a.json" 100 101 102
results "$work/slow.json" 70 71 72
results "$work/one.json" 100

refused 'required: before, after' diff
refused 'cannot read /nonexistent.json' diff /nonexistent.json "$work/a.json"
bad() { # TEXT CONTENT
  printf '%b' "$2" > "$work/bad.json"
  refused "$1" diff "$work/bad.json" "$work/a.json"
}
bad "$work/bad.json: not JSON: line 2" '{"results": [\n'
bad 'not JSON: line 3' '{\n"results": [\n{"workload" 3}]}'
bad 'no "results" array' '{"command": "stress"}'
bad 'member 2 of "results": a result has no "workload"' '{"results": [{"workload": "x"}, {"model": "y"}]}'
bad 'no combination of workload and server in common' '{"results": [{"workload": "x"}]}'
refused 'is not a number' diff "$work/a.json" "$work/a.json" --fail-above much
refused 'it must be one of: requests_per_s' diff "$work/a.json" "$work/a.json" --metric speed

# told STATUS TEXT ARGUMENT...
told() {
  local expected=$1 text=$2
  shift 2
  timeout 20 "$bench" diff "$@" > "$work/table" 2> "$work/err"
  local status=$?
  [ $status -eq "$expected" ] || fail "diff $*: status $status, not $expected: $(cat "$work/err")"
  grep -qF -- "$text" "$work/table" || fail "diff $*: does not say \"$text\": $(cat "$work/table")"
}
told 0 '0 faster, 0 slower, 1 no difference' "$work/a.json" "$work/a.json" --fail-above 10%
told 0 '1 faster' "$work/slow.json" "$work/a.json" --fail-above 10%
told 3 '1 too noisy' "$work/a.json" "$work/one.json" --fail-above 10%
told 0 '1 slower' "$work/a.json" "$work/slow.json" --fail-above 50 --json "$work/diff.json"
told 1 '1 slower' "$work/a.json" "$work/slow.json"
told 1 '1 slower' "$work/a.json" "$work/slow.json" --fail-above 10%
grep -qF 'single_reactor: requests_per_s is 29.7 % worse; demanded: at most 10 %: not met' "$work/table" || fail "what failed: $(cat "$work/table")"
for part in '"verdict": "slower"' '"interval": [' '"confidence": 0.9' '"kernel": "6.1"'; do
  grep -qF "$part" "$work/diff.json" || fail "diff.json lacks $part"
done
exit $((failures > 0))
