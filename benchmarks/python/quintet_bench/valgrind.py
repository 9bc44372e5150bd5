# SPDX-License-Identifier: BSL-1.0
"""A server under one of valgrind's tools, and a client with a fixed number of requests."""
import contextlib
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator

from .build import Workload
from .child import Child
from .errors import RunError
from .machine import allowed_cpus, read_text

PATIENCE_S = 60.0                       # a server is some fifty times slower under valgrind
CALLGRIND = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]


def obstacle() -> str | None:
    return None if shutil.which("valgrind") else "valgrind is not installed; apt-get install valgrind"


def cpu() -> int:
    """The CPU on which server and client run under valgrind."""
    return allowed_cpus()[-1]


def bounded_load(work: Workload) -> tuple[int, int, int]:
    """Returns few turns, many turns, and the requests of a turn, in which every connection sends all it may have in flight.
    The difference of the counts of the two belongs to requests only, not to start and stop."""
    per_turn = work.connections * work.pipeline
    turns = max(20, 4000 // per_turn)
    return turns, 3 * turns, per_turn


@contextlib.contextmanager
def _strict_turns() -> Iterator[None]:
    """Pins this process and its new children to one CPU, with SCHED_RR if permitted: a thread keeps the CPU until it
    waits. Without SCHED_RR the counts are similar but do not repeat exactly."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu()})
    try:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, before)


def _converse(address: str, work: Workload, turns: int) -> None:
    """Every connection sends before any of them reads."""
    host, _, port = address.rpartition(":")
    request = b"q" * (work.message_bytes * work.pipeline)
    with contextlib.ExitStack() as ends:
        connections = [ends.enter_context(socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S))
                       for _ in range(work.connections)]
        replies = [ends.enter_context(connection.makefile("rb")) for connection in connections]
        for _ in range(turns):
            for connection in connections:
                connection.sendall(request)
            if any(reply.read(len(request)) != request for reply in replies):
                raise RunError("a reply was wrong, or not complete")


def log_under_valgrind(tool: list[str], command: list[str], work: Workload, turns: int) -> str:
    """Returns the log of the tool that `tool` selects, such as CALLGRIND. Raises RunError."""
    with tempfile.NamedTemporaryFile(suffix=".valgrind") as log, _strict_turns():
        with Child("the server", ["valgrind", "--fair-sched=yes", f"--log-file={log.name}", *tool, *command]) as server:
            _converse(server.await_line("listening on ", time.monotonic() + PATIENCE_S), work, turns)
            server.kill(signal.SIGTERM)
            if server.wait(time.monotonic() + PATIENCE_S) != 0:
                raise RunError(f"the server {server.ending()}")
        return read_text(log.name)


def collected_instructions(log: str) -> float:
    """Returns the count in a log of callgrind."""
    before, _, count = log.rpartition("Collected : ")
    if not before:
        raise RunError(f"callgrind counted nothing: {log.partition(chr(10))[0]}")
    return float(count.split()[0])
