#!/usr/bin/env bash
# limits_test <build tree>: every server on Quintet has default limits for the time and memory that a client can cost it.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

times='first_byte_ms idle_ms send_ms message_ms'
amounts='max_input max_output max_input_total max_output_total max_connections'
most=$((16 << 30))  # bytes; a larger value is no limit

# limited <program> <line> <limits>: the line must contain each limit, above zero and at most $most.
limited() {
  local name
  for name in $3; do
    [[ " $2 " =~ \ $name=([0-9]+)\  ]] || fail "$1: no $name in '$2'"
    ((${#BASH_REMATCH[1]} < 18 && BASH_REMATCH[1] > 0 && BASH_REMATCH[1] <= most)) || fail "$1: $name=${BASH_REMATCH[1]}"
  done
}

# starts <servers> <limits> <example> [option...]: the example must announce these limits for each of its servers.
starts() {
  start "${@:3}" --show-limits
  local i line announced=()
  for ((i = 0; i < 500; ++i)); do
    mapfile -t announced < <(grep '^limits: ' "$work/announced")
    ((${#announced[@]} < $1)) || break
    sleep 0.02
  done
  ((${#announced[@]} == $1)) || fail "${*:3} shows other limits: $(cat "$work/announced")"
  for line in "${announced[@]}"; do limited "${*:3}" "$line" "$2"; done
  stop
}

for example in echo echo_coroutine echo_static kv chat http_hello slow_query client_in_coroutine proxy prefork \
  "${tutorial[@]}" "${optional[@]}"; do
  starts 1 "$times $amounts" "$example"
done
starts 1 "$times $amounts" time --count 0 --interval-ms 60000
starts 2 "$times $amounts" embed --report-port 0
# A relay does not know messages, and in some protocols the server sends first.
starts 1 "idle_ms send_ms $amounts" proxy --upstream 127.0.0.1:1
# A client of a database may be silent, and read slowly.
starts 1 "first_byte_ms $amounts" postgres
