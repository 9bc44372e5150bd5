#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# diff_test.sh BUILD_DIR: quintet-bench diff as a user and as continuous integration meet it.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

# results FILE SPEED...: a file of results, a round for each speed.
results() {
  local file=$1 round=0 separator=
  shift
  {
    echo '{"quintet": "0.1", "command": "compare", "environment": {"kernel": "6.1"}, "results": ['
    for speed in "$@"; do
      round=$((round + 1))
      echo "$separator{\"workload\": \"echo\", \"model\": \"single_reactor\", \"round\": $round, \"requests_per_s\": $speed}"
      separator=,
    done
    echo ']}'
  } > "$file"
}
results "$work/a.json" 100 101 102
results "$work/slow.json" 70 71 72
results "$work/one.json" 100

refused 'before is required' diff
refused 'after is required' diff "$work/a.json"
refused 'cannot read /nonexistent.json' diff /nonexistent.json "$work/a.json"
echo '{"results": [' > "$work/bad.json"
refused "$work/bad.json: not JSON: line 2: incomplete JSON" diff "$work/bad.json" "$work/a.json"
printf '{\n"results": [\n{"workload" 3}]}' > "$work/bad.json"
refused "not JSON: line 3: syntax error" diff "$work/bad.json" "$work/a.json"
echo '{"command": "stress"}' > "$work/bad.json"
refused 'no "results" array' diff "$work/a.json" "$work/bad.json"
echo '{"results": [{"workload": "x"}, {"model": "y"}]}' > "$work/bad.json"
refused 'member 2 of "results": a result has no "workload"' diff "$work/bad.json" "$work/a.json"
echo '{"results": [{"workload": "x"}]}' > "$work/bad.json"
refused 'no combination of workload and server in common' diff "$work/a.json" "$work/bad.json"
refused 'is not a percentage' diff "$work/a.json" "$work/a.json" --fail-above much
refused 'it must be one of: requests_per_s' diff "$work/a.json" "$work/a.json" --metric speed
"$bench" diff --help | grep -qF 'quintet-bench diff main.json branch.json' || fail '--help has no example'

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
told 0 '0 faster, 1 slower' "$work/a.json" "$work/slow.json" --json "$work/diff.json"
told 0 '1 faster' "$work/slow.json" "$work/a.json" --fail-above 10%
told 1 '1 slower' "$work/a.json" "$work/slow.json" --fail-above 10%
grep -qF 'single_reactor: requests_per_s is 29.7 % worse' "$work/err" || fail "what failed: $(cat "$work/err")"
told 0 '1 slower' "$work/a.json" "$work/slow.json" --fail-above 50
told 0 '1 too noisy' "$work/a.json" "$work/one.json" --fail-above 10%
for part in '"verdict": "slower"' '"interval": [' '"confidence": 0.9' '"kernel": "6.1"'; do
  grep -qF "$part" "$work/diff.json" || fail "diff.json lacks $part"
done

[ $failures -eq 0 ] && echo 'diff behaves'
exit $((failures > 0))
