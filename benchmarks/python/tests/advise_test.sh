#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# advise_test.sh BUILD_DIR: quintet-bench advise runs an example of the tree under two models, and says why it cannot.
# Which model it takes depends on the machine.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"
[ -x "$1/examples/echo" ] || skip "$1/examples/echo has not been built; configure with -DQUINTET_EXAMPLES=ON"

# unused: a port at which nobody listens.
unused() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
refused 'COMMAND' advise --port 7007 --load true
refused '--load' advise --port 7007 -- "$1/examples/echo"

ln -s "$(realpath "$1/examples/echo")" "$work/echo"
port=$(unused)
load="$bench load 127.0.0.1:$port --connections 5 --duration 100ms --warm-up 20ms"
timeout 100 "$bench" advise --port "$port" --models 2,4 --rounds 2 --load "$load" --json "$work/found.json" \
  -- "$work/echo" --port "$port" > "$work/table" 2> "$work/err"
status=$?
{ [ $status -eq 0 ] && grep -q -- '-> take ' "$work/table"; } || { [ $status -eq 3 ] && grep -q 'too noisy: ' "$work/table"; } ||
  fail "status $status: $(cat "$work/table" "$work/err")"
for part in single_reactor loop_per_thread 'requests/s' 'run queue' switches; do
  grep -qF -- "$part" "$work/table" || fail "the table lacks $part: $(cat "$work/table")"
done
grep -q '"error": "' "$work/found.json" && fail "a run failed: $(cat "$work/found.json")"
for part in '"command": "advise"' '"round": 2' '"threads": ' '"commit": ' '"cpu_model": '; do
  grep -qF "$part" "$work/found.json" || fail "found.json lacks $part"
done

# A program that ends at once, and a load that fails.
timeout 60 "$bench" advise --port "$port" --models 2 --rounds 1 --load true -- false > "$work/table" 2> "$work/err"
{ [ $? -eq 1 ] && grep -q 'no model served the load; single_reactor failed: the server ended with status 1' "$work/table"; } ||
  fail "a program that ends: $(cat "$work/table" "$work/err")"
timeout 60 "$bench" advise --port "$port" --models 2 --rounds 1 --load 'sh -c "exit 4"' -- "$work/echo" --port "$port" \
  > "$work/table" 2> "$work/err"
{ [ $? -eq 1 ] && grep -q 'the load ended with status 4' "$work/table"; } || fail "a load that fails: $(cat "$work/table")"

# Ctrl-C ends program and load, and shows what was measured.
interrupted ' 1 of ' advise --port "$port" --models 2 --rounds 50 --load "$load" -- "$work/echo" --port "$port"
grep -q single_reactor "$work/table" || fail "after Ctrl-C: $(cat "$work/table")"
grep -la "$work/[e]cho" /proc/[0-9]*/cmdline 2> /dev/null && fail 'the program is still running'
exit $((failures > 0))
