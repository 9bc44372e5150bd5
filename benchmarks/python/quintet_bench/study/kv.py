# SPDX-License-Identifier: BSL-1.0
"""A load that misses: the example `kv`, with keys and values that take 4 times the last-level cache, under GETs of them."""
import contextlib
import os
import time
from collections.abc import Iterator

import numpy as np

from .. import valgrind
from ..build import Workload
from ..child import Child
from ..foreign import pinned, sample, take_window
from ..machine import parse_cpus
from ..plan import Run, Settings
from ..results import Result
from ..runner import Observer

SKEW = {"kv:uniform": 0.0, "kv:zipf": 0.99}  # exponent of a key's popularity; 0.99 is that of YCSB
VALUE = b"v" * 128
REPLY = b"$128\r\n" + VALUE + b"\r\n"
ENTRY_BYTES = 10 + len(VALUE) + 128     # key, value, and what kv counts for an entry of its store
GET, SET = b"*2\r\n$3\r\nGET\r\n$10\r\n%010d\r\n", b"*3\r\n$3\r\nSET\r\n$10\r\n%010d\r\n" + REPLY
TURNS = (100, 900)                      # of a short and a long run; many, because storing the keys has other counts each time
# Of kind echo, so that server and client have CPUs of their own.
WORKLOADS = {name: Workload(name, "echo", 16, len(VALUE), 16, False, False, 0, (16, len(VALUE), 16)) for name in SKEW}


def _commands(command: bytes, keys: np.ndarray) -> bytes:
    return b"".join(command % key for key in keys.tolist())


class KvLoad:
    def __init__(self, program: str, cache_bytes: int) -> None:
        self._program, self._bytes, self._count = program, 4 * cache_bytes, 4 * cache_bytes // ENTRY_BYTES
        self.simulation_s = 15 + 80e-6 * self._count  # mostly to store the keys, twice

    @contextlib.contextmanager
    def serving(self, about: Result, run: Run, prefix: list[str]) -> Iterator[valgrind.Served]:
        """Starts kv and stores the keys."""
        command = [self._program, "--port", "0", "--model", about["model"], "--loops", str(about["loops"]), "--workers",
                   about["workers"], "--engine", about["engine"], "--max-memory-mib", str((self._bytes >> 20) + 64)]
        with contextlib.ExitStack() as ends:
            server = ends.enter_context(Child("kv", pinned(about["server_cpus"], prefix + command)))
            address = server.await_line(f"kv: {about['model']}, ", time.monotonic() + 60)
            with contextlib.ExitStack() as stored:
                connections = valgrind.connect(address, 1, stored)
                for keys in np.array_split(np.arange(self._count), self._count // 1000 + 1):
                    valgrind.exchange(connections, [_commands(SET, keys)], b"+OK\r\n" * len(keys))
            # Only now, because kv closes connections that do not send their first byte soon.
            connections = valgrind.connect(address, run.work.connections, ends)
            random, popularity = np.random.default_rng(1), np.cumsum(np.arange(1.0, self._count + 1) ** -SKEW[run.work.name])
            key_of_rank = random.permutation(self._count)

            def turn() -> int:
                chances = random.random((len(connections), run.work.pipeline)) * popularity[-1]
                keys = key_of_rank[np.searchsorted(popularity, chances)]
                valgrind.exchange(connections, [_commands(GET, row) for row in keys], REPLY * run.work.pipeline)
                return int(keys.size)
            yield server, turn

    def measure(self, result: Result, s: Settings, run: Run, observer: Observer) -> None:
        with contextlib.ExitStack() as ends:
            ends.callback(os.sched_setaffinity, 0, os.sched_getaffinity(0))
            os.sched_setaffinity(0, parse_cpus(result["client_cpus"]))
            server, turn = ends.enter_context(self.serving(result, run, []))
            observer.attach(server.pid)
            warm = time.monotonic() + run.warm_up_s(s)
            while time.monotonic() < warm:
                turn()
            observer.begin(server.pid)
            before, start, client_s, requests = sample(server.pid), time.monotonic(), time.process_time(), 0
            while time.monotonic() < start + run.measured_s(s):
                requests += turn()
            duration_s, client_s, after = time.monotonic() - start, time.process_time() - client_s, sample(server.pid)
            observer.end(server.pid)
        take_window(result, before, after, requests, duration_s, client_s)
