#!/usr/bin/env bash
# echo_client_test <build tree>: echo_client counts each request once, also across the seconds and at its end, and exits
# with status 1 if a reply is wrong or lost.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# asks <status> [option...]: runs the client against the started server, and keeps its output in `out`.
asks() {
  local status=0
  out=$(timeout 60 "$examples/echo_client" --server "127.0.0.1:$port" "${@:2}" 2>&1) || status=$?
  ((status == $1)) || fail "${*:2}: exit status $status and not $1: $out"
}
# counts <ok> <failed>: the seconds of `out` must add up to these numbers, and so must the total.
counts() {
  local sum
  sum=$(awk '/^second / {ok += $3; failed += $5} END {print ok + 0 " ok, " failed + 0 " failed"}' <<< "$out")
  [[ $sum == "$1 ok, $2 failed" ]] || fail "the seconds add up to $sum and not to $1 ok, $2 failed: $out"
  [[ $out == *"total: $sum"* ]] || fail "$sum is not the total: $out"
}
start echo
echo_pid=$server_pid
asks 0 --connections 7 --count 500
counts 500 0
# The 29 intervals last longer than a second, so at least one second ends between two requests of the same connection.
asks 0 --count 30 --interval-ms 50
counts 30 0
[[ $(grep -c '^second ' <<< "$out") -ge 2 ]] || fail "no second ended: $out"
asks 0 --connections 3 --duration-s 1 --interval-ms 20
[[ $out =~ total:\ ([1-9][0-9]*)\ ok ]] || fail "--duration-s: $out"
counts "${BASH_REMATCH[1]}" 0

# Ctrl-C ends it, and the requests in progress still count.
in_background "$work/client" "$work/client" echo_client --server "127.0.0.1:$port" --duration-s 60 --connections 3 --interval-ms 20
says '^second 1: [1-9][0-9]* ok, 0 failed$' "$work/client"
stop INT
out=$(< "$work/client")
[[ $out =~ total:\ ([1-9][0-9]*)\ ok ]] || fail "Ctrl-C: $out"
counts "${BASH_REMATCH[1]}" 0

# The server goes down: the next requests or attempts to connect fail, and the client goes on.
in_background "$work/client" "$work/client" echo_client --server "127.0.0.1:$port" --duration-s 60 --interval-ms 20
client_pid=$server_pid
says '^second 1: [1-9][0-9]* ok, 0 failed$' "$work/client"
server_pid=$echo_pid
stop
says 'refused\)$' "$work/client"
kill -INT "$client_pid"
status=0
wait "$client_pid" || status=$?
out=$(< "$work/client")
((status == 1)) || fail "without its server: exit status $status: $out"
[[ $out =~ total:\ ([1-9][0-9]*)\ ok,\ ([1-9][0-9]*)\ failed ]] || fail "without its server: $out"
counts "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"

# Each attempt counts as a request that has failed.
asks 1 --count 2
counts 0 2
[[ $out == *'refused)'* ]] || fail "nobody listens: $out"

# A server that answers something else.
start time --count 0 --interval-ms 60000
asks 1 --count 5
counts 0 5
[[ $out == *'(a reply was wrong)'* ]] || fail "wrong replies: $out"
stop INT

# By TLS, from a server that is not ours. Python's is at hand; a certificate that nobody vouches for is refused.
if "$examples/echo_client" --help | grep -q -- --tls-ca && command -v openssl > /dev/null; then
  make_certificate
  python3 - "$work" > "$work/tls" <<'PYTHON' &
import socket, ssl, sys, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{sys.argv[1]}/cert.pem", f"{sys.argv[1]}/key.pem")
def echo(plain):
    try:
        with context.wrap_socket(plain, server_side=True) as peer:
            while data := peer.recv(4096):
                peer.sendall(data)
    except OSError:
        pass
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
PYTHON
  server_pid=$!
  says '^[0-9]+$' "$work/tls"
  port=$(< "$work/tls")
  asks 0 --connections 3 --count 100 --tls-ca "$work/cert.pem"
  counts 100 0
  cp "$work/cert.pem" "$work/first.pem"
  make_certificate
  asks 1 --count 1 --tls-ca "$work/cert.pem"
  [[ $out == *'CA that is trusted'* ]] || fail "a stranger's certificate: $out"
  asks 1 --count 1
  kill "$server_pid"
  server_pid=''
fi

for wrong in '--server nonsense' '--connections 0' '--count -1' '--no-such-option'; do
  status=0
  # shellcheck disable=SC2086
  out=$(timeout 10 "$examples/echo_client" $wrong 2>&1) || status=$?
  [[ $status == 2 && $out == 'echo_client: '* && $out != *$'\n'* ]] || fail "$wrong: exit status $status: $out"
done
out=$("$examples/echo_client" --help) || fail 'echo_client --help'
[[ $out == *--server*'Try it:'* ]] || fail "echo_client --help prints $out"
