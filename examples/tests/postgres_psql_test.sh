#!/usr/bin/env bash
# postgres_psql_test <build tree>: psql and pgbench talk to postgres as to PostgreSQL.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs psql
export PGCONNECT_TIMEOUT=30 PGSSLMODE=prefer

# ask [argument of psql...]: at least one SQL by -c. Rows as lines of texts between |; standard output and errors. `as`
# may be a command that runs psql as another user.
as=()
ask() { "${as[@]}" timeout 60 psql -X -A -t -q "host=${host:-127.0.0.1} port=$port user=${user:-ann} dbname=db" "$@" 2>&1 || true; }
# asked <expected> [argument of psql...]
asked() {
  local got
  got=$(ask "${@:2}")
  [[ $got == "$1" ]] || fail "${model:-}: ${*:2}: '$got', not '$1'"
}
refused() {
  local got
  got=$(ask "${@:2}")
  [[ $got == *"FATAL:  $1"* ]] || fail "${*:2}: '$got', without '$1'"
}

for model in "${models[@]}"; do
  start postgres --model "$model" --workers 2..4
  asked "1|it's|" -c "SELECT 1, 'it''s', NULL"
  asked $'1\n2\n3' -c 'SELECT g FROM generate_series(1, 3) g'
  asked 500000500000 -c 'SELECT sum(g) FROM generate_series(1, 1000000) g'
  asked '7|seven' -c "INSERT INTO kv VALUES (7, 'seven')" -c 'SELECT * FROM kv'
  asked 'WARNING:  nothing is undone: changes of the table kv take effect at once' \
    -c "BEGIN; UPDATE kv SET v = 'eight' WHERE k = 7; ROLLBACK"
  asked eight -c 'SELECT v FROM kv WHERE k = 7'
  asked 'ERROR:  syntax error at or near "frobnicate"' -c frobnicate
  asked 'ERROR:  canceling statement due to statement timeout' -c 'SET statement_timeout = 50; SELECT pg_sleep(60)'
  stop
done
unset model

# A time limit that passes while a slice of the statement waits in the pool's queue ends the statement, not the session.
start postgres --model reactor_pool --workers 1..1
waiting=()
for ((i = 0; i < 6; ++i)); do
  ask -c 'SET statement_timeout = 200' -c 'SELECT sum(g) FROM generate_series(1, 1000000000000) g' -c 'SELECT 1' > "$work/sum$i" &
  waiting+=($!)
done
for ((i = 0; i < 6; ++i)); do
  wait "${waiting[i]}"
  [[ $(< "$work/sum$i") == $'ERROR:  canceling statement due to statement timeout\n1' ]] || fail "a slice: $(< "$work/sum$i")"
done
stop

# Ten million rows, 179 MB, of which the server keeps few in its memory.
most_memory() { awk '/^VmHWM/ {print $2}' "/proc/$server_pid/status"; }
start postgres
asked 1 -c 'SELECT 1'
before=$(most_memory)
exec 3<> "/dev/tcp/127.0.0.1/$port"
many='SELECT g FROM generate_series(1, 10000000) g'
printf '\0\0\0\22\0\3\0\0user\0ann\0\0Q\0\0\0\61%s\0X\0\0\0\4' "$many" >&3
size=$(timeout 150 cat <&3 | wc -c)
exec 3<&-
((size > 178888897)) || fail "$size bytes for ten million rows"
more=$(($(most_memory) - before))
((more < 50000)) || fail "$more KiB more"  # some 200 KiB; more with a sanitizer, which keeps freed memory

# pgbench belongs to the package of the server, but its wrapper to that of the client.
if pgbench --version > /dev/null 2>&1; then
  echo 'SELECT 1;' > "$work/one.sql"
  printf '%s\n' '\set k random(1, 1000000000)' "INSERT INTO kv VALUES (:k, 'x');" 'SELECT v FROM kv WHERE k = :k;' \
    > "$work/two.sql"
  for protocol in simple extended prepared; do
    for script in one two; do
      out=$(timeout 60 pgbench -h 127.0.0.1 -p "$port" -U ann -n -f "$work/$script.sql" -M $protocol -c 4 -t 100 db 2>&1) ||
        fail "pgbench -M $protocol: $out"
      [[ $out == *'transactions actually processed: 400/400'* ]] || fail "pgbench -M $protocol: $out"
    done
  done
fi
stop

# Limits, passwords, and a Unix socket.
printf 'ann:secret\nbob:b:ob\n' > "$work/users"
start postgres --listen 127.0.0.1:0 --listen "unix:$work/.s.PGSQL.5432" --users "$work/users" --max-connections 1 \
  --statement-timeout 1 --idle-timeout 1 --login-timeout 1 --drain 20 --priority-port 0
