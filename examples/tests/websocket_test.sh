#!/usr/bin/env bash
# websocket_test <build tree>: Python's websockets talks to the example in each model: messages of any size, fragments, pings, a
# room of many guests, and ends from both sides.
# ctest: TIMEOUT 300
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

python=$(python_with websockets)
[[ $python ]] || skip 'Python has no websockets; apt-get install python3-websockets'

cat > "$work/client.py" << 'PYTHON'
import asyncio, sys
import websockets

def check(got, expected):
    if got != expected:
        sys.exit(f"got {str(got)[:100]} and not {str(expected)[:100]}")

async def main(at):
    async with websockets.connect(at + "/echo") as ws:
        for text in ("", "a", "x" * 125, "y" * 126, "z" * 60_000):
            await ws.send(text)
            check(await ws.recv(), text)
        await ws.send(bytes(range(256)) * 100)
        check(await ws.recv(), bytes(range(256)) * 100)
        await ws.send(["frag", "men", "ts"])
        check(await ws.recv(), "fragments")
        await (await ws.ping(b"here"))
        await asyncio.gather(*(ws.send(str(i)) for i in range(100)))
        check(sorted([int(await ws.recv()) for _ in range(100)]), list(range(100)))
    check(ws.close_code, 1000)
    try:  # longer than a message may be
        async with websockets.connect(at + "/echo") as ws:
            await ws.send("m" * 2_000_000)
            await ws.recv()
        sys.exit("a message that is too long came back")
    except websockets.ConnectionClosed as e:
        check(e.rcvd.code if e.rcvd else 1009, 1009)
    guests = [await websockets.connect(at + "/chat") for _ in range(30)]
    for i in range(20):
        await guests[i].send(f"message {i}")
        check({await g.recv() for g in guests}, {f"message {i}"})
    await asyncio.gather(*(g.close() for g in guests))

asyncio.run(main(f"ws://127.0.0.1:{sys.argv[1]}"))
PYTHON

for model in "${models[@]}"; do
  start websocket --model "$model"
  timeout 60 "$python" "$work/client.py" "$port" || fail "$model: the client fails"
  stop
done
