# SPDX-License-Identifier: BSL-1.0
"""Counts the wake-ups of a server's threads to accept, by the scheduler's tracepoint."""
import functools
import os
import re
import subprocess
import tempfile

from .errors import RunError
from .study.perf_tool import perf_output

EVENTS = "sched:sched_wakeup,syscalls:sys_*_accept*,syscalls:sys_*_epoll_*wait*"
EVENT = re.compile(r"^ *(\d+) +(?:sched|syscalls):(?:sys_)?(\w+): (.*)$", re.MULTILINE)


def count_events(trace: str, threads: set[str]) -> tuple[int, int]:
    """Returns accepted connections, and wake-ups to accept, from the lines of `perf script`. A wake-up in epoll_wait that finds
    nothing there counts, too: the kernel lets the thread sleep again, which no system call shows."""
    accepted = wakes = 0
    woken, returned = set[str](), set[str]()
    waiting = {thread for thread, event, _ in EVENT.findall(trace) if "epoll" in event} & threads
    for thread, event, text in EVENT.findall(trace):
        if event == "sched_wakeup":     # of another thread
            if (found := re.search(r"pid=(\d+) prio=", text)) and found[1] in waiting:
                wakes += found[1] in woken
                woken.add(found[1])
        elif thread in threads and "epoll" in event:
            (waiting.add if event.startswith("enter") else waiting.discard)(thread)
            (returned.add if thread in woken and thread not in waiting else returned.discard)(thread)
            woken.discard(thread)
        elif thread in threads and event.startswith("enter"):
            wakes += thread in returned
            returned.discard(thread)
        elif thread in threads:
            accepted += int(text, 16) < 1 << 63
    return accepted, wakes


def _trace(command: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        perf_output("record", "-q", "-a", "-e", EVENTS, "-o", f"{folder}/data", "--", *command)
        return perf_output("script", "-i", f"{folder}/data", "-F", "tid,event,trace")


@functools.cache
def obstacle() -> str | None:
    """Says why wake-ups cannot be counted here; None: they can."""
    try:
        _trace(["true"])
        return None
    except (RunError, OSError, subprocess.SubprocessError) as error:
        return str(error)


def count(server: int, client: list[str]) -> tuple[int, int]:
    """Runs the client, and returns what count_events() does."""
    threads = set(os.listdir(f"/proc/{server}/task"))
    return count_events(_trace(client), threads)