says "^listening on unix:$work/.s.PGSQL.5432$"
tcp_port=$port
export PGPASSWORD=secret
asked 1 -c 'SELECT 1'
host=$work port=5432
asked 1 -c 'SELECT 1'
unset host
port=$tcp_port
PGPASSWORD=Secret refused 'password authentication failed for user "ann"' -c 'SELECT 1'
user=nobody refused 'password authentication failed for user "nobody"' -c 'SELECT 1'
user=bob PGPASSWORD=b:ob asked 1 -c 'SELECT 1'
asked 'ERROR:  canceling statement due to statement timeout' -c 'SELECT pg_sleep(60)'
[[ $(talk "$port" '' 10 | tr -d '\0') == *'canceling authentication due to timeout'* ]] || fail '--login-timeout'
exec 4> >(ask > "$work/idle" 2>&1)
idle=$!
echo 'SELECT 1;' >&4
says '^1$' "$work/idle"
refused 'sorry, too many clients already' -c 'SELECT 1'
port=$(sed -n 's/^priority on 127.0.0.1://p' "$work/announced") asked 1 -c 'SELECT 1'
sleep 1.2
echo 'SELECT 2;' >&4
exec 4>&-
wait "$idle" || true
says 'terminating connection due to idle-session timeout' "$work/idle"
stop

# Clients that say nothing take the places of others, which are told so.
start postgres --max-connections 1
silent=()
for ((i = 0; i < 33; ++i)); do
  exec {fd}<> "/dev/tcp/127.0.0.1/$port"
  silent+=("$fd")
done
PGSSLMODE=disable refused 'sorry, too many clients already' -c 'SELECT 1'
for fd in "${silent[@]}"; do exec {fd}<&-; done
for ((i = 0; i < 500; ++i)); do [[ $(ask -c 'SELECT 1') != 1 ]] || break; done
((i < 500)) || fail 'no place is free again'
warned ' a connection is refused: max_connections are already open'
stop

# On a Unix socket the system says who the client is. The server's own user may use any name.
start postgres --listen 127.0.0.1:0 --listen "unix:$work/.s.PGSQL.5432" --users "$work/users" --auth-local peer
says '^listening on unix:'
tcp_port=$port
host=$work port=5432
PGPASSWORD='' asked 1 -c 'SELECT 1'
if [[ $(id -u) == 0 ]]; then
  chmod 711 "$work"
  as=(setpriv --reuid daemon --regid daemon --clear-groups)
  user=daemon PGPASSWORD='' asked 1 -c 'SELECT 1'
  refused 'Peer authentication failed for user "ann"' -c 'SELECT 1'
  as=()
fi
unset host
port=$tcp_port
asked 1 -c 'SELECT 1'
PGPASSWORD=Secret refused 'password authentication failed for user "ann"' -c 'SELECT 1'
stop
[[ $("$examples/postgres" --auth-local ident 2>&1) == *"'ident' is not a method; it must be peer" ]] || fail '--auth-local'
[[ $("$examples/postgres" --users "$work/none" 2>&1) == *'the file cannot be read, or has no user' ]] || fail '--users'

# A drain lets a statement finish.
start postgres
ask -c "INSERT INTO kv VALUES (1, 'x')" -c 'SELECT pg_sleep(0.5)' -c 'SELECT 2' > "$work/drained" &
asking=$!
for ((i = 0; i < 500; ++i)); do [[ $(ask -c 'SELECT v FROM kv WHERE k = 1') != x ]] || break; done
stop
wait "$asking"
[[ $(cat "$work/drained") == *'terminating connection due to administrator command'* ]] || fail "$(cat "$work/drained")"

# A CancelRequest that reaches another process than its session: with one port for both, the kernel decides.
share="1=unix:$work/1.bus,2=unix:$work/2.bus"
start postgres --siblings "$share" --node 1
first_pid=$server_pid
trap 'kill -KILL "$first_pid" 2> /dev/null || true; cleanup' EXIT
exec 3<> "/dev/tcp/127.0.0.1/$port"
printf '\0\0\0\22\0\3\0\0user\0ann\0\0' >&3
cat <&3 > "$work/answer" &
answered() { bytes=$(od -An -v -tx1 "$work/answer" | tr -d ' \n') && [[ $bytes =~ $1 ]]; }
start postgres --siblings "$share" --node 2
for ((i = 0; i < 500; ++i)); do
  ! answered 5a0000000549 || break  # ReadyForQuery
  sleep 0.02
done
answered 4b0000000c'([0-9a-f]{16})' || fail 'no BackendKeyData'
printf 'Q\0\0\0\30SELECT pg_sleep(60)\0' >&3
for ((i = 0; i < 500; ++i)); do
  ! answered 3537303134 || break  # 57014
  answered 4b0000000c'([0-9a-f]{16})'
  printf '%b' "$(sed 's/../\\x&/g' <<< "0000001004d2162e${BASH_REMATCH[1]}")" > "/dev/tcp/127.0.0.1/$port"
  sleep 0.02
done
answered 3537303134 || fail 'a CancelRequest does not reach the sibling'
exec 3<&-
stop
server_pid=$first_pid
stop
