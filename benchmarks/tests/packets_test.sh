#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# packets_test.sh BUILD: in a network of its own, a request of 8 bytes and its reply are two packets of 60 bytes.
# With pauses longer than the kernel's delayed acknowledgement there would be more of them.
# ctest: RUN_SERIAL
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs unshare python3

own=
for how in -n -rn; do
  unshare $how true 2> "$work/err" && own=$how && break
done
[ -n "$own" ] || skip "no network namespace for this user: $(cat "$work/err")"
# SIOCSIFFLAGS with IFF_UP: a new network's lo is down.
up='import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH22x", b"lo", 1))'

# measured MODEL: packets for a request and bytes for a packet, in $packets and $bytes.
measured() {
  local json
  json=$(UP=$up BENCH=$bench MODEL=$1 timeout 60 unshare $own bash -c \
    'python3 -c "$UP" && exec "$BENCH" echo --model "$MODEL" --connections 10 --quick --json -' 2> "$work/err" | tail -1)
  packets=$(sed -n 's/.*"net_packets_per_request":\([0-9.E+-]*\).*/\1/p' <<< "$json")
  bytes=$(sed -n 's/.*"net_bytes_per_request":\([0-9.E+-]*\).*/\1/p' <<< "$json")
  [ -n "$packets" ] || fail "model $1 measured nothing: $json $(cat "$work/err")"
}

for model in 1 2 3 4 5; do
  for _ in 1 2 3; do  # a busy machine can pause them once
    measured $model
    good=$(awk -v p="${packets:-0}" -v b="${bytes:-0}" \
      'BEGIN { print (p >= 1.95 && p <= 2.05 && b / p >= 59 && b / p <= 61) }')
    [ "$good" = 1 ] && break
  done
  echo "model $model: $packets packets and $bytes bytes for a request"
  [ "$good" = 1 ] || fail "model $model: not 1.95 to 2.05 packets of 59 to 61 bytes"
done
exit $((failures > 0))
