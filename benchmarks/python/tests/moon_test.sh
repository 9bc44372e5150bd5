#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# moon_test.sh BUILD_DIR: quintet-bench moon as a user meets it. Asserts on counts, never on times.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'or 1 to 5' moon --models 6
refused 'write 512, 4k or 1m' moon --cache on
refused 'neither --cache nor --engine' moon --redis --cache off
"$bench" moon --help | grep -qF 'quintet-bench moon --redis' || fail '--help has no example'

brief=(--rounds 1 --duration 100ms --warm-up 50ms)
measured moon --models 1,2 --cache off,512,64k --connections 20 "${brief[@]}" --engine epoll --json "$work/json"
for part in 'framed: 20 connections x 13 B' '16 in flight each' ' off ' ' 512 B ' ' 64 KiB ' '102,785.49' \
  'single_reactor, 1 in flight for each connection: 1.00 receives of a message; demanded: at most 1: ' \
  'thread_per_connection, 16 in flight for each connection: 0.[0-9]* receives of a message' 'changes CPU per request by'; do
  grep -q -- "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
# Two receives for each message: exactly its prefix, then exactly the rest. 512 bytes hold many messages.
tr -d ' ' < "$work/json" > "$work/dense"
for size in '2,"receives_per_request":2,' '512,"receives_per_request":1,' '65536,"receives_per_request":1,'; do
  grep -q "\"receive_size\":$size" "$work/dense" || fail "the JSON lacks $size: $(cat "$work/json")"
done
grep -q '"command":"moon"' "$work/dense" || fail 'the JSON does not say its command'

interrupted ' 2 of ' moon --models 2 --connections 20 --rounds 50 --duration 50ms --warm-up 50ms --json "$work/partial"
grep -q '"interrupted": true' "$work/partial" || fail 'interrupted: no results written'

needs redis-benchmark
[ -x "$1/examples/kv" ] || skip "$1/examples/kv has not been built; configure with -DQUINTET_EXAMPLES=ON"
refused '/nonexistent/kv' moon --redis --kv /nonexistent/kv
measured moon --redis --models 2 "${brief[@]}" --json "$work/pings"
for part in 'redis-benchmark: 100 connections' 'single_reactor *PING_INLINE *[0-9]' 'single_reactor *PING_MBULK *[0-9]' \
  'PING_INLINE *PING_MBULK$' ' ms *100.00% *100.00%$' 'PING_MBULK is [0-9.]* times that of PING_INLINE' '96,805.42'; do
  grep -q -- "$part" "$work/table" || fail "the table of --redis lacks $part: $(cat "$work/table")"
done
grep -q '"distributions": \[' "$work/pings" || fail 'the JSON has no distributions'

[ $failures -eq 0 ] && echo 'moon behaves'
exit $((failures > 0))
