#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# profile_test.sh BUILD: serve --profile writes profiles of gperftools, or names the missing package.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/lib.sh"

refused 'write cpu=FILE or heap=FILE' serve --profile disk=x
refused 'write cpu=FILE or heap=FILE' serve --profile cpu=
refused 'is a directory' serve --profile "heap=$work"
if ! timeout 20 "$bench" serve --profile "cpu=$work/none" --duration 10ms > "$work/out" 2> "$work/err"; then
  refused 'libprofiler.so.0 is not installed; apt-get install google-perftools' serve --profile "cpu=$work/none"
  skip "$(cat "$work/err")"
fi

# profiled KIND: what a server in which a load has run leaves behind at $work/KIND.
profiled() {
  serve --model 4 --profile "$1=$work/$1"
  timeout 60 "$bench" load "$address" --connections 20 --quick > "$work/out" 2>&1 || fail "$1: $(cat "$work/out" "$work/serve")"
  stop_server
}
profiled cpu
{ [ -s "$work/cpu" ] && grep -q 'interrupts/evictions/bytes = [1-9]' "$work/serve"; } || fail "no samples: $(cat "$work/serve")"
profiled heap
grep -q '^heap profile: ' "$work/heap.0001.heap" || fail "no heap profile: $(cat "$work/serve")"

[ $failures -eq 0 ] && echo 'profiles are written'
exit $((failures > 0))
