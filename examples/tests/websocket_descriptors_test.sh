#!/usr/bin/env bash
# websocket_descriptors_test <build tree>: a WebSocket of Beast has a timer, so in thread_per_connection each connection needs an
# io_context. If no descriptors are left for it, the connection ends, and the log says why. The others are served, and later ones.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

upgrade='GET /echo HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
upgrade+='Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
why='cannot create the io_context of an event loop, which takes 3 descriptors: Too many open files'

# opens: connects a client, whose descriptor is fd. Returns whether the server upgrades it. If not, the server has closed it, or
# accepts nobody any more.
opens() {
  local i status answer='' line
  exec {fd}<> "/dev/tcp/127.0.0.1/$port"
  # shellcheck disable=SC2059
  printf "$upgrade" >&"$fd"
  for ((i = 0; i < 1000; ++i)); do
    status=0 line=''
    IFS= read -r -t 0.02 line <&"$fd" || status=$?
    answer+=$line
    if ((status == 0)) && [[ $line == $'\r' ]]; then return 0; fi
    if ((status == 1)) || grep -q 'cannot accept' "$work/errors"; then break; fi
  done
  ((i < 1000)) && [[ ! $answer ]] || fail "neither an upgrade nor an end: '$answer'"
  exec {fd}>&-
  return 1
}

# echoes <descriptor>: a frame comes back.
echoes() {
  printf '\x81\x82\0\0\0\0hi' >&"$1"
  [[ $(timeout 20 head -c 4 <&"$1") == $'\x81\x02hi' ]] || fail 'no echo'
}

# How many descriptors are left for the last connection depends on the limit: from none to three.
named=0
for limit in 64 65 66 67; do
  launcher=(bash -c "ulimit -n $limit && exec \"\$@\"" bash)
  start websocket --model thread_per_connection
  clients=()
  while opens; do clients+=("$fd"); done
  ((${#clients[@]} >= 2)) || fail "only ${#clients[@]} clients are served"
  if grep -qF ": a handler threw an exception: $why" "$work/errors"; then named=$((named + 1)); fi
  grep -qE "$why|cannot accept" "$work/errors" || fail "nobody says why: $(cat "$work/errors")"
  for fd in "${clients[@]}"; do
    echoes "$fd"
    exec {fd}>&-
  done
  : > "$work/errors"
  for ((i = 0; i < 500; ++i)); do
    if opens; then break; fi
    sleep 0.02
  done
  ((i < 500)) || fail 'nobody is served any more'
  echoes "$fd"
  exec {fd}>&-
  kill -TERM "$server_pid"
  await_end "$why|cannot accept"
done
((named > 0)) || fail 'no connection has ended for lack of an io_context'
