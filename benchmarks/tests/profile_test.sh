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
  [ $failures -eq 0 ] && echo "skipped: $(cat "$work/err")" && exit 77
  exit 1
fi

# profiled KIND: what a server in which a load has run leaves behind at $work/KIND.
profiled() {
  "$bench" serve --model 4 --exit-with-parent --profile "$1=$work/$1" > "$work/serve" 2> "$work/err" &
  local server=$! address=
  for _ in $(seq 100); do
    address=$(sed -n 's/^listening on //p' "$work/serve")
    [ -n "$address" ] && break
    sleep 0.1
  done
  timeout 60 "$bench" load "$address" --connections 20 --quick > "$work/out" 2>&1 || fail "$1: $(cat "$work/out" "$work/err")"
  kill -TERM $server
  wait $server || fail "$1: the server ended with status $?: $(cat "$work/err")"
}
profiled cpu
{ [ -s "$work/cpu" ] && grep -q 'interrupts/evictions/bytes = [1-9]' "$work/err"; } || fail "no samples: $(cat "$work/err")"
profiled heap
grep -q '^heap profile: ' "$work/heap.0001.heap" || fail "no heap profile: $(cat "$work/err")"

[ $failures -eq 0 ] && echo 'profiles are written'
exit $((failures > 0))
