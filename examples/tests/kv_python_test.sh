#!/usr/bin/env bash
# kv_python_test <build tree>: redis-py talks to kv as to Redis, with versions 2 and 3 of the protocol, in each model.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

python=$(python_with redis)
[[ $python ]] || skip 'Python has no redis; apt-get install python3-redis'

cat > "$work/client.py" << 'PYTHON'
import inspect, sys
import redis

def check(got, expected):
    if got != expected:
        sys.exit(f"got {got!r} and not {expected!r}")

# Version 3 if this redis-py knows it: 4.x has no such argument.
versions = (2, 3) if "protocol" in inspect.signature(redis.Redis.__init__).parameters else (None,)
for version in versions:
    more = {} if version is None else {"protocol": version}
    r = redis.Redis(port=int(sys.argv[1]), socket_timeout=20, client_name="tester", **more)
    check(r.ping(), True)
    check(r.client_getname() in ("tester", b"tester"), True)
    check(r.client_id() > 0, True)
    check(r.flushall(), True)
    binary = bytes(range(256)) * 2000
    check(r.set("key", binary), True)
    check(r.get("key"), binary)
    check(r.get("none"), None)
    check(r.set("key", "new", nx=True), None)
    check(r.set("other", "x", xx=True), None)
    check(r.set("brief", "x", ex=100, nx=True), True)
    check(r.set("n", 40), True)
    check((r.incr("n"), r.incr("n", 1), r.incrby("n", -2)), (41, 42, 40))
    check(r.exists("key", "n", "none"), 2)
    check(r.dbsize(), 3)
    check(r.info("keyspace")["db0"]["expires"], 1)
    check(r.info()["redis_mode"], "standalone")
    check(r.config_get("appendonly", "save") if version else r.config_get("appendonly"),
          {"appendonly": "no", "save": ""} if version else {"appendonly": "no"})
    with r.pipeline(transaction=False) as p:
        for i in range(1000):
            p.set(f"k{i}", i)
            p.get(f"k{i}")
        check(p.execute(), [x for i in range(1000) for x in (True, b"%d" % i)])
    check(r.delete("key", "none"), 1)
    try:
        r.execute_command("LPUSH", "list", "x")
        sys.exit("LPUSH is known")
    except redis.ResponseError as error:
        check("unknown command" in str(error), True)
    check(r.ping(), True)
PYTHON

for model in "${models[@]}"; do
  start kv --model "$model" --workers 2..4
  timeout 60 "$python" "$work/client.py" "$port" || fail "$model: redis-py: exit status $?"
  stop
  echo "$model: ok"
done
