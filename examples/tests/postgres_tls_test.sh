#!/usr/bin/env bash
# postgres_tls_test <build tree>: psql and pgbench talk TLS with postgres, which they ask for; OpenSSL's client begins with it.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs psql openssl
"$examples/postgres" --help | grep -q -- --tls-cert || skip 'built without quintet::tls'
make_certificate
export PGCONNECT_TIMEOUT=30 PGSSLROOTCERT=$work/cert.pem PGPASSWORD=secret
printf 'ann:secret\n' > "$work/users"
chmod 600 "$work/key.pem"

# ask <sslmode> [argument of psql...]
ask() { timeout 60 psql -X -A -t -q "host=localhost hostaddr=127.0.0.1 port=$port user=ann dbname=db sslmode=$1" "${@:2}" 2>&1 || true; }
asked() {
  local got
  got=$(ask "${@:2}")
  [[ $got == "$1" ]] || fail "${model:-}: ${*:2}: '$got', not '$1'"
}

# told <printf format>: sends bytes, prints what comes until the end.
told() { talk "$port" "$1" 20 2> /dev/null | tr '\0' '.'; }
ssl_request='\0\0\0\10\4\322\26\57' gssenc_request='\0\0\0\10\4\322\26\60'
startup='\0\0\0\22\0\3\0\0user\0ann\0\0' terminate='X\0\0\0\4'

tls=(--tls-cert "$work/cert.pem" --tls-key "$work/key.pem")
for model in "${models[@]}"; do
  start postgres --model "$model" --workers 2..4 "${tls[@]}" --users "$work/users"
  asked 1 verify-full -c 'SELECT 1'
  [[ $(ask require -c '\conninfo') == *'SSL connection (protocol: TLSv1.3'* ]] || fail "$model: $(ask require -c '\conninfo')"
  asked 1 disable -c 'SELECT 1'
  asked 500000500000 verify-full -c 'SELECT sum(g) FROM generate_series(1, 1000000) g'
  [[ $(ask verify-full -c 'SELECT g FROM generate_series(1, 100000) g' | wc -l) == 100000 ]] || fail "$model: rows are missing"
  PGCHANNELBINDING=require asked 1 verify-full -c 'SELECT 1'
  PGCHANNELBINDING=disable asked 1 verify-full -c 'SELECT 1'
  [[ $(PGPASSWORD=wrong ask verify-full -c 'SELECT 1') == *'password authentication failed'* ]] || fail "$model: a wrong password"
  # psql cancels as at Ctrl-C; its libpq in plain until version 16, by TLS from 17.
  # shellcheck disable=SC2016
  got=$(ask verify-full -c '\! (sleep 0.3; kill -INT $PPID) > /dev/null 2>&1 &' -c 'SELECT pg_sleep(60)')
  [[ $got == *'canceling statement due to user request'* ]] || fail "$model: a cancel: '$got'"

  # Bytes behind SSLRequest, perhaps from somebody between, end the connection, and are not believed.
  for more in x "$startup"; do
    [[ $(told "$ssl_request$more") =~ ^S?$ ]] || fail "$model: bytes behind SSLRequest are answered"
  done
  [[ $(told "$gssenc_request$gssenc_request$gssenc_request") == NNN* ]] || fail "$model: GSSENCRequest"

  # TLS at once needs the protocol's name.
  direct() { timeout 20 openssl s_client -connect "127.0.0.1:$port" -quiet "$@" 2> /dev/null | tr '\0' '.' || true; }
  got=$(printf "$startup$terminate" | direct -alpn postgresql)
  [[ $got == R* ]] || fail "$model: direct TLS: '$got'"
  got=$(printf "$ssl_request$gssenc_request$startup$terminate" | direct -alpn postgresql)
  [[ $got == NNR* ]] || fail "$model: SSLRequest inside TLS: '$got'"
  [[ -z $(printf "$startup$terminate" | direct) ]] || fail "$model: direct TLS without ALPN"
  [[ -z $(printf "$startup$terminate" | direct -alpn http/1.1) ]] || fail "$model: direct TLS with another protocol"
  : > "$work/errors"  # refused handshakes
  if pgbench --version > /dev/null 2>&1; then
    echo 'SELECT 1;' > "$work/one.sql"
    out=$(PGSSLMODE=verify-full timeout 60 pgbench -h localhost -p "$port" -U ann -n -f "$work/one.sql" -M prepared -c 4 -t 100 db 2>&1) ||
      fail "$model: pgbench: $out"
    [[ $out == *'transactions actually processed: 400/400'* ]] || fail "$model: pgbench: $out"
  fi
  stop
done

refuses postgres --tls-cert "$work/cert.pem"
grep -q 'key_file is empty' "$work/errors" || fail "no word about the key: $(cat "$work/errors")"
refuses postgres --tls-cert "$work/cert.pem" --tls-key "$work/nothing.pem"
