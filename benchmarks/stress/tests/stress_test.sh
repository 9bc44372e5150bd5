#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# stress_test.sh BUILD_DIR: every scenario with a few peers, and wrong options. Asserts on counts, never on times.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'scenario' stress
refused 'slow-writers,' stress frobnicate
refused 'model' stress resets --model 6
refused 'whole' stress resets --peers 0
refused 'ulimit' stress idle --peers 100000000
refused '1min' stress slow-writers --deadline 2min
refused 'no loops that accept' stress idle --model 3,4 --accept reuse_port
refused 'it must be one of: main_reactor, reuse_port' stress idle --accept reuseport
refused '--bogus' stress resets --bogus
"$bench" stress --help | grep -F 'quintet-bench stress resets' > /dev/null || fail "--help has no example"

# run SCENARIO OPTION...: all figures in $work/json, one to a line. What takes how long is the machine's business, and
# so is then the status.
run() {
  timeout 150 "$bench" stress "$@" --rounds 1 --window 200ms --json "$work/raw" > "$work/out" 2>&1
  local status=$?
  [ $status -le 1 ] || fail "stress $*: status $status: $(cat "$work/out")"
  grep -q '"failure": "' "$work/raw" && fail "stress $*: $(cat "$work/out")"
  tr -d ' {}' < "$work/raw" | tr ',' '\n' > "$work/json"
}
# expect COUNT KEY VALUE: so many runs have found this.
expect() {
  local found
  found=$(grep -cxF "\"$2\":$3" "$work/json")
  [ "$found" -eq "$1" ] || fail "$2 is $3 in $found of $1 runs: $(cat "$work/out")"
}

run resets --peers 2000
expect 5 resets 2000
expect 5 served_after 100
expect 5 good_failed 0

run slow-writers --peers 20 --deadline 300ms
expect 5 closed 20
expect 5 good_failed 0

run idle --peers 200
expect 5 idle_answered 200
expect 5 idle_unanswered 0
expect 5 good_failed 0

# More than one table of descriptors has room for.
(ulimit -n 1500 && run idle --model 4 --peers 2000 --loops 3 --accept reuse_port --own-descriptors) || exit 1
expect 1 idle_answered 2000
expect 1 idle_unanswered 0
expect 1 good_failed 0

run descriptors --peers 10
expect 5 waiting 10
expect 5 closed 0
expect 5 wrong 0
expect 5 good_failed 0

run flood --peers 100
expect 5 served_at_limit 46
expect 5 failed 0
expect 5 served_afterwards 100
expect 5 good_failed 0

run overload --peers 50
expect 5 lost 0

# Two peers: 128 MiB asked for, and as much allowed.
run non-readers --peers 2 --model 2
expect 1 asked 2
expect 1 good_failed 0

# A server that ends is a failure with one line, and status 1.
cat > "$work/ends" <<'SERVER'
#!/bin/sh
exit 3
SERVER
chmod +x "$work/ends"
timeout 60 "$bench" stress resets --model 4 --peers 10 --program "$work/ends" > "$work/out" 2> "$work/err"
status=$?
[ $status -eq 1 ] || fail "a server that ends: status $status, not 1"
[ "$(grep -c 'FAILED: the server ended with status 3' "$work/out")" -eq 1 ] || fail "no reason: $(cat "$work/out")"

# A run that takes too long is a failure, and Ctrl-C an end with what was found until then; nothing is left running.
timeout 60 "$bench" stress resets --model 4 --peers 100000000 --within 300ms > "$work/out" 2>&1
status=$?
[ $status -eq 1 ] || fail "a run that takes too long: status $status, not 1"
grep -q 'FAILED: it did not end in time' "$work/out" || fail "too long: $(cat "$work/out")"
interrupted 'round 1 of' stress idle --model 4 --peers 10 --rounds 1000 --json "$work/raw"
grep -q '"interrupted": true' "$work/raw" || fail "interrupted: no results written"
grep -la "[q]uintet-bench-$pid.stress" /proc/[0-9]*/cmdline 2> /dev/null && fail "interrupted: the server is still there"

[ $failures -eq 0 ] && echo "stress behaves"
exit $((failures > 0))
