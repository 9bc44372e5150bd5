#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# accept_test.sh BUILD_DIR: quintet-bench accept as a user meets it: wrong options, a short run, Ctrl-C.
# With its short windows it measures nothing on a machine that is busy.
# ctest: RUN_SERIAL LABELS long
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

refused '"everybody" is not allowed; it must be one of: main_reactor, reuse_port' accept --strategies everybody
refused '"" is not allowed' accept --strategies exclusive,
refused 'must be one of: loop_per_thread, loop_per_thread_pool' accept --model reactor_pool
refused '"4,5" is not allowed' accept --model 4,5
refused 'fastsocket' accept --preset slow
refused 'reset' accept --close never
refused 'open files' accept --connections 20000
refused 'from 1 to 20000' accept --connections 0
refused 'is out of range' accept --duration 1ms
refused '--rounds' accept --rounds 0
refused '--loops: "0" is not a whole number from 1 to 1024' accept --loops 1,0
"$bench" accept --help | grep -F 'quintet-bench accept --preset fastsocket' > /dev/null || fail '--help has no example'

# All of them, and what has counted them.
measured accept --rounds 2 --duration 200ms --warm-up 50ms --connections 20 --loops 1,2 --seed 1 --json "$work/accept.json"
# Counts, which do not depend on the machine: round robin is exact, and nobody wakes both threads for each connection.
grep -q 'main_reactor, 2 loop(s): busiest loop .*demanded: .*: met' "$work/table" || fail "round robin is out of balance"
for wakes in $(sed -n 's/.*: threads woken for a connection \([0-9.]*\).*/\1/p' "$work/table"); do
  awk "BEGIN { exit !($wakes < 1.5) }" || fail "$wakes threads woken for a connection"
done
for part in 'connections/s' 'main_reactor' 'reuse_port ' 'reuse_port_cpu' 'exclusive' 'hand-written epoll' '20 connections' \
  '1 loop(s)' 'softirq' '-> exclusive, 2 loop(s): ' '-> main_reactor, 2 loop(s): busiest loop / average 1.0'; do
  grep -qF -- "$part" "$work/table" || fail "the table does not mention $part: $(cat "$work/table")"
done
for part in '"command": "accept"' '"bounds"' '"accept": "reuse_port_cpu"' '"peer": "epoll"' '"ratios"' '"preset": "short"' \
  '"failed": 0'; do
  grep -qF -- "$part" "$work/accept.json" || fail "the JSON does not have $part"
done
grep -q '"failed": [1-9]' "$work/accept.json" && fail 'requests failed'
if ! grep -q 'Wake-ups are not counted' "$work/err"; then
  grep -q '"accept_wakes_per_connection": [01]' "$work/accept.json" || fail 'wake-ups were not counted'
fi

# Beside nginx, where it is.
refused '--close' accept --nginx --close reset
if ! PATH=$PATH:/usr/sbin command -v nginx > /dev/null; then
  refused 'apt-get install nginx' accept --nginx
elif [ ! -x "$1/examples/http_hello" ]; then
  refused 'quintet-example-http_hello' accept --nginx
else
  refused '/nonexistent/http_hello' accept --nginx --http_hello /nonexistent/http_hello
  measured accept --nginx --strategies main_reactor,reuse_port --rounds 1 --duration 200ms --warm-up 50ms --connections 20 \
    --json "$work/nginx.json"
  for part in '"peer": "nginx"' '"http": true' '"failed": 0' '"reference": "nginx"'; do
    grep -qF -- "$part" "$work/nginx.json" || fail "--nginx: the JSON does not have $part"
  done
  grep -q '"server_cpu_us_per_request": null' "$work/nginx.json" && fail '--nginx: no CPU was measured'
fi

# More loops than CPUs: nobody can be steered.
"$bench" accept --rounds 1 --duration 100ms --warm-up 50ms --connections 20 --loops 1000 --no-counters --no-peers \
  --strategies reuse_port_cpu 2> "$work/err" > "$work/table"
{ [ $? -eq 2 ] && grep -q 'nothing is left' "$work/err"; } || fail "1000 loops by CPU: $(cat "$work/err")"

# Ctrl-C: what was measured is shown and written, and no server or client stays behind. They run by a name of their own.
ln -s "$(realpath "$bench")" "$work/served"
interrupted ' 2 of ' accept --close reset --rounds 100 --duration 100ms --no-counters --program "$work/served" \
  --json "$work/partial.json"
grep -q '"interrupted": true' "$work/partial.json" || fail 'interrupted: no results written'
grep -q 'connections/s' "$work/table" || fail 'interrupted: no table printed'
grep -la "$work/[s]erved" /proc/[0-9]*/cmdline 2> /dev/null && fail 'interrupted: a process stayed behind'

[ $failures -eq 0 ] && echo 'accept behaves'
exit $((failures > 0))
