#!/usr/bin/env bash
# http_hello_wrk_test <build tree>: wrk gets nothing but good replies, in each model.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs wrk

for model in "${models[@]}"; do
  start http_hello --model "$model" --workers 2..4
  out=$(timeout 60 wrk -t 2 -c 50 -d 1s "http://127.0.0.1:$port/") || fail "$model: wrk: $out"
  [[ $out =~ [1-9][0-9]*\ requests\ in && $out != *'Socket errors'* && $out != *'Non-2xx'* ]] || fail "$model: wrk: $out"
  stop
done
