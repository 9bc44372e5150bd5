#!/usr/bin/env bash
# websocket_frames_test <build tree>: 200 clients of an independent frame reader, in each model: messages of 1 KiB and 1 MiB in
# fragments, pings between them, clients that break off, clients that do not read, and a close frame at a drain.
# ctest: TIMEOUT 300
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

cat > "$work/client.py" << 'PYTHON'
import asyncio, hashlib, os, random, signal, struct, sys

PORT, PID = int(sys.argv[1]), int(sys.argv[2])
MOST_RESIDENT = 400 << 20  # bytes: 200 messages of 1 MiB, twice

def demand(holds, what):
    if not holds:
        sys.exit(what)

def frame(opcode, payload, fin=True):
    size = len(payload)
    head = bytes([opcode | 0x80 * fin])
    head += bytes([0x80 | size]) if size < 126 else b'\xfe' + struct.pack('>H', size) if size < 65536 else b'\xff' + struct.pack('>Q', size)
    mask = random.randbytes(4)
    whole = int.from_bytes(payload, 'little') ^ int.from_bytes(mask * (size // 4 + 1), 'little') & ((1 << 8 * size) - 1)
    return head + mask + whole.to_bytes(size, 'little')

class Client:
    @classmethod
    async def connect(cls, path='/echo'):
        self = cls()
        self.reader, self.writer = await asyncio.open_connection('127.0.0.1', PORT, limit=4 << 20)
        self.writer.write(f'GET {path} HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'.encode())
        answer = await self.reader.readuntil(b'\r\n\r\n')
        demand(answer.startswith(b'HTTP/1.1 101') and b's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' in answer, f'no upgrade: {answer}')
        self.pongs = []
        return self

    async def one_frame(self):
        first, second = await self.reader.readexactly(2)
        size = second
        demand(not first & 0x70 and not second & 0x80, 'reserved bits, or a masked frame of a server')
        if size == 126:
            size = struct.unpack('>H', await self.reader.readexactly(2))[0]
            demand(size >= 126, 'a length in too many bytes')
        elif size == 127:
            size = struct.unpack('>Q', await self.reader.readexactly(8))[0]
            demand(size >= 65536, 'a length in too many bytes')
        demand(first & 8 == 0 or (size < 126 and first & 0x80), 'a control frame that is long or cut')
        return first & 0x80, first & 15, await self.reader.readexactly(size)

    async def message(self):
        """Returns opcode and payload; notes pongs on the way."""
        kind, parts = None, []
        while True:
            fin, opcode, payload = await self.one_frame()
            if opcode == 10:
                self.pongs.append(payload)
            elif opcode == 8:
                return 8, payload
            else:
                demand((opcode == 0) == (kind is not None), 'a frame out of order')
                kind = opcode or kind
                parts.append(payload)
                if fin:
                    return kind, b''.join(parts)

    async def send_in_fragments(self, payload):
        cuts = sorted(random.sample(range(1, len(payload)), 3))
        for i, (a, b) in enumerate(zip([0, *cuts], [*cuts, len(payload)])):
            self.writer.write(frame(0 if i else 2, payload[a:b], fin=b == len(payload)))
            if i < 3:
                self.writer.write(frame(9, b'ping %d' % i))
            await self.writer.drain()

async def talk(number):
    c = await Client.connect()
    for _ in range(10):
        payload = random.randbytes(1024)
        c.writer.write(frame(2, payload))
        demand(await c.message() == (2, payload), 'a wrong echo of 1 KiB')
    payload = random.randbytes(1 << 20)
    _, (kind, echoed) = await asyncio.gather(c.send_in_fragments(payload), c.message())
    demand(kind == 2 and hashlib.sha256(echoed).digest() == hashlib.sha256(payload).digest(), 'a wrong echo of 1 MiB')
    demand(c.pongs == [b'ping %d' % i for i in range(3)], f'pongs: {c.pongs}')
    return c

async def break_off():
    c = await Client.connect()
    c.writer.write(frame(2, random.randbytes(4096))[:2000])
    c.writer.transport.abort()

async def never_read(until):
    c = await Client.connect()
    c.reader._transport.pause_reading()
    async def write():
        while True:
            c.writer.write(frame(2, bytes(1 << 20)))
            await c.writer.drain()
    writing = asyncio.ensure_future(write())
    await until.wait()
    writing.cancel()
    c.writer.transport.abort()

def resident():
    with open(f'/proc/{PID}/status') as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith('VmRSS'))

async def main():
    random.seed(1)
    done = asyncio.Event()
    slow = [asyncio.ensure_future(never_read(done)) for _ in range(10)]
    clients = await asyncio.gather(*(talk(i) for i in range(200)), *(break_off() for _ in range(20)))
    demand(resident() < MOST_RESIDENT, f'{resident() >> 20} MiB resident')
    done.set()
    await asyncio.gather(*slow)
    guests = [await Client.connect('/chat') for _ in range(10)]
    open_ones = [c for c in clients if c] + guests
    os.kill(PID, signal.SIGTERM)
    for c in open_ones:
        demand(await c.message() == (8, struct.pack('>H', 1001)), 'no close frame at the drain')
        demand(await c.reader.read() == b'', 'bytes behind the close frame')
        c.writer.close()

asyncio.run(asyncio.wait_for(main(), 100))
PYTHON

for model in "${models[@]}"; do
  start websocket --model "$model"
  python3 "$work/client.py" "$port" "$server_pid" || fail "$model: the client fails"
  await_end ' has been stalled for '  # hundreds of threads on a loaded machine
done
