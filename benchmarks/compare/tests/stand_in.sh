#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# stand_in.sh: plays quintet-bench's serve and load for the runner's tests. A model's name tells how to misbehave.
set -u
command=$1
shift
option() {  # option NAME ARGUMENTS...: the value after NAME
  local name=$1
  shift
  while [ $# -gt 1 ]; do
    if [ "$1" = "$name" ]; then echo "$2"; return; fi
    shift
  done
}
model=$(option --model "$@")
json=$(option --json "$@")

if [ "$command" = serve ]; then
  case $model in
    dies_at_once) echo "bind: Address already in use" >&2; exit 3 ;;
    dies_later) echo "engine epoll"; echo "listening on 127.0.0.1:7"; sleep 0.15; kill -SEGV $$ ;;
    silent) exec sleep 30 ;;
  esac
  echo "engine epoll"
  echo "listening on 127.0.0.1:$([ "$model" = starves_client ] && echo 8 || echo 7)"
  [ -n "$(option --priority-port "$@")" ] && echo "priority on 127.0.0.1:9"
  exec sleep 30
fi

if [ "$1" = 127.0.0.1:8 ]; then echo "not one reply" >&2; exit 1; fi
beat=null
[ "$(option --heartbeat "$@")" = 127.0.0.1:9 ] && beat=77
echo measuring
sleep 0.2
echo measured
cat > "$json" <<JSON
{"workload": "x", "requests": 1000, "failed": 0, "requests_per_s": 5000, "p50_us": 10, "heartbeat_p99_us": $beat,
 "duration_s": 0.2, "measured_from_ns": 1000000000, "measured_to_ns": 1200000000}
JSON
