#!/usr/bin/env bash
# proxy_options_test <build tree>: Fastsocket's eight short options in both modes of the proxy; log and statistics.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs curl

ask() { curl --silent --show-error --max-time 10 "$@"; }
# connects <expected> <port>: checks the number of connections for each of two requests in sequence.
connects() {
  local got
  got=$(ask -o /dev/null -o /dev/null -w '%{num_connects} ' "http://127.0.0.1:$2/" "http://127.0.0.1:$2/")
  [[ $got == "$1 " ]] || fail "connections for two requests: '$got' and not '$1'"
}

start proxy -k -a 127.0.0.1:0
connects '1 0' "$port"
stop INT

start proxy -a 127.0.0.1:0 -v
page_pid=$server_pid page_port=$port
connects '1 1' "$port"
[[ $(ask -i "http://127.0.0.1:$port/" | tr -d '\r') == 'HTTP/1.0 200 OK'*$'\n\nhello' ]] || fail 'not the page'
says '^[1-9][0-9]* requests/s, [1-9][0-9]* accepted'

start proxy -w 2 -c 0 -o "$work/log" -x "127.0.0.1:$page_port" -x "127.0.0.1:1" -v -d
[[ $(ask "http://127.0.0.1:$port/" "http://127.0.0.1:$port/") == $'hello\nhello' ]] || fail 'no relay'
says ' 0 clients open, 1 upstreams failed, 0 clients given up, .* locality 100 %$'
says '^  loop 1: .* polls, .* bytes in, .* out$'
for thread in "/proc/$server_pid/task/"*; do
  [[ $(< "$thread/comm") == qnt-loop-0 ]] || continue
  grep -qE '^Cpus_allowed_list:\s0$' "$thread/status" || fail 'loop 0 does not stay on CPU 0'
done
stop
grep -q ' debug 127.0.0.1:[0-9]*: a client has connected$' "$work/log" || fail "the log is $(cat "$work/log")"
grep -q ' info draining$' "$work/log" || fail "the log is $(cat "$work/log")"
server_pid=$page_pid
stop
