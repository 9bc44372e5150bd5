#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# shm_test.sh BUILD_DIR: quintet-bench shm as a user meets it. Asserts on counts, never on times.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'it must be one of: tcp, unix, shm' shm --transports pipe
refused 'from 1us to 100ms' shm --spin 1s
refused 'or 1 to 5' shm --model 6
refused 'poll not in {read,epoll}' probe doorbell --wait poll
"$bench" shm --help | grep -qF 'quintet-bench shm --quick' || fail '--help has no example'
[ "$(nproc)" -ge 2 ] || skip 'eventfds between two CPUs need two'

for how in read epoll; do
  "$bench" probe doorbell --wait $how --duration 50ms > "$work/probe" || fail "probe doorbell --wait $how"
  grep -q "\"wait\":\"$how\",\"round_trips\":[1-9].*\"p50_us\":[0-9.E+]*,\"p99_us\":" "$work/probe" ||
    fail "probe doorbell: $(cat "$work/probe")"
done

brief=(--rounds 1 --duration 200ms --warm-up 50ms)
measured shm "${brief[@]}" --connections 20 --idle 100 --engine epoll --json "$work/json"
for part in 'latency: 1 connection x 8 B' 'eventfd, two threads' 'shm, spinning' 'shm, asleep' 'echo: 20 connections x 8 B' \
  'times the p50 of two threads with eventfds' 'times the requests/s of tcp' 'idle: bytes of each of 100 connections'; do
  grep -q -- "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
tr -d ' ' < "$work/json" > "$work/dense"
for part in '"command":"shm"' '"transport":"unix"' '"spin_us":1000,' '"segment_bytes_per_connection":' '"verdicts":['; do
  grep -qF "$part" "$work/dense" || fail "the JSON lacks $part: $(cat "$work/json")"
done
# The server has touched a page of each segment at least, and no shared memory for a socket.
for part in '"transport":"tcp".*"segment_bytes_per_connection":0,' \
  '"transport":"shm".*"segment_bytes_per_connection":[0-9][0-9][0-9][0-9]'; do
  grep -q "^{\"workload\":\"idle\".*$part" "$work/dense" || fail "the JSON lacks $part: $(cat "$work/json")"
done

interrupted ' 2 of ' shm --rounds 50 --duration 50ms --warm-up 50ms --connections 20 --json "$work/partial"
grep -q '"interrupted": true' "$work/partial" || fail 'interrupted: no results written'

[ $failures -eq 0 ] && echo 'shm behaves'
exit $((failures > 0))
