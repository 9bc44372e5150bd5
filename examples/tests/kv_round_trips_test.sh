#!/usr/bin/env bash
# kv_round_trips_test <build tree>: kv serves TCP, a Unix socket and shared memory at once, in every model.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# asks <status> [option...]: runs the client against the started server, and keeps its output in `out`.
asks() {
  local status=0
  out=$(timeout 60 "$examples/kv_round_trips" --server "127.0.0.1:$port" --unix "$work/kv.sock" "${@:2}" 2>&1) || status=$?
  ((status == $1)) || fail "${*:2}: exit status $status and not $1: $out"
}
for model in "${models[@]}"; do
  in_background "$work/announced" "$work/errors" kv --model "$model" --listen 127.0.0.1:0 --unix "$work/kv.sock"
  says "unix:$work/kv.sock"
  [[ $(< "$work/announced") =~ 127\.0\.0\.1:([0-9]+) ]] || fail "$model: $(< "$work/announced")"
  port=${BASH_REMATCH[1]}
  [[ -S $work/kv.sock && -S $work/kv.sock.shm ]] || fail "$model: a socket file is missing"
  asks 0 --count 200
  for route in tcp unix 'shared memory'; do
    [[ $out =~ (^|$'\n')"$route"\ +[0-9]+\.[0-9]+\ +[0-9]+\.[0-9]+ ]] || fail "$model: no figures of $route: $out"
  done
  stop
  [[ ! -e $work/kv.sock && ! -e $work/kv.sock.shm ]] || fail "$model: a socket file is left"
done
asks 2
[[ $out == *'refused'* ]] || fail "nobody listens: $out"
for wrong in '--count 0' '--spin-us -1' '--no-such-option'; do
  status=0
  # shellcheck disable=SC2086
  out=$(timeout 10 "$examples/kv_round_trips" $wrong 2>&1) || status=$?
  [[ $status == 2 && $out == 'kv_round_trips: '* && $out != *$'\n'* ]] || fail "$wrong: exit status $status: $out"
done
out=$("$examples/kv_round_trips" --help) || fail 'kv_round_trips --help'
[[ $out == *--unix*'Try it:'* ]] || fail "kv_round_trips --help prints $out"
