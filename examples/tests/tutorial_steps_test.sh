#!/usr/bin/env bash
# tutorial_steps_test <build tree>: what the steps of the tutorial promise, in each model.
# ctest: TIMEOUT 300
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# asked <expected> <port> <argument of tutorial_ask...>
asked() {
  local out
  out=$(timeout 60 "$examples/tutorial_ask" "${@:2}" 2>&1) || true
  [[ $out == "$1" ]] || fail "$model: ${*:2}: '$out', not '$1'"
}

# start_step1: sets server_pid and port. Step 1 prints nothing, so this picks the port, and waits for a connection.
start_step1() {
  local tries
  for ((tries = 0; tries < 50; ++tries)); do
    port=$((20000 + RANDOM % 10000))
    (exec 9<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || break
  done
  : > "$work/errors"
  QUINTET_MODEL=$model "$examples/step1_echo" "127.0.0.1:$port" 2>> "$work/errors" &
  server_pid=$!
  for ((tries = 0; tries < 500; ++tries)); do
    ! (exec 9<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || return 0
    kill -0 "$server_pid" 2> /dev/null || fail "$model: step1_echo ended at once: $(cat "$work/errors")"
    sleep 0.02
  done
  fail "$model: step1_echo accepts nothing at $port"
}

for model in "${models[@]}"; do
  start_step1
  exec 4<> "/dev/tcp/127.0.0.1/$port"
  echo hello >&4
  read -r -t 60 answer <&4 && [[ $answer == hello ]] || fail "$model: no echo"
  exec 4<&-
  stop

  start step2_frames --model "$model"
  asked $'5 bytes\n0 bytes' "$port" hello ''
  [[ -z $(talk "$port" '\0\0\20\1' 20) ]] || fail "$model: a message of 4097 bytes is not refused"
  stop

  start step3_session --model "$model"
  asked $'hello ann\nok\nblue' "$port" 'hello ann' 'set color blue' 'get color'
  asked $'hello bob\nerror: no such value' "$port" 'hello bob' 'get color'  # ann's is not bob's
  refusal='error: say hello first'
  asked "$refusal"$'\n'"$refusal"$'\n'"$refusal"$'\ntutorial_ask: the server has closed the connection' "$port" a b c 'hello ann'
  stop

  start step4_shared --model "$model"
  asked '8000 replies' "$port" --connections 8 --times 1000 'add n'
  asked 8000 "$port" 'get n'
  stop

  start step6_limits --model "$model"
  # Eight connections are in use while a ninth is refused. Each has asked for rows that it does not read.
  for ((i = 0; i < 8; ++i)); do
    exec {fd}<> "/dev/tcp/127.0.0.1/$port"
    printf '\0\0\0\16rows 100000000' >&"$fd"
    head -c 4 <&"$fd" > /dev/null  # the server has accepted it, and sends
    fds[i]=$fd
  done
  asked 'tutorial_ask: the server has closed the connection' "$port" ping
  memory=$(awk '/^VmHWM/ {print $2}' "/proc/$server_pid/status")
  # With a sanitizer a program has more memory of its own. The rows would be 8 GB.
  ((memory < 400000)) || fail "$model: $memory KiB for clients that do not read"
  for fd in "${fds[@]}"; do exec {fd}>&-; done
  warned 'a connection is refused'
  stop
done

# A slow query holds up nobody else where it has a thread of its own, or one of a pool.
for model in thread_per_connection reactor_pool loop_per_thread_pool; do
  start step5_slow --model "$model" --workers 2..2
  exec 4<> "/dev/tcp/127.0.0.1/$port"
  printf '\0\0\0\14sleep 600000' >&4
  asked pong "$port" ping
  exec 4<&-
  kill -KILL "$server_pid"  # the query would go on for ten minutes
  wait "$server_pid" 2> /dev/null || true
done
server_pid=''
