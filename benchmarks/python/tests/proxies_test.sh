#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# proxies_test.sh BUILD_DIR: quintet-bench proxies as a user meets it: wrong options, a short run, nothing left behind.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused 'must be one of: loop_per_thread, loop_per_thread_pool' proxies --model single_reactor
refused 'must be one of: main_reactor, reuse_port' proxies --accept nobody
refused 'from 1 to 9000' proxies --connections 0
refused '/nonexistent/proxy' proxies --proxy /nonexistent/proxy
"$bench" proxies --help | grep -qF 'quintet-bench proxies --rounds 9' || fail '--help has no example'
for example in proxy http_hello; do
  [ -x "$1/examples/$example" ] || skip "configure with -DQUINTET_EXAMPLES=ON"
done

ln -s "$(realpath "$1/examples/proxy")" "$work/relaying"
measured proxies --proxy "$work/relaying" --rounds 1 --duration 200ms --warm-up 50ms --connections 20 --json "$work/found.json"
for part in 'connections/s' 'proxy, loop_per_thread (reuse_port)' 'It misquotes' 'Noise:'; do
  grep -qF -- "$part" "$work/table" || fail "the table does not mention $part: $(cat "$work/table")"
done
for other in haproxy nginx; do
  grep -qE "proxy has [0-9.]+ times the connections of $other|^  $other is left out: .*apt-get install" "$work/table" ||
    fail "$other was neither measured nor left out: $(cat "$work/table")"
done
for part in '"command": "proxies"' '"missing"' '"percent"' '"failed": 0'; do
  grep -qF -- "$part" "$work/found.json" || fail "the JSON does not have $part"
done
grep -q '"server_cpu_us_per_request": null' "$work/found.json" && fail 'no CPU was measured'
grep -la "$work/[r]elaying" /proc/[0-9]*/cmdline 2> /dev/null && fail 'a proxy stayed behind'

[ $failures -eq 0 ] && echo 'proxies behaves'
exit $((failures > 0))
