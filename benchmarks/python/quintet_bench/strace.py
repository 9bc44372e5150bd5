# SPDX-License-Identifier: BSL-1.0
"""Watches another process's system calls by strace, which slows the process down a lot: so more work is ready at each
wake-up, and the counts are those of a busier server."""
import contextlib
import functools
import re
import shutil
import time
from collections.abc import Iterator

from .child import Child
from .errors import RunError

BEGUN_CALL = re.compile(r"^(?:\[pid +\d+\] )?(\w+)\(", re.MULTILINE)


@contextlib.contextmanager
def attached(pid: int, calls: str = "all") -> Iterator[Child]:
    """Yields strace, attached. Its errors() are lines such as "[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = 16", read
    from standard error, since strace buffers files. `calls` is its list of calls to trace. -a1 -s0 keep each line short."""
    command = ["strace", "-f", "-a1", "-s0", "-e", "signal=none", "-e", f"trace={calls}", "-p", str(pid)]
    deadline = time.monotonic() + 5
    with Child("strace", command) as trace:
        while "attached" not in trace.errors():
            if trace.status() is not None or time.monotonic() > deadline:
                raise RunError(f"strace {trace.ending()}")
            time.sleep(0.005)
        yield trace


def counts(text: str) -> tuple[int, int]:
    """Returns how many calls have begun, and how many of them are futex."""
    calls = BEGUN_CALL.findall(text)
    return len(calls), calls.count("futex")


@functools.cache
def obstacle() -> str | None:
    """Says why strace cannot attach to child processes; None: it can. Tried once, then remembered."""
    if not shutil.which("strace"):
        return "strace is not installed"
    try:
        with Child("somebody", ["/bin/sleep", "10"]) as somebody, attached(somebody.pid):
            return None
    except RunError as error:
        return str(error)
