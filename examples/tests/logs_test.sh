#!/usr/bin/env bash
# logs_test <build tree>: the servers' log: limits and attacks are in it, it can be rotated, and its reader may vanish.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# appears <file>: waits until the file exists.
appears() {
  local i
  for ((i = 0; i < 500; ++i)); do
    [[ ! -e $1 ]] || return 0
    sleep 0.02
  done
  fail "$1 does not appear"
}

# A limit that ends a connection, also before its first byte.
start kv --idle-timeout-s 1 --log "$work/log"
[[ -z $(talk "$port" '' 20) ]] || fail 'a silent client got a reply'
says ' info 127\.0\.0\.1:[0-9]+: a connection is closed: ' "$work/log"
mv "$work/log" "$work/log.1"
kill -HUP "$server_pid"
appears "$work/log"  # at once, although nothing is logged
[[ -z $(talk "$port" '' 20) ]] || fail 'a silent client got a reply'
says ' info 127\.0\.0\.1:[0-9]+: a connection is closed: ' "$work/log"
stop
[[ $(grep -c 'a connection is closed' "$work/log.1") == 1 ]] || fail "the old log is still written: $(cat "$work/log.1")"

# Each process of prefork opens the log again.
start prefork --processes 2 --log "$work/many"
says ' runs$'
mv "$work/many" "$work/many.1"
kill -HUP "$server_pid"
appears "$work/many"
uses_old() { find /proc/[0-9]*/fd -lname "$work/many.1" 2> /dev/null | grep -q .; }
for ((i = 0; i < 500; ++i)); do
  uses_old || break
  sleep 0.02
done
! uses_old || fail 'a process still has the renamed log open'
stop

# A pipe that nobody reads.
mkfifo "$work/unread"
status=0
out=$(timeout 10 "$examples/echo" --port 0 --log "$work/unread" 2>&1) || status=$?
[[ $status == 2 && $out == "echo: --log: $work/unread: it is a pipe or a socket that no process reads" ]] || fail "status $status: $out"

# A web page that attacks kv. It learns nothing, and the operator does.
start kv
[[ -z $(talk "$port" 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\nSET pwned yes\r\n' 20) ]] || fail 'a reply to POST'
[[ $(talk "$port" 'GET pwned\r\nQUIT\r\n' 20) == $'$-1\r\n+OK\r' ]] || fail 'POST was carried out'
warned ' warning 127\.0\.0\.1:[0-9]+: closed a client that speaks HTTP'
stop

# The program that reads the log has ended.
mkfifo "$work/pipe"
exec 5<> "$work/pipe"
: > "$work/announced"
"$examples/proxy" --port 0 --upstream 127.0.0.1:1 > "$work/announced" 2> "$work/pipe" 5<&- &
server_pid=$!
says '^proxy: '
exec 5<&-
[[ $(< "$work/announced") =~ :([0-9]+)$ ]]
for _ in 1 2 3; do [[ -z $(talk "${BASH_REMATCH[1]}" 'hello\n' 20) ]] || fail 'an upstream that does not exist replies'; done
: > "$work/errors"
stop

# The system refuses a thread: the error names it, and nothing has been announced.
chmod 755 "$work"
cp "$examples/kv" "$work/kv"
one_thread=(bash -c 'ulimit -u 1 && exec "$0" --port 0 --model loop_per_thread' "$work/kv")
[[ $UID != 0 ]] || one_thread=(setpriv --reuid=65534 --regid=65534 --clear-groups "${one_thread[@]}")  # root has no limit
status=0
out=$(cd "$work" && timeout 20 "${one_thread[@]}" 2>&1) || status=$?
[[ $status == 2 && $out == 'kv: cannot start the thread qnt-loop-0 '* && $out != *$'\n'* ]] || fail "status $status: $out"
