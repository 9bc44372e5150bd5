#!/usr/bin/env bash
# http_hello_ab_test <build tree>: ab, with HTTP/1.0, gets every reply, with and without keep-alive, in each model.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs ab

for model in "${models[@]}"; do
  start http_hello --model "$model" --workers 2..4
  for keep in '' -k; do
    # shellcheck disable=SC2086  # no word, or one
    out=$(timeout 60 ab -q $keep -c 50 -n 3000 "http://127.0.0.1:$port/" 2>&1) || fail "$model: ab $keep: $out"
    [[ $out =~ Complete\ requests:\ +3000 && $out =~ Failed\ requests:\ +0 && $out != *'Non-2xx'* ]] ||
      fail "$model: ab $keep: $out"
  done
  stop
done
