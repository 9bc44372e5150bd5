#!/usr/bin/env bash
# programs_test <build tree>: every server serves, stops on SIGTERM with exit status 0, and refuses wrong options.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# refused <text> <example> [option...]: the example must print one line with <text>, and exit with status 2.
refused() {
  local status=0 out
  out=$(timeout 10 "$examples/$2" "${@:3}" 2>&1) || status=$?
  ((status == 2)) || fail "${*:2}: exit status $status and not 2: $out"
  [[ $out == "$2: "*"$1"* && $out != *$'\n'* ]] || fail "${*:2}: says '$out', without '$1'"
}

for example in echo echo_coroutine echo_static primes kv chat http_hello slow_query client_in_coroutine time embed proxy prefork postgres \
  "${tutorial[@]}" "${optional[@]}"; do
  out=$("$examples/$example" --help) || fail "$example --help"
  [[ $out == *--port*'Try it:'* ]] || fail "$example --help prints $out"
  [[ $("$examples/$example" --version) =~ ^$example\ of\ Quintet\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$example --version"
  refused '--port' "$example" --no-such-option
  refused 'from 0 to 65535' "$example" --port 70000
  refused "'nowhere' is not an IPv4 address" "$example" --address nowhere
  refused "'nowhere:80' is invalid" "$example" --listen nowhere:80
done
for example in echo_client bus_worker bus_top kv_round_trips tutorial_ask; do
  [[ $("$examples/$example" --version) =~ ^$example\ of\ Quintet\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$example --version"
done
refused 'single_reactor, reactor_pool' echo --model 6
refused 'MIN..MAX' echo --workers 4..2
refused 'from 1 to 1024' echo --loops 0
refused 'main_reactor, reuse_port' echo --accept everybody
refused '64 to 1048576' http_hello --max-header 63
refused '0 to 1000000000' time --count -1
refused 'from 1 to 60000' embed --tick-ms 0
refused 'from 1 to 1024' prefork --processes 0
refused 'one of them' proxy -x 127.0.0.1:1 --send-proxy --send-proxy-v2
refused 'need --upstream' proxy --accept-proxy
refused 'without --upstream' proxy -x 127.0.0.1:1 -k
refused "--upstream: destination 'localhost' has no port" proxy --upstream localhost
refused '--version, --help' echo --no-such-option
refused 'from 0 to' proxy -c 100000
refused '--log: ' proxy -o /nowhere/log
refused 'HOST:PORT' client_in_coroutine --upstream nonsense

for model in "${models[@]}"; do
  for example in echo echo_coroutine; do
    start "$example" --model "$model" --priority-port 0
    for p in "$port" "$priority_port"; do
      [[ $(first_line "$p" 'hello\n') == hello ]] || fail "$example: $model: no echo"
    done
    refused "127.0.0.1:$port" "$example" --port "$port"  # in use
    stop
  done
done
for model in "${models[@]}"; do
  start primes --model "$model"
  exec 4<> "/dev/tcp/127.0.0.1/$port"
  printf 'ann\n10\nnonsense\n3\n' >&4
  answer=$(timeout 60 head -n 6 <&4) || fail "primes: $model: '$answer' is too short"
  [[ $answer == $'hello ann\n2\n3\n5\n7\n2' ]] || fail "primes: $model: '$answer'"
  exec 4<&-
  stop
done
# --listen replaces --address and --port.
start echo --address 10.0.0.1 --listen 127.0.0.1:0
[[ $(first_line "$port" 'hello\n') == hello ]] || fail 'echo --listen: no echo'
stop
start echo_static
[[ $(first_line "$port" 'hello\n') == hello ]] || fail 'echo_static: no echo'
stop INT

# The servers on plain Asio have options of their own.
for example in asio_shared asio_separate; do
  out=$("$examples/$example" --help) || fail "$example --help"
  [[ $out == *--port*'Try it:'* ]] || fail "$example --help prints $out"
  refused 'from 0 to 65535' "$example" --port 70000
  refused 'from 1 to 1024' "$example" --threads 0
  for signal in TERM INT; do
    start "$example" --threads 3
    refused 'in use' "$example" --port "$port"
    exec 4<> "/dev/tcp/127.0.0.1/$port" 5<> "/dev/tcp/127.0.0.1/$port"
    for fd in 4 5; do
      echo "hello $fd" >&$fd
      read -r -t 20 answer <&$fd && [[ $answer == "hello $fd" ]] || fail "$example: no echo"
    done
    stop "$signal"  # open connections do not delay it
    [[ -z $(timeout 10 cat <&4) && -z $(timeout 10 cat <&5) ]] || fail "$example: more than was sent"
    exec 4<&- 5<&-
  done
done

too_long=$(printf '%070000d' 0)
# A gateway in each model, in front of a server that is too slow for one of four queries.
for model in "${models[@]}"; do
  start slow_query --model thread_per_connection
  upstream_pid=$server_pid upstream_port=$port
  start client_in_coroutine --model "$model" --upstream "127.0.0.1:$upstream_port" --limit-ms 300
  answers=$(talk "$port" 'ping\nsleep 5\nsleep 700\nwhat\n' 0.8)
  [[ -z $(talk "$port" "$too_long" 10) ]] || fail "$model: a line without an end was answered"
  [[ $answers == $'pong\ndone sleep 5\nerror: no answer within 300 ms\nerror: a query is'* ]] || fail "$model: $answers"
  server_pid_of_gateway=$server_pid server_pid=$upstream_pid
  stop
  server_pid=$server_pid_of_gateway
  [[ $(first_line "$port" 'ping\n') == "error: 127.0.0.1:$upstream_port: Connection refused" ]] || fail "$model: no upstream"
  stop
done

out=$(timeout 60 "$examples/slow_query" --demo) || fail 'slow_query --demo'
[[ $(grep -cE '^[a-z_]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$' <<< "$out") == 10 ]] || fail "slow_query --demo printed $out"

# A client and its server in one program, until the count is reached, or a signal interrupts them.
for model in "${models[@]}"; do
  out=$(timeout 20 "$examples/time" --port 0 --model "$model" --count 3 --interval-ms 1) || fail "time: $model"
  [[ $(grep -cE '^[123]: round trip [0-9.]+ ms, its clock is [+-][0-9.]+ ms ahead$' <<< "$out") == 3 ]] || fail "time printed $out"
  [[ $out == *'3 answers, round trip: least '* ]] || fail "time printed $out"
  start time --model "$model" --count 0 --interval-ms 60000
  [[ $(talk "$port" 'what time is it?\n' 0.2) =~ ^[0-9]{19}$ ]] || fail "time: $model: no answer"
  stop INT
done
