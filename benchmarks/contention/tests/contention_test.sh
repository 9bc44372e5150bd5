#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# contention_test.sh BUILD_DIR: quintet-bench contention as a user meets it; an io_context each needs no futex.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused '--threads: "0" is not a whole number from 1 to 1024' contention --threads 0
refused '--threads' contention --threads 2,many
refused '--connections' contention --connections 0
refused '--rounds' contention --rounds 0
"$bench" contention --help | grep -qF 'quintet-bench contention --threads 2,40' || fail '--help has no example'

timeout 100 "$bench" contention --threads 1,3 --rounds 2 --duration 150ms --warm-up 50ms --json "$work/found.json" \
  > "$work/table" 2> "$work/err" || fail "status $?: $(tail -3 "$work/err")"
for part in 'one io_context' 'an io_context each' 'p99.9' 'Published' '350,000' '2.57 times' 'Noise:' '-> 3: an io_context'; do
  grep -qF -- "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
grep -q 'failed' "$work/table" && fail "$(cat "$work/table")"
for part in '"command": "contention"' '"peer": "asio-shared"' '"peer": "asio-separate"' '"loops": 3' '"ratios"' \
  '"separate_requests_per_s": 900000'; do
  grep -qF "$part" "$work/found.json" || fail "found.json lacks $part"
done
# Where calls can be counted: three threads wake each other through one io_context, and not through three.
futex() { sed -nE "s/^ +3 thread\(s\) +$1 .* ([0-9.]+) +[0-9.]+\$/\1/p" "$work/table"; }
shared=$(futex 'one io_context') separate=$(futex 'an io_context each')
if [ -n "$shared" ]; then
  [ "$separate" = 0 ] || awk "BEGIN { exit !($separate < 0.01 && $separate < $shared) }" ||
    fail "futex calls a request: shared $shared, separate $separate"
fi

# Ctrl-C: what was measured is shown and written.
interrupted ' 2 of ' contention --threads 2 --rounds 50 --duration 200ms --warm-up 50ms --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
grep -q 'io_context' "$work/table" || fail 'interrupted: no table printed'

[ $failures -eq 0 ] && echo 'contention behaves'
exit $((failures > 0))
