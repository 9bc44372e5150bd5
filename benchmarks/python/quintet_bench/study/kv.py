# SPDX-License-Identifier: BSL-1.0
"""A load that misses: the example `kv`, with keys and values that take 4 times the last-level cache, under GETs of them."""
from __future__ import annotations

import contextlib
import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from ..build import Workload
from ..child import Child
from ..errors import RunError
from ..foreign import pinned, sample, take_server_figures
from ..machine import parse_cpus, read_text
from ..plan import Run, Settings
from ..results import Result
from ..runner import Observer

SKEW = {"kv:uniform": 0.0, "kv:zipf": 0.99}  # exponent of a key's popularity; 0.99 is that of YCSB
VALUE = b"v" * 128
ENTRY_BYTES = 10 + len(VALUE) + 128     # key, value, and what kv counts for an entry of its store
GET, SET = b"*2\r\n$3\r\nGET\r\n$10\r\n%010d\r\n", b"*3\r\n$3\r\nSET\r\n$10\r\n%010d\r\n$128\r\n" + VALUE + b"\r\n"
TURNS = (100, 900)                      # of a short and a long run; many, because storing the keys has other counts each time
# Of kind echo, so that server and client have CPUs of their own.
WORKLOADS = {name: Workload(name, "echo", 16, len(VALUE), 16, False, False, 0, (16, len(VALUE), 16)) for name in SKEW}


def _commands(command: bytes, keys: np.ndarray) -> bytes:
    out = np.tile(np.frombuffer(command % 0, np.uint8), (len(keys), 1))
    at = command.index(b"%")
    out[:, at:at + 10] = keys[:, None] // 10 ** np.arange(9, -1, -1) % 10 + ord("0")
    return out.tobytes()


def _expect(connection: socket.socket, reply: bytes) -> None:
    got = bytearray()
    while len(got) < len(reply) and (data := connection.recv(1 << 20)):
        got += data
    if got != reply:
        raise RunError(f"kv answered {bytes(got[:60])!r}" if got else "kv closed a connection")


class Keys:
    """Stores `count` keys, and asks for them in turns, in which all connections send before any of them reads."""

    def __init__(self, port: int, work: Workload, count: int, ends: contextlib.ExitStack) -> None:
        with socket.create_connection(("127.0.0.1", port), 60) as filling:
            for keys in np.array_split(np.arange(count), count // 1000 + 1):
                filling.sendall(_commands(SET, keys))
                _expect(filling, b"+OK\r\n" * len(keys))
        # Only now, because kv closes connections that do not send their first byte soon.
        self._connections = [ends.enter_context(socket.create_connection(("127.0.0.1", port), 60))
                             for _ in range(work.connections)]
        self._depth, self._random = work.pipeline, np.random.default_rng(1)
        self._popularity = np.cumsum(np.arange(1.0, count + 1) ** -SKEW[work.name])
        self._key_of_rank = self._random.permutation(count)

    def turn(self) -> int:
        """Returns the number of requests, each answered right."""
        chances = self._random.random((len(self._connections), self._depth)) * self._popularity[-1]
        keys = self._key_of_rank[np.searchsorted(self._popularity, chances)]
        for connection, row in zip(self._connections, keys):
            connection.sendall(_commands(GET, row))
        for connection in self._connections:
            _expect(connection, (b"$128\r\n" + VALUE + b"\r\n") * self._depth)
        return int(keys.size)


class KvLoad:
    def __init__(self, program: str, cache_bytes: int) -> None:
        self._program, self._bytes = program, 4 * cache_bytes
        self.simulation_s = 15 + 80e-6 * self._bytes / ENTRY_BYTES  # mostly to store the keys, twice

    @contextlib.contextmanager
    def _serving(self, about: Result, run: Run, prefix: list[str]) -> Iterator[tuple[Child, Keys]]:
        command = [self._program, "--port", "0", "--model", about["model"], "--loops", str(about["loops"]), "--workers",
                   about["workers"], "--engine", about["engine"], "--max-memory-mib", str((self._bytes >> 20) + 64)]
        with contextlib.ExitStack() as ends:
            server = ends.enter_context(Child("kv", pinned(about["server_cpus"], prefix + command)))
            port = server.await_line(f"kv: {about['model']}, 127.0.0.1:", time.monotonic() + 60)
            yield server, Keys(int(port), run.work, self._bytes // ENTRY_BYTES, ends)

    def measure(self, result: Result, s: Settings, run: Run, observer: Observer) -> None:
        affinity = os.sched_getaffinity(0)
        os.sched_setaffinity(0, parse_cpus(result["client_cpus"]))
        try:
            with self._serving(result, run, []) as (server, keys):
                observer.attach(server.pid)
                warm = time.monotonic() + run.warm_up_s(s)
                while time.monotonic() < warm:
                    keys.turn()
                observer.begin(server.pid)
                before, start, client_s, requests = sample(server.pid), time.monotonic(), time.process_time(), 0
                while time.monotonic() < start + run.measured_s(s):
                    requests += keys.turn()
                duration_s, client_s, after = time.monotonic() - start, time.process_time() - client_s, sample(server.pid)
                observer.end(server.pid)
        finally:
            os.sched_setaffinity(0, affinity)
        result |= {"requests": requests, "failed": 0, "duration_s": duration_s, "requests_per_s": requests / duration_s,
                   "client_cpu_us_per_request": client_s * 1e6 / requests, "client_cpu_fraction": client_s / duration_s}
        take_server_figures(result, before, after, client_s)

    def log(self, tool: list[str], result: Result, run: Run, turns: int) -> str:
        with tempfile.NamedTemporaryFile(suffix=".valgrind") as log:
            prefix = ["valgrind", "--fair-sched=yes", f"--log-file={log.name}", *tool]
            with self._serving(result, run, prefix) as (server, keys):
                for _ in range(turns):
                    keys.turn()
                server.kill(signal.SIGTERM)
                server.wait(time.monotonic() + 60)
            return read_text(log.name)
