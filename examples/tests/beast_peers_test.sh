#!/usr/bin/env bash
# beast_peers_test <build tree>: what peers do wrong is no exception of a handler: http_beast and websocket answer it, or close, and
# print nothing. What curl asks for works.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# leaves <printf format>: sends the text and closes without reading.
leaves() {
  exec 3<> "/dev/tcp/127.0.0.1/$port"
  # shellcheck disable=SC2059
  printf "$1" >&3
  exec 3<&-
}

# answers <pattern> <printf format>: the reply must begin with the text, and the server must close.
answers() {
  local reply
  reply=$(talk "$port" "$2" 20 | tr -d '\r\0')
  # shellcheck disable=SC2053
  [[ $reply == $1* ]] || fail "to '$2': '$reply' and not '$1'"
}

# curl_gets <pattern> <option...>: what curl prints must match. It waits longer for "100 Continue" than the request may take.
curl_gets() {
  local got
  got=$(curl --silent --max-time 20 --expect100-timeout 60 "${@:2}" | tr -d '\r\0') || true
  # shellcheck disable=SC2053
  [[ $got == $1 ]] || fail "curl ${*:2}: '$got' and not '$1'"
}

by_curl() {
  local url=http://127.0.0.1:$port status=(--output /dev/null --write-out '%{http_code} ')
  curl_gets 'HTTP/1.1 100 Continue*HTTP/1.1 200 OK*hello from /x' \
    --include -H 'Expect: 100-continue' --data-binary "@$work/small" "$url/x"
  curl_gets '200 200 ' "${status[@]}" "${status[@]}" --data-binary "@$work/small" "$url/x" "$url/y"
  curl_gets '413 ' "${status[@]}" --data-binary "@$work/large" "$url"  # curl asks before it sends that
  curl_gets '400 ' "${status[@]}" -H 'Host:' "$url"
  curl_gets '200 ' "${status[@]}" -H 'Host:' --http1.0 "$url"
  curl_gets '501' --proxytunnel --proxy "$url" --output /dev/null --write-out '%{http_connect}' http://elsewhere/
}
head -c 1000000 /dev/zero > "$work/small"
head -c 2000000 /dev/zero > "$work/large"

upgrade='GET /echo HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
key='Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
for model in single_reactor loop_per_thread_pool; do
  start http_beast --model "$model"
  answers 'HTTP/1.1 200' 'GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'
  reply=$(talk "$port" 'HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n' 20)
  [[ $reply == 'HTTP/1.1 200'*'Content-Length: 14'* && $reply != *hello* ]] || fail "to HEAD: '$reply'"
  answers 'HTTP/1.1 400' 'nonsense\r\n\r\n'
  answers 'HTTP/1.1 400' 'GET / HTTP/1.1\r\n\r\n'
  answers 'HTTP/1.1 413' 'GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n'
  leaves 'GET / HTTP'
  leaves ''
  answers 'HTTP/1.1 200' 'GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'
  stop
  start websocket --model "$model"
  answers 'HTTP/1.1 400' 'nonsense\r\n\r\n'
  answers 'HTTP/1.1 426*Upgrade: websocket*Connection: upgrade, close' 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'
  answers 'HTTP/1.1 426' 'POST /chat HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nyes'
  answers 'HTTP/1.1 4' "$upgrade\r\n"
  # 400 if the frame comes with the request; else 101, and Beast refuses the frame. In both cases the server closes.
  answers 'HTTP/1.1 [14]0[01]' "$upgrade$key\r\n\x83\x80\x01\x02\x03\x04"
  leaves "$upgrade$key\r\n\x81\x85\x01\x02"
  stop
done

needs curl
for model in single_reactor loop_per_thread_pool; do
  start http_beast --model "$model"
  by_curl
  stop
done
