#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# memlat_test.sh BUILD_DIR: quintet-bench memlat as a user meets it.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused '--rounds' memlat --rounds 0
refused 'is out of range' memlat --duration 1ms
refused 'may use' memlat --cpus 999
refused 'is a directory' memlat --json /
"$bench" memlat --help | grep -qF 'quintet-bench memlat --cpus' || fail '--help has no example'

timeout 100 "$bench" memlat --rounds 1 --duration 50ms --json "$work/found.json" > "$work/table" 2> "$work/err" ||
  fail "status $?: $(tail -3 "$work/err")"
for part in 'a load that waits' 'working set' ' ns' 'Not known:' 'two cores, or two threads of one'; do
  grep -qF "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
for part in '"command": "memlat"' '"what": "load"' '"median_ns"' '"not_known"' '"cpu_model"' '"interrupted": false'; do
  grep -qF "$part" "$work/found.json" || fail "found.json lacks $part"
done

# Ctrl-C: what was measured is shown and written.
interrupted ' 2 of ' memlat --rounds 200 --duration 50ms --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no figures written'

[ $failures -eq 0 ] && echo 'memlat behaves'
exit $((failures > 0))
