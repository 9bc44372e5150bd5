#!/usr/bin/env bash
# http_hello_tls_test <build tree>: under each model http_hello serves curl and openssl s_client by TLS, and refuses old versions.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs curl openssl
"$examples/http_hello" --help | grep -q -- --tls-cert || skip 'built without quintet::tls'

object='Hello from Quintet: one handler, five threading models, no lock'
make_certificate

ask() { curl --silent --show-error --max-time 10 --cacert "$work/cert.pem" "$@"; }
# client [option...]: sends a request by openssl s_client, which verifies the certificate.
client() {
  printf 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' |
    timeout 10 openssl s_client -quiet -verify_return_error -CAfile "$work/cert.pem" -servername localhost \
      -connect "127.0.0.1:$port" "$@" 2> "$work/client"
}

for model in "${models[@]}"; do
  start http_hello --model "$model" --workers 2..4 --tls-cert "$work/cert.pem" --tls-key "$work/key.pem"
  url=https://localhost:$port/
  [[ $(ask "$url") == "$object" ]] || fail "$model: curl: not the object"
  [[ $(ask --tls-max 1.2 "$url") == "$object" ]] || fail "$model: curl with TLS 1.2"
  [[ $(ask -o /dev/null -o /dev/null -o /dev/null -w '%{num_connects} ' "$url" "$url" "$url") == '1 0 0 ' ]] ||
    fail "$model: a connection is not kept"
  for version in -tls1_2 -tls1_3; do
    [[ $(client $version) == *"$object"* ]] || fail "$model: openssl s_client $version: $(cat "$work/client")"
  done
  if client -tls1_1 -cipher DEFAULT:@SECLEVEL=0 > /dev/null; then fail "$model: TLS 1.1 is spoken"; fi
  [[ $(talk "$port" 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' 10) != *HTTP* ]] || fail "$model: plain HTTP is answered"
  says 'no version of TLS' "$work/errors"
  says 'does not speak TLS' "$work/errors"
  warned 'a TLS handshake has failed'
  stop
done

"$examples/http_hello" --port 0 --tls-cert "$work/cert.pem" --tls-key "$work/cert.pem" 2> "$work/errors" &&
  fail 'a certificate is no key'
grep -q "tls: $work/cert.pem" "$work/errors" || fail "the file is not named: $(cat "$work/errors")"
