#!/usr/bin/env bash
# embed_test <build tree>: in each model both servers of embed answer while the program works, and SIGTERM drains both.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# reports: sets report_port, the port of the server inside the program's loop, from the second line of the output.
reports() {
  local i line
  for ((i = 0; i < 500; ++i)); do
    line=$(sed -n 2p "$work/announced")
    [[ ! $line =~ ^reports:\ 127\.0\.0\.1:([0-9]+)$ ]] || { report_port=${BASH_REMATCH[1]}; return; }
    sleep 0.02
  done
  fail "it announced $(cat "$work/announced")"
}
ticks() {
  local answer
  exec 4<> "/dev/tcp/127.0.0.1/$report_port"
  echo >&4
  read -r -t 10 answer <&4 || fail 'no report'
  exec 4<&-
  [[ $answer =~ ^([0-9]+)\ ticks$ ]] || fail "reported '$answer'"
  count=${BASH_REMATCH[1]}
}
refuses() {
  ! (exec 5<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}

for model in "${models[@]}"; do
  start embed --model "$model" --report-port 0 --tick-ms 1
  reports
  [[ $(first_line "$port" 'hello\n') == hello ]] || fail "$model: no echo"
  ticks
  first=$count
  until ticks && ((count > first)); do sleep 0.02; done  # the program works without requests too

  # Both servers have a client when the signal arrives. Each client has its answer; both are closed.
  exec 6<> "/dev/tcp/127.0.0.1/$port" 7<> "/dev/tcp/127.0.0.1/$report_port"
  echo hello >&6 && read -r -t 10 answer <&6 && [[ $answer == hello ]] || fail "$model: no echo"
  echo >&7 && read -r -t 10 answer <&7 && [[ $answer == *ticks ]] || fail "$model: no report"
  kill -TERM "$server_pid"
  [[ -z $(timeout 10 cat <&6) && -z $(timeout 10 cat <&7) ]] || fail "$model: more than was asked for"
  exec 6<&- 7<&-
  status=0
  wait "$server_pid" || status=$?
  server_pid=''
  ((status == 0)) || fail "$model: exit status $status: $(cat "$work/errors")"
  [[ ! -s $work/errors ]] || fail "$model: printed $(cat "$work/errors")"
  refuses "$port" && refuses "$report_port" || fail "$model: somebody listens"
done

# A port in use, of either server.
start embed --report-port 0
reports
for options in "--port $port --report-port 0" "--port 0 --report-port $report_port"; do
  status=0
  # shellcheck disable=SC2086
  out=$(timeout 10 "$examples/embed" $options 2>&1) || status=$?
  [[ $status == 2 && $out == "embed: cannot listen on 127.0.0.1:"* && $out != *$'\n'* ]] || fail "$options: $status, $out"
done
stop INT
