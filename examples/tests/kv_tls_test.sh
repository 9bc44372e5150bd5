#!/usr/bin/env bash
# kv_tls_test <build tree>: under each model kv serves Redis's tools by TLS beside plain ones, from the same store.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs redis-cli openssl
"$examples/kv" --help | grep -q -- --tls-port || skip 'built without quintet::tls'
redis-cli --help 2>&1 | grep -q -- --tls || skip 'redis-cli is built without TLS'
make_certificate

# ask <redis-cli's arguments...>: by TLS.
ask() { timeout 20 redis-cli -p "$tls_port" --tls --cacert "$work/cert.pem" "$@"; }
files=(--tls-cert "$work/cert.pem" --tls-key "$work/key.pem")
for model in "${models[@]}"; do
  in_background "$work/announced" "$work/errors" kv --listen 127.0.0.1:0 --tls-port 0 "${files[@]}" --model "$model"
  says '^kv: .*:[0-9]+, .*:[0-9]+$'
  line=$(< "$work/announced")
  tls_port=${line##*:} port=${line%, *} port=${port##*:}
  [[ $(ask set planet Mars) == OK ]] || fail "$model: SET by TLS"
  [[ $(timeout 20 redis-cli -p "$port" get planet) == Mars ]] || fail "$model: GET without TLS"
  value=$(head -c 300000 /dev/zero | tr '\0' x)
  [[ $(printf 'set big %s\n' "$value" | ask) == OK ]] || fail "$model: a SET of 300 kB"
  [[ $(ask get big) == "$value" ]] || fail "$model: a value of 300 kB changed"
  if redis-benchmark --help 2>&1 | grep -q -- --tls; then
    timeout 60 redis-benchmark -p "$tls_port" --tls --cacert "$work/cert.pem" -t set,get -n 2000 -c 20 -P 4 -q > "$work/benchmark" 2>&1 ||
      fail "$model: redis-benchmark: $(cat "$work/benchmark")"
  fi
  [[ $(talk "$tls_port" 'PING\r\n' 10) != *PONG* ]] || fail "$model: plain text is answered at the TLS port"
  warned 'a TLS handshake has failed'
  stop
done

refuses kv --tls-port 0
refuses kv --tls-port 0 --tls-cert "$work/cert.pem"
refuses kv --tls-port 0 --tls-cert "$work/cert.pem" --tls-key "$work/nothing.pem"
