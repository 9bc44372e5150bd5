#!/usr/bin/env bash
# socket_activation_test <build tree>: the examples serve TCP and Unix sockets that systemd has opened.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs systemd-socket-activate redis-cli

sockets=0
# activate <command...>: starts it on a random port and a Unix socket. Retries, because the port may be in use.
activate() {
  local try i
  for try in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 10000))
    socket=$work/socket-$((++sockets))
    systemd-socket-activate -l "127.0.0.1:$port" -l "$socket" "$@" > "$work/announced" 2> "$work/errors" &
    server_pid=$!
    for ((i = 0; i < 500; ++i)); do
      [[ ! -S $socket ]] || return 0
      kill -0 "$server_pid" 2> /dev/null || break
      sleep 0.02
    done
    wait "$server_pid" || true
  done
  fail "systemd-socket-activate does not start: $(cat "$work/errors")"
}

# end: stops the server, which the activator has become by exec. The socket files belong to the parent and must stay.
end() {
  kill -TERM "$server_pid"
  wait "$server_pid" || fail "exit status $?: $(cat "$work/errors")"
  server_pid=''
  [[ -S $socket ]] || fail 'the server has removed a file that is not its own'
}

for model in "${models[@]}"; do
  activate "$examples/kv" --model "$model"
  redis-cli -p "$port" set planet Mars > "$work/reply" || fail "kv, $model: no answer"
  [[ $(cat "$work/reply") == OK ]] || fail "kv, $model: over TCP: $(cat "$work/reply")"
  [[ $(redis-cli -s "$socket" get planet) == Mars ]] || fail "kv, $model: over the Unix socket"
  grep -qxF "kv: $model, 127.0.0.1:$port, unix:$socket" "$work/announced" || fail "announced $(cat "$work/announced")"
  end
done

# A socket named "priority" is served by the priority loop. A process with another pid ignores the variables.
activate --fdname=web:priority "$examples/echo"
[[ $(first_line "$port" 'hello\n') == hello ]] || fail 'echo: no echo'
grep -qF ", priority unix:$socket" "$work/announced" || fail "no priority loop: $(cat "$work/announced")"
end
LISTEN_PID=1 LISTEN_FDS=1 start echo
stop

# A violation of the protocol is reported in one line.
status=0
out=$(bash -c 'LISTEN_PID=$$ LISTEN_FDS=many exec "$0"' "$examples/echo" 2>&1) || status=$?
[[ $status == 2 && $out == "echo: LISTEN_FDS is 'many'"* && $out != *$'\n'* ]] || fail "status $status: $out"
status=0
out=$(bash -c 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" 3< /dev/null' "$examples/echo" 2>&1) || status=$?
[[ $status == 2 && $out == "echo: "*'descriptor 3'*'not a listening'* ]] || fail "status $status: $out"
