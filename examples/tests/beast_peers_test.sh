#!/usr/bin/env bash
# beast_peers_test <build tree>: what peers do wrong is no exception of a handler: http_beast and websocket answer it, or close, and
# print nothing.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# leaves <printf format>: sends the text and closes without reading.
leaves() {
  exec 3<> "/dev/tcp/127.0.0.1/$port"
  # shellcheck disable=SC2059
  printf "$1" >&3
  exec 3<&-
}

# answers <expected> <printf format>: the reply must begin with the text; empty: the server only closes.
answers() {
  local reply
  reply=$(talk "$port" "$2" 20 | head -n 1 | tr -d '\r\0')
  if [[ $1 ]]; then [[ $reply == "$1"* ]]; else [[ ! $reply ]]; fi || fail "to '$2': '$reply' and not '$1'"
}

upgrade='GET /echo HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
key='Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
for model in single_reactor loop_per_thread_pool; do
  start http_beast --model "$model"
  answers 'HTTP/1.1 200' 'GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'
  reply=$(talk "$port" 'HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n' 20)
  [[ $reply == 'HTTP/1.1 200'*'Content-Length: 14'* && $reply != *hello* ]] || fail "to HEAD: '$reply'"
  answers 'HTTP/1.1 400' 'nonsense\r\n\r\n'
  answers 'HTTP/1.1 400' 'GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n'
  leaves 'GET / HTTP'
  leaves ''
  answers 'HTTP/1.1 200' 'GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'
  stop
  start websocket --model "$model"
  answers '' 'nonsense\r\n\r\n'
  answers '' 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'
  answers 'HTTP/1.1 4' "$upgrade\r\n"
  answers 'HTTP/1.1 101' "$upgrade$key\r\n\x83\x80\x01\x02\x03\x04"
  leaves "$upgrade$key\r\n\x81\x85\x01\x02"
  stop
done
