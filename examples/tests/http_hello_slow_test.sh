#!/usr/bin/env bash
# http_hello_slow_test <build tree>: slowhttptest's slow headers and slow bodies end by the server's time limit, while it
# serves others.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs slowhttptest

for model in thread_per_connection loop_per_thread; do
  for attack in -H -B; do
    start http_hello --model "$model" --patience 2
    out=$(timeout 60 slowhttptest "$attack" -c 100 -r 100 -i 5 -l 40 -p 3 -u "http://127.0.0.1:$port/" 2>&1 |
      sed 's/\x1b\[[0-9;]*m//g') || fail "$model: slowhttptest $attack: $out"
    [[ $out == *'No open connections left'* ]] || fail "$model: slowhttptest $attack: connections stay open: $out"
    ! grep -qE 'service available: +NO' <<< "$out" || fail "$model: slowhttptest $attack: others are not served: $out"
    stop
  done
done
