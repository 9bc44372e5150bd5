#!/usr/bin/env bash
# bus_top_test <build tree>: bus_top shows the routes, the counters and the shared memory of a node in use.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

in_background "$work/announced" "$work/errors" bus_worker --id 1 --listen "unix:$work/1.bus"
says 'node 1'
first_pid=$server_pid
in_background "$work/second" "$work/second" bus_worker --id 2 --peers "1=unix:$work/1.bus" --per-second 1000
second_pid=$server_pid server_pid=$first_pid
trap 'kill "$second_pid" 2> /dev/null || true; cleanup' EXIT
says 'node 2' "$work/second"

# The second node may still be connecting.
for ((i = 0; i < 100; ++i)); do
  out=$(timeout 20 "$examples/bus_top" --node 1 --at "unix:$work/1.bus" --times 1 2>&1) || fail "bus_top: $out"
  [[ $out != *'route to 2: shm'* || ! $out =~ delivered\ +[1-9] ]] || break
done
[[ $out == "node 1, process $server_pid"* ]] || fail "no node: $out"
[[ $out == *'route to 2: shm'* ]] || fail "no route: $out"
[[ $out =~ delivered\ +[1-9] ]] || fail "no counter: $out"
[[ $out =~ shared\ memory:\ [0-9]+\ bytes,\ [0-9]+\ of\ them\ used,\ for\ 64\ connections ]] || fail "no file: $out"
[[ $out =~ to\ the\ node:\ +[1-9][0-9]*\ bytes,\ +[0-9]+\ %\ full ]] || fail "no ring: $out"

# Two at once, neither of which replaces the other.
tops=()
for i in 1 2; do
  timeout 20 "$examples/bus_top" --node 1 --at "unix:$work/1.bus" --times 20 --interval-ms 10 > "$work/top$i" 2>&1 &
  tops+=($!)
done
for i in 1 2; do wait "${tops[i - 1]}" || fail "bus_top $i of two: $(< "$work/top$i")"; done
[[ $(cat "$work/top1" "$work/top2" | grep -c '^reconnects') == 0 ]] || fail "they replace each other: $(< "$work/top2")"

kill "$second_pid"
wait "$second_pid" || fail "the second node ends with $?: $(< "$work/second")"
stop
status=0
out=$(timeout 20 "$examples/bus_top" --node 1 --at "unix:$work/1.bus" --times 1 2>&1) || status=$?
[[ $status == 1 && $out == *'node 1 does not answer'* ]] || fail "nobody listens: $status: $out"
for wrong in '' '--node 0' '--node 1' '--node 1 --at nowhere'; do
  status=0
  # shellcheck disable=SC2086
  out=$(timeout 10 "$examples/bus_top" $wrong 2>&1) || status=$?
  [[ $status == 2 && $out == 'bus_top: '* && $out != *$'\n'* ]] || fail "'$wrong': exit status $status: $out"
done
for wrong in '--peers 1' '--peers =unix:@x' '--peers x=unix:@x' '--peers 2=nowhere' '--listen nowhere'; do
  status=0
  # shellcheck disable=SC2086
  out=$(timeout 10 "$examples/bus_worker" $wrong 2>&1) || status=$?
  [[ $status == 2 && $out == 'bus_worker: '* && $out != *$'\n'* ]] || fail "'$wrong': exit status $status: $out"
done
