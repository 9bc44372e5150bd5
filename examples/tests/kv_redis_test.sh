#!/usr/bin/env bash
# kv_redis_test <build tree>: under each model kv sends the expected replies byte for byte, and serves Redis's tools.
# shellcheck disable=SC2016 source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs redis-cli redis-benchmark

# same <request> <reply> [closes]: both are printf formats. The server ends each conversation: after QUIT, which this
# function adds, or with `closes` after the request itself.
same() {
  local got expected quit='*1\r\n$4\r\nQUIT\r\n' bye='+OK\r\n'
  [[ ${3:-} != closes ]] || quit='' bye=''
  got=$(talk "$port" "$1$quit" 10 | od -An -c)
  # shellcheck disable=SC2059
  expected=$(printf -- "$2$bye" | od -An -c)
  [[ $got == "$expected" ]] || fail "$1 is answered with"$'\n'"$got"$'\nand not with\n'"$expected"
}
breaks() { same "$1" "-ERR Protocol error: $2\\r\\n" closes; }

conversations() {
  same 'PING\r\n' '+PONG\r\n'
  same '*1\r\n$4\r\npInG\r\n' '+PONG\r\n'
  same 'PING hello\r\n' '$5\r\nhello\r\n'
  same '*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n' '$4\r\n\r\n\r\n\r\n'
  same '*0\r\n\r\n\nPING\n' '+PONG\r\n'
  same 'GET nothing\r\n' '$-1\r\n'
  same 'SET k v\r\nGET k\r\nEXISTS k k no\r\nDEL k no\r\nGET k\r\n' '+OK\r\n$1\r\nv\r\n:2\r\n:1\r\n$-1\r\n'
  same 'SET "a b" "c d"\r\nGET "a b"\r\nDEL "a b"\r\n' '+OK\r\n$3\r\nc d\r\n:1\r\n'
  same 'INCR n\r\nINCR n\r\nDEL n\r\n' ':1\r\n:2\r\n:1\r\n'
  same 'SET n 01\r\nINCR n\r\nDEL n\r\n' '+OK\r\n-ERR value is not an integer or out of range\r\n:1\r\n'
  same 'SET n 9223372036854775807\r\nINCR n\r\nDEL n\r\n' '+OK\r\n-ERR increment or decrement would overflow\r\n:1\r\n'
  same 'CONFIG GET save\r\nCONFIG GET appendonly\r\nCONFIG GET other\r\n' \
    '*2\r\n$4\r\nsave\r\n$0\r\n\r\n*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n*0\r\n'
  same 'COMMAND DOCS\r\n' '*0\r\n'
  same 'QUIT\r\nPING\r\n' '+OK\r\n' closes
  same 'SET k v more\r\n' '-ERR syntax error\r\n'
  same 'GET\r\n' "-ERR wrong number of arguments for 'get' command\\r\\n"
  same 'FOO bar baz\r\n' "-ERR unknown command 'FOO', with args beginning with: 'bar' 'baz' \\r\\n"
  same 'SET k a"b"\r\nGET k\r\nCOMMAND COUNT\r\n' '+OK\r\n$2\r\nab\r\n:17\r\n'
  same 'GET / HTTP/1.1\r\nHost: a\r\n\r\nSET pwned yes\r\n' '' closes
  breaks '*2\r\n$4\r\nECHO\r\n$5\r\nabc\r\nxxx' 'expected CRLF after a bulk string of 5 bytes'
  breaks '*a\r\n' 'invalid multibulk length'
  breaks '*5000\r\n' 'invalid multibulk length'
  breaks '*1\r\nPING\r\n' "expected '\$', got 'P'"
  breaks '*1\r\n$-1\r\n' 'invalid bulk length'
  breaks '*1\r\n$999999999\r\n' 'invalid bulk length'
  breaks 'SET "a b\r\n' 'unbalanced quotes in request'
}

benchmark() {
  local out
  out=$(timeout 60 redis-benchmark -h 127.0.0.1 -p "$port" -t ping,set,get -c 100 --csv "$@" 2>&1) ||
    fail "redis-benchmark $*: $out"
  [[ $(grep -cE '^"(PING_INLINE|PING_MBULK|SET|GET)","[1-9]' <<< "$out") == 4 ]] || fail "redis-benchmark $*: $out"
  grep -qi error <<< "$out" && fail "redis-benchmark $*: $out"
  return 0
}

for model in "${models[@]}"; do
  start kv --model "$model" --workers 2..4
  conversations
  cli() { redis-cli -h 127.0.0.1 -p "$port" "$@"; }
  [[ $(cli ping) == PONG ]] || fail 'redis-cli ping'
  [[ $(cli -3 get none) == '' && $(cli set brief x px 100000 nx) == OK && $(cli dbsize) == 2 ]] || fail 'redis-cli -3, set'
  head -c 1000000 /dev/zero | tr '\0' x > "$work/large"
  [[ $(cli -x set large < "$work/large") == OK ]] || fail 'redis-cli -x set'
  cli get large | head -c 1000000 | cmp - "$work/large"
  benchmark -n 20000
  benchmark -n 100000 -P 16
  warned 'closed a client that speaks HTTP'
  stop
  echo "$model: ok"
done
