#!/usr/bin/env bash
# postgres_drivers_test <build tree>: psycopg and asyncpg talk to postgres as to PostgreSQL, in each model, in plain and by TLS.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

psycopg=$(python_with psycopg) asyncpg=$(python_with asyncpg)
[[ $psycopg$asyncpg ]] || skip 'Python has neither psycopg nor asyncpg; apt-get install python3-psycopg python3-asyncpg'

cat > "$work/psycopg.py.txt" <<'PYTHON'
import sys, threading
import psycopg
port = int(sys.argv[1])
def check(got, expected):
    if got != expected:
        sys.exit(f'got {got!r} and not {expected!r}')

with psycopg.connect(host='127.0.0.1', port=port, user='ann', dbname='db') as c:
    check(c.execute('SELECT 1').fetchone(), (1,))
    check(c.execute('SELECT %s::int, %s::text, %s', (5, "it's", None)).fetchone(), (5, "it's", None))
    with c.cursor(binary=True) as cur:
        check(cur.execute('SELECT %b::int, %b::text, %b::float8', (5, "x", 2.5)).fetchone(), (5, "x", 2.5))
    for i in range(20):
        c.execute('INSERT INTO kv VALUES (%s, %s)', (i, f'row {i}'))
    with c.cursor() as cur:
        cur.executemany('INSERT INTO kv VALUES (%s, %s)', [(100+i, 'x') for i in range(20)])
    check(c.execute('SELECT v FROM kv WHERE k = %s', (7,)).fetchone(), ('row 7',))
    check(len(c.execute('SELECT * FROM kv').fetchall()), 40)
    c.commit()
    try:
        c.execute('frobnicate')
    except psycopg.errors.SyntaxError as e: check(e.sqlstate, '42601')
    try:
        c.execute('SELECT 1')
    except psycopg.errors.InFailedSqlTransaction: pass
    c.rollback()
    t = threading.Timer(0.2, c.cancel); t.start()
    try: c.execute('SELECT pg_sleep(20)'); sys.exit('not cancelled')
    except psycopg.errors.QueryCanceled: pass
    c.rollback()
    with c.pipeline():
        cur = [c.execute('SELECT %s::int', (i,)) for i in range(100)]
        check([x.fetchone()[0] for x in cur], list(range(100)))
    c.commit()
    with c.transaction():
        check(sum(r[0] for r in c.cursor().stream('SELECT g FROM generate_series(1, 1000) g')), 500500)
PYTHON

cat > "$work/asyncpg.py.txt" <<'PYTHON'
import asyncio, ssl, sys
import asyncpg
port = int(sys.argv[1])
secure = ssl.create_default_context(cafile=sys.argv[2]) if sys.argv[2:] else False
def check(got, expected):
    if got != expected:
        sys.exit(f'got {got!r} and not {expected!r}')

async def main():
    c = await asyncpg.connect(host='127.0.0.1', port=port, user='ann', database='db', ssl=secure)
    check(await c.fetchval('SELECT 1'), 1)
    check(await c.fetchval('SELECT $1::bigint', 1 << 40), 1 << 40)
    check(tuple(await c.fetchrow('SELECT $1::text, $2::float8, $3::int', 'a', 1.5, None)), ('a', 1.5, None))
    check([r['g'] for r in await c.fetch('SELECT g FROM generate_series($1, $2) g', 1, 5)], [1,2,3,4,5])
    await c.executemany('INSERT INTO kv VALUES ($1, $2)', [(1000+i, 'y') for i in range(50)])
    check(await c.fetchval('SELECT v FROM kv WHERE k = $1', 1007), 'y')
    async with c.transaction():
        n = 0
        async for r in c.cursor('SELECT g FROM generate_series(1, 10000) g', prefetch=77): n += r['g']
        check(n, 50005000)
    try:
        await c.fetch('SELECT pg_sleep(20)', timeout=0.2); sys.exit('no timeout')
    except asyncio.TimeoutError: pass
    check(await c.fetchval('SELECT 2'), 2)
    await c.execute('SET application_name = x')
    await c.close()
    async with asyncpg.create_pool(host='127.0.0.1', port=port, user='ann', database='db', ssl=secure, min_size=2, max_size=4) as pool:
        check(await asyncio.gather(*[pool.fetchval('SELECT $1::int', i) for i in range(50)]), list(range(50)))
asyncio.run(main())
PYTHON

# drivers <CA's file, for TLS> [option of postgres...]
drivers() {
  start postgres --model "$model" --workers 2..4 "${@:2}"
  if [[ $psycopg ]]; then timeout 60 "$psycopg" "$work/psycopg.py.txt" "$port" || fail "$model $*: psycopg"; fi
  if [[ $asyncpg ]]; then timeout 60 "$asyncpg" "$work/asyncpg.py.txt" "$port" ${1:+"$1"} || fail "$model $*: asyncpg"; fi
  stop
}
for model in "${models[@]}"; do drivers ''; done
if command -v openssl > /dev/null && "$examples/postgres" --help | grep -q -- --tls-cert; then
  make_certificate
  export PGSSLMODE=verify-full PGSSLROOTCERT=$work/cert.pem
  for model in "${models[@]}"; do drivers "$work/cert.pem" --tls-cert "$work/cert.pem" --tls-key "$work/key.pem"; done
fi
