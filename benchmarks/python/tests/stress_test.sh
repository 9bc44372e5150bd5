#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# stress_test.sh BUILD_DIR: every scenario and attack with a few peers. Asserts on counts, never on times.
# ctest: TIMEOUT 400 LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'resets, slow-writers,' stress frobnicate
refused '--bogus' stress resets --bogus
refused 'HOST:PORT' stress --server 127.0.0.1

# run SCENARIO OPTION...: all figures in $work/json, one to a line. Times, and so the status, depend on the machine.
run() {
  timeout 150 "$bench" stress "$@" --rounds 1 --window 200ms --json "$work/raw" > "$work/out" 2>&1
  local status=$?
  [ $status -le 1 ] || [ $status -eq 3 ] || fail "stress $*: status $status: $(cat "$work/out")"
  grep -q '"failure": "' "$work/raw" && fail "stress $*: $(cat "$work/out")"
  tr -d ' ' < "$work/raw" | tr '{},' '\n' > "$work/json"
}
# expect COUNT KEY:VALUE...: so many runs have found each of these.
expect() {
  local count=$1 found
  shift
  for pair in "$@"; do
    found=$(grep -cxF "\"${pair%:*}\":${pair#*:}" "$work/json")
    [ "$found" -eq "$count" ] || fail "$pair in $found of $count runs: $(cat "$work/out")"
  done
}

run resets --peers 2000
expect 5 resets:2000 served_after:100 good_failed:0
run slow-writers --peers 20 --deadline 300ms
expect 5 closed:20 good_failed:0
run idle --peers 200
expect 5 idle:200 active:100 idle_answered:200 idle_unanswered:0 good_failed:0
# More than one table of descriptors has room for.
(ulimit -n 1500 && run idle --model 4 --peers 2000 --loops 3 --accept reuse_port --own-descriptors
  exit "$failures") || failures=$((failures + 1))
expect 1 idle_answered:2000 idle_unanswered:0 good_failed:0
run descriptors --peers 10
expect 5 waiting:10 closed:0 wrong:0 good_failed:0
run flood --peers 100
expect 5 served_at_limit:46 closed:0 wrong:0 served_afterwards:100 good_failed:0
run overload --peers 50
expect 5 lost:0
run non-readers --peers 2 --model 2  # 128 MiB asked for, and as much allowed
expect 1 asked:2 good_failed:0

# A server that ends is a failure with one line, and so is a run that takes too long.
printf '#!/bin/sh\nexit 3\n' > "$work/ends"
chmod +x "$work/ends"
ended() {
  local reason=$1
  shift
  timeout 60 "$bench" stress resets --model 4 "$@" > "$work/out" 2> "$work/err"
  [ $? -eq 1 ] && [ "$(grep -c "FAILED: $reason" "$work/out")" -eq 1 ] || fail "$reason: $(cat "$work/out" "$work/err")"
}
ended 'the server ended with status 3' --program "$work/ends"
ended 'it did not end in time' --peers 100000000 --within 300ms

# Ctrl-C ends it with what was found until then, and nothing is left running.
ln -s "$(realpath "$bench")" "$work/serves"
interrupted 'round 1 of' stress idle --model 4 --peers 10 --rounds 1000 --json "$work/raw" --program "$work/serves"
grep -q '"interrupted": true' "$work/raw" || fail 'interrupted: no results written'
grep -laF "$work/serves" /proc/[0-9]*/cmdline 2> /dev/null && fail 'interrupted: the server is still there'

serve --model loop_per_thread --loops 2
timeout 150 "$bench" stress --server "$address" --peers 40 --bound 1500ms --window 3 > "$work/out" 2> "$work/err"
[ "$(grep -c ', 127.0.0.1:[0-9]*: passed$' "$work/out")" -eq 7 ] || fail "not seven attacks: $(cat "$work/out")"
interrupted "silence, $address: 40 peers" stress silence --server "$address" --peers 40
exit $((failures > 0))
