#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# redis_test.sh BUILD_DIR: quintet-bench peers --workloads kv measures both servers and leaves neither running.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"
needs redis-server redis-benchmark
[ -x "$1/examples/kv" ] || skip "$1/examples/kv has not been built; configure with -DQUINTET_EXAMPLES=ON"

ln -s "$(realpath "$1/examples/kv")" "$work/kv"
timeout 60 "$bench" peers --workloads kv --kv "$work/kv" --rounds 1 --duration 50ms --warm-up 50ms --no-counters \
  --json "$work/kv.json" > "$work/table" 2> "$work/err"
judge $? 'peers --workloads kv'
for part in 'kv: 100 connections' 'kv-pipeline: 100 connections' '16 in flight' \
  'single_reactor needs [0-9.]* times the CPU of redis'; do
  grep -q -- "$part" "$work/table" || fail "the table does not mention $part: $(cat "$work/table")"
done
grep -q '"peer": "redis"' "$work/kv.json" || fail 'the JSON does not mention redis'
grep -la "$work/[k]v" /proc/[0-9]*/cmdline 2> /dev/null && fail 'kv is still running'

[ $failures -eq 0 ] && echo 'kv is compared with redis'
exit $((failures > 0))
