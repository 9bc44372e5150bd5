#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# scaling_test.sh BUILD_DIR: quintet-bench scaling as a user meets it: wrong options and a short run.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'must be one of: echo, http_hello, kv' scaling --servers memcached
refused 'loops need a CPU each' scaling --loops 1024
needs redis-benchmark
refused '/nonexistent/kv' scaling --servers kv --kv /nonexistent/kv
for example in http_hello kv; do
  [ -x "$1/examples/$example" ] || skip "configure with -DQUINTET_EXAMPLES=ON"
done
[ "$(nproc)" -gt 1 ] || skip 'it takes two CPUs'

measured scaling --rounds 1 --duration 100ms --warm-up 50ms --json "$work/found.json"
for part in '-> echo, from 1 to 2 loops: efficiency ' '-> http_hello, from' '-> kv, from' 'published, not measured: Seastar'; do
  grep -qF -- "$part" "$work/table" || fail "the table does not mention $part: $(cat "$work/table")"
done
for part in '"command": "scaling"' '"efficiency"' '"client_apart"' '"loops": 2' '"failed": 0'; do
  grep -qF -- "$part" "$work/found.json" || fail "the JSON does not have $part"
done

[ $failures -eq 0 ] && echo 'scaling behaves'
exit $((failures > 0))
