#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# bus_test.sh BUILD_DIR: quintet-bench bus as a user meets it. Asserts on counts, never on times.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'it must be one of: shm, unix, tcp' bus --route mem
refused 'no room for their number' bus --sizes 4..128
refused '65536' bus --sizes 8..100000
refused 'from 1 to 16' bus --senders 17
refused 'nobody to send to' bus --nodes 1
refused '--route: mem is for nodes of one process' probe bus --route mem
refused 'no room for their number' probe bus --sizes 4..8
refused 'nobody to send to' probe bus --all-to-all 1
"$bench" bus --help | grep -qF 'quintet-bench bus --quick' || fail '--help has no example'

measured bus --route shm,tcp --sizes 8..128,128,16384 --senders 2 --rounds 1 --duration 50ms --seed 5 --json "$work/json"
for part in 'shm, 8 to 128 B, 2 senders' 'published, after, static' 'a write for each' 'messages of one size, merged' \
  '6 processes, all to all' 'tcp, 8 to 128 B: merging carries' '128 B carry'; do
  grep -qF -- "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
sed "/\"runs\"/,\$ d" "$work/json" | tr -d ' ' > "$work/dense"
for part in '"command":"bus"' '"seed":5' '"senders":2' '"way":"alltoall"' '"verdicts":['; do
  grep -qF "$part" "$work/dense" || fail "the JSON lacks $part: $(cat "$work/json")"
done
# A message of its own has a write of its own; merged ones share writes.
writes() { sed -n "s/^{\"route\":\"shm\",\"sizes\":\"8..128\",\"merging\":$1,\"way\":\"toone\",.*\"writes_per_message\":\([0-9.e-]*\),.*/\1/p" "$work/dense"; }
awk "BEGIN { exit !($(writes true) < 0.1 && $(writes false) > 0.5 && $(writes false) < 1.2) }" ||
  fail "writes for a message: $(writes true) merged, $(writes false) single"

interrupted ' 2 of ' bus --rounds 500 --duration 50ms --nodes 0 --json "$work/partial"
grep -q '"interrupted": true' "$work/partial" || fail 'interrupted: no results written'

[ $failures -eq 0 ] && echo 'the bus command behaves'
exit $((failures > 0))
