#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# peers_test.sh BUILD_DIR: quintet-bench peers as a user meets it: wrong options, a short run, Ctrl-C, missing programs.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused '"libhv" is not allowed; it must be one of: epoll, epoll-edge, blocking, asio, asio-coroutines, asio-uring, libevent, libuv, libev, asio-shared, asio-separate, tokio-echo' peers --peers libhv
refused '"" is not allowed' peers --peers epoll,
refused 'only echo' peers --workloads cpu:200us
refused 'is not a workload' peers --workloads ehco
refused 'is not a workload' peers --workloads echo,,kv
refused 'is not a workload' peers --workloads kv,
refused '"1,2" is not a model' peers --model 1,2
refused 'loop_per_thread_pool' peers --model 6
refused 'instructions' peers --count cycles
refused 'not of kv' peers --count instructions --workloads kv
refused 'is out of range' peers --duration 1ms
refused '--rounds' peers --rounds 0
if command -v redis-server > /dev/null; then
  refused '/nonexistent/kv' peers --workloads kv --kv /nonexistent/kv
else
  refused 'apt-get install redis-server' peers --workloads kv
fi
PATH=/nonexistent/bin:/usr/sbin /usr/bin/env "$bench" peers --count instructions > "$work/out" 2> "$work/err"
{ [ $? -eq 2 ] && grep -q 'apt-get install valgrind' "$work/err"; } || fail "without valgrind: $(cat "$work/err")"
"$bench" peers --help | grep -F 'quintet-bench peers --count instructions' > /dev/null || fail '--help has no example'

# Every peer that is built in, twice; the other servers' names are in --help.
"$bench" peers --workloads echo --rounds 2 --duration 200ms --warm-up 50ms --no-counters --connections 10 --seed 1 \
  --json "$work/peers.json" > "$work/table" 2> "$work/err"
judge $? peers
for part in 'hand-written epoll-edge' 'single_reactor ' 'single_reactor (asio)' 'single_reactor (coroutine)' asio-coroutines \
  '10 connections' '-> single_reactor needs'; do
  grep -qF -- "$part" "$work/table" || fail "the table does not mention $part: $(cat "$work/table")"
done
for part in '"command": "peers"' '"peer": "asio"' '"peer": null' '"ratios"' '"reference": "epoll"' '"failed": 0' \
  '"syscalls_per_request": null'; do
  grep -qF -- "$part" "$work/peers.json" || fail "the JSON does not have $part"
done
grep -q '"failed": [1-9]' "$work/peers.json" && fail 'requests failed'

# Ctrl-C: what was measured is shown and written, and no server or client stays behind. They run by a name of their own.
ln -s "$(realpath "$bench")" "$work/served"
interrupted ' 2 of ' peers --workloads echo --peers asio --rounds 100 --duration 100ms --no-counters \
  --program "$work/served" --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
grep -q 'CPU/req' "$work/table" || fail 'interrupted: no table printed'
grep -la "$work/[s]erved" /proc/[0-9]*/cmdline 2> /dev/null && fail 'interrupted: a process stayed behind'

[ $failures -eq 0 ] && echo 'peers behaves'
exit $((failures > 0))
