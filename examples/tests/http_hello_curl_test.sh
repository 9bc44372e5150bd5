#!/usr/bin/env bash
# http_hello_curl_test <build tree>: under each model http_hello serves curl and answers hand-written requests.
# shellcheck disable=SC2016 source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs curl

object='Hello from Quintet: one handler, five threading models, no lock'
ask() { curl --silent --show-error --max-time 10 "$@"; }

# status <expected> <printf format of requests>: checks the status of each reply. The server closes after the last.
status() {
  local got
  got=$(talk "$port" "$2" 10 | tr -d '\r' | sed -n 's,^HTTP/1.1 \([0-9]*\) .*,\1,p' | tr '\n' ' ')
  [[ $got == "$1 " ]] || fail "$2 is answered by '$got' and not by '$1'"
}

by_curl() {
  local out url=http://127.0.0.1:$port/
  [[ $(ask "$url") == "$object" ]] || fail 'curl: not the object'
  out=$(ask --head "$url" | tr -d '\r')
  [[ $out == 'HTTP/1.1 200 OK'*'Content-Length: 64'* && $out != *Connection* ]] || fail "curl --head: $out"
  [[ $out =~ Date:\ ([A-Z][a-z]{2},\ [0-9]{2}\ [A-Z][a-z]{2}\ [0-9]{4}\ [0-9:]{8}\ GMT) ]] || fail "no Date: $out"
  (($(date +%s) - $(date -d "${BASH_REMATCH[1]}" +%s) < 60)) || fail "not the time: $out"
  # Three requests use one connection. With "close", and in HTTP/1.0, each request uses its own.
  [[ $(ask -o /dev/null -o /dev/null -o /dev/null -w '%{num_connects} ' "$url" "$url" "$url") == '1 0 0 ' ]] ||
    fail 'a connection is not kept'
  [[ $(ask -H 'Connection: close' -o /dev/null -o /dev/null -w '%{num_connects} ' "$url" "$url") == '1 1 ' ]] ||
    fail 'a connection is kept'
  [[ $(ask --http1.0 -o /dev/null -o /dev/null -w '%{num_connects} ' "$url" "$url") == '1 1 ' ]] ||
    fail 'HTTP/1.0: a connection is kept'
  head -c 60000 /dev/zero > "$work/body"
  [[ $(ask --data-binary "@$work/body" -H 'Expect: 100-continue' -o /dev/null -w '%{http_code}' "$url") == 405 ]] ||
    fail 'a body of the usual size'
  head -c 70000 /dev/zero > "$work/body"
  [[ $(ask --data-binary "@$work/body" -o /dev/null -w '%{http_code}' "$url") == 413 ]] || fail 'a body that is too large'
}

by_hand() {
  local get='GET / HTTP/1.1\r\nHost: a\r\n' last='Connection: close\r\n\r\n' long trailer
  status '200 200 200' "$get\\r\\n$get\\r\\n$get$last"
  status '200' "$get$last$get\\r\\n"  # a request behind the last is ignored
  status '200' 'GET / HTTP/1.0\r\n\r\n'
  status '200 200' 'HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n'
  status '405 200' "DELETE / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n$get$last"
  status '200 400' "$get\\r\\nnonsense\\r\\n\\r\\n"
  status '400' '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'
  status '400' 'GET / HTTP/1.1\r\n\r\n'
  status '400' 'GET / FOO\r\n\r\n'
  status '200' '\r\nGET / HTTP/1.2\r\nHost: a\r\nConnection: close\r\n\r\n'
  status '405' 'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.0\r\n\r\n'
  status '505' 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  long=$(head -c 9000 /dev/zero | tr '\0' x)
  trailer=$(head -c 200000 /dev/zero | tr '\0' x)
  status '414' "GET /$long"
  status '414' "GET /$long HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
  status '431' "${get}X: $long"
  status '431' "POST / HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\nX: $trailer"
}

for model in "${models[@]}"; do
  start http_hello --model "$model" --workers 2..4
  by_curl
  by_hand
  stop
  echo "$model: ok"
done

start http_hello --linger 0
by_curl
stop

# A request that makes no progress is closed.
start http_hello --patience 1
[[ -z $(talk "$port" 'GET / HTTP/1.1\r\n' 10) ]] || fail 'half a request was answered'
stop
