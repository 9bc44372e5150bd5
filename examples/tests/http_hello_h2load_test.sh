#!/usr/bin/env bash
# http_hello_h2load_test <build tree>: h2load, with HTTP/1.1 and requests in flight, gets every reply, in each model.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs h2load

for model in "${models[@]}"; do
  start http_hello --model "$model" --workers 2..4
  out=$(timeout 60 h2load --h1 -t 2 -c 50 -m 4 -n 20000 "http://127.0.0.1:$port/") || fail "$model: h2load: $out"
  [[ $out == *'20000 succeeded, 0 failed, 0 errored, 0 timeout'* && $out == *'status codes: 20000 2xx'* ]] ||
    fail "$model: h2load: $out"
  stop
done
