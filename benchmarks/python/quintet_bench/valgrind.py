# SPDX-License-Identifier: BSL-1.0
"""A server under one of valgrind's tools, and a client with a fixed number of requests."""
import contextlib
import itertools
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from .build import Workload
from .child import Child
from .errors import RunError
from .machine import allowed_cpus, read_text

PATIENCE_S = 60.0                       # a server is some fifty times slower under valgrind
CALLGRIND = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]
Served = tuple[Child, Callable[[], int]]        # a server, and a turn with it, which returns the number of requests


def obstacle() -> str | None:
    return None if shutil.which("valgrind") else "valgrind is not installed; apt-get install valgrind"


def cpu() -> int:
    """The CPU on which server and client run under valgrind."""
    return allowed_cpus()[-1]


def bounded_turns(work: Workload) -> tuple[int, int]:
    """Returns few turns and many, in which every connection sends all it may have in flight."""
    turns = max(20, 4000 // (work.connections * work.pipeline))
    return turns, 3 * turns


def connect(address: str, count: int, ends: contextlib.ExitStack) -> list[socket.socket]:
    host, _, port = address.rpartition(":")
    return [ends.enter_context(socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S)) for _ in range(count)]


def exchange(connections: Sequence[socket.socket], requests: Iterable[bytes], reply: bytes) -> None:
    """Every connection sends before any of them reads."""
    for connection, request in zip(connections, requests):
        connection.sendall(request)
    for connection in connections:
        got = bytearray()
        while len(got) < len(reply) and (data := connection.recv(1 << 20)):
            got += data
        if got != reply:
            raise RunError(f"a reply was wrong, or not complete: {bytes(got[:60])!r}")


@contextlib.contextmanager
def serving_echo(command: list[str], work: Workload, prefix: list[str]) -> Iterator[Served]:
    """Server and client have the same CPU, with SCHED_RR if permitted: a thread keeps the CPU until it waits. Without
    SCHED_RR the counts are similar but do not repeat exactly."""
    with contextlib.ExitStack() as ends:
        ends.callback(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        ends.callback(os.sched_setscheduler, 0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, {cpu()})
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        server = ends.enter_context(Child("the server", prefix + command))
        connections = connect(server.await_line("listening on ", time.monotonic() + PATIENCE_S), work.connections, ends)
        request = b"q" * (work.message_bytes * work.pipeline)

        def turn() -> int:
            exchange(connections, itertools.repeat(request), request)
            return work.connections * work.pipeline
        yield server, turn


def difference(tool: list[str], parse: Callable[[str], tuple[float, ...]], few_many: tuple[int, int],
               serve: Callable[[list[str]], contextlib.AbstractContextManager[Served]]) -> tuple[list[float], int]:
    """Runs a server twice, with few turns and with many, under the tool that `tool` selects, such as CALLGRIND. Returns by
    how much more `parse` finds in the second log, and the number of requests that caused it: start and stop cancel out.
    `serve` starts the server behind the given words."""
    requests, counts = [0, 0], list[tuple[float, ...]]()
    for run, turns in enumerate(few_many):
        with tempfile.NamedTemporaryFile(suffix=".valgrind") as log:
            with serve(["valgrind", "--fair-sched=yes", f"--log-file={log.name}", *tool]) as (server, turn):
                requests[run] = sum(turn() for _ in range(turns))
                server.kill(signal.SIGTERM)
                if server.wait(time.monotonic() + PATIENCE_S) != 0:
                    raise RunError(f"the server {server.ending()}")
            counts.append(parse(read_text(log.name)))
    return [more - less for less, more in zip(*counts)], requests[1] - requests[0]


def collected_instructions(log: str) -> float:
    """Returns the count in a log of callgrind."""
    before, _, count = log.rpartition("Collected : ")
    if not before:
        raise RunError(f"callgrind counted nothing: {log.partition(chr(10))[0]}")
    return float(count.split()[0])
