# SPDX-License-Identifier: BSL-1.0
"""Counts the wake-ups of a server's threads to accept: by the scheduler's tracepoint, or else by strace."""
import contextlib
import functools
import os
import re
import subprocess
import tempfile
import time

from . import strace
from .child import Child
from .errors import RunError
from .runner import PATIENCE_S
from .study.perf_tool import perf_output

SCHEDULER = "by the tracepoint sched_wakeup"
EVENTS = "sched:sched_wakeup,syscalls:sys_*_accept*,syscalls:sys_*_epoll_*wait*"
EVENT = re.compile(r"^ *(\d+) +(?:sched|syscalls):(?:sys_)?(\w+): (.*)$", re.MULTILINE)
TRACED = "epoll_wait,epoll_pwait,epoll_pwait2,accept,accept4"
CALL = re.compile(r"^(\[pid +\d+\] )?(<\.\.\. )?(epoll_|accept).*?(?:\) = (-?\d+)[^=\n]*)?$", re.MULTILINE)


def count_calls(trace: str) -> tuple[int, int]:
    """Returns accepted connections, and wake-ups: returns from epoll_wait that are followed by accept, successful or not.
    A call has two lines if another thread's call came in between."""
    accepted = wakes = 0
    woken: set[str] = set()             # threads that have made no accept call since then
    for thread, resumed, call, value in CALL.findall(trace):
        if call == "accept":
            wakes += not resumed and thread in woken
            accepted += int(value or -1) >= 0
        (woken.add if call == "epoll_" and int(value or -1) > 0 else woken.discard)(thread)
    return accepted, wakes


def count_events(trace: str, threads: set[str]) -> tuple[int, int]:
    """The same from the lines of `perf script`. A wake-up in epoll_wait that finds nothing there counts, too: the kernel lets
    the thread sleep again, and strace does not see it."""
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
def method() -> str | None:
    """Says how wake-ups can be counted here; None: not at all, see strace.obstacle()."""
    with contextlib.suppress(RunError, OSError, subprocess.SubprocessError):
        _trace(["true"])
        return SCHEDULER
    return None if strace.obstacle() else "by strace"


def count(server: int, client: list[str]) -> tuple[int, int]:
    """Runs the client, and returns what count_calls() or count_events() does."""
    if method() == SCHEDULER:
        threads = set(os.listdir(f"/proc/{server}/task"))
        return count_events(_trace(client), threads)
    with strace.attached(server, TRACED) as trace, Child("the client", client) as child:
        child.wait(time.monotonic() + PATIENCE_S)
        return count_calls(trace.errors())
