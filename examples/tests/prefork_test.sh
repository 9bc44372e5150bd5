#!/usr/bin/env bash
# prefork_test <build tree>: several processes serve one port. A process that dies is replaced, a signal drains all, and they
# end with their parent.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

echoes() { [[ $(first_line "$port" 'hello\n') == hello ]] || fail "no echo $*"; }
# running: sets `pids` to the processes that the parent has started and not reported as ended.
running() {
  pids=$(awk '/ runs$/ {alive[$3]} / (was ended by|ended with) / {delete alive[$3]} END {for (p in alive) print p}' "$work/announced")
}
ends() { [[ $(grep -c " $1\$" "$work/announced") == "$2" ]] || fail "not $2 lines '$1': $(cat "$work/announced")"; }

start prefork --processes 3
says ' runs$'
until running && [[ $(wc -w <<< "$pids") == 3 ]]; do sleep 0.02; done
for pid in $pids; do
  [[ $(awk '/^PPid:/ {print $2}' "/proc/$pid/status") == "$server_pid" ]] || fail "$pid is no child"
done
for ((n = 0; n < 8; ++n)); do echoes; done

# The others serve on while one is replaced.
first=${pids%%$'\n'*}
kill -KILL "$first"
says "^prefork: process $first was ended by signal 9\$"
for ((n = 0; n < 8; ++n)); do echoes "after $first was killed"; done
until running && [[ $(wc -w <<< "$pids") == 3 ]]; do sleep 0.02; done
! grep -qx "$first" <<< "$pids" || fail "$first runs again"

# A stop drains: connections that are open are closed by the children, which end with status 0.
exec 4<> "/dev/tcp/127.0.0.1/$port"
echo hello >&4
read -r -t 20 answer <&4 && [[ $answer == hello ]] || fail 'no echo before the stop'
stop
[[ -z $(timeout 10 cat <&4) ]] || fail 'more than was sent'
exec 4<&-
says '^prefork: stopping 3 processes$'
ends 'ended with status 0' 3
served=$(awk '/ has accepted / {n += $6} END {print n + 0}' "$work/announced")
((served >= 9)) || fail "the processes have accepted $served connections"

# Another program of the same user cannot take the port, unless it shares it.
start prefork --processes 2
status=0
out=$(timeout 10 "$examples/echo" --port "$port" 2>&1) || status=$?
[[ $status == 2 && $out == *'in use'* ]] || fail "echo takes the port: $status, $out"
status=0
out=$(timeout 10 "$examples/prefork" --port "$port" 2>&1) || status=$?  # another one shares it by mistake
[[ $status == 2 && $out == *'in use'* ]] || fail "a second prefork takes the port: $status, $out"
stop INT
start echo
status=0
out=$(timeout 10 "$examples/prefork" --port "$port" 2>&1) || status=$?
[[ $status == 2 && $out == "prefork: cannot listen on 127.0.0.1:$port: "* && $out != *$'\n'* ]] || fail "in use: $status, $out"
stop
status=0
out=$(timeout 10 "$examples/prefork" --listen "unix:$work/socket" 2>&1) || status=$?
[[ $status == 2 && $out == *'allowed only for IP addresses'* && $out != *$'\n'* ]] || fail "a Unix socket: $status, $out"

# Of two that start at once, one has the port.
for ((n = 0; n < 5; ++n)); do
  in_background "$work/one" "$work/one" prefork --port "$port" --processes 1
  one=$server_pid
  in_background "$work/two" "$work/two" prefork --port "$port" --processes 1
  two=$server_pid
  for ((t = 0; t < 500; ++t)); do
    ! grep -qs ' runs$' "$work/one" "$work/two" || ! grep -qs 'in use' "$work/one" "$work/two" || break
    sleep 0.02
  done
  ((t < 500)) || fail "two at once: $(cat "$work/one" "$work/two")"
  kill "$one" "$two" 2> /dev/null || true
  wait "$one" "$two" || true
done

# Children end with their parent, however it ends.
start prefork --processes 2
kill -KILL "$server_pid"
wait "$server_pid" 2> /dev/null || true
server_pid=''
for ((n = 0; n < 500; ++n)); do
  (: <> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || break
  sleep 0.02
done
((n < 500)) || fail 'a child serves without its parent'
