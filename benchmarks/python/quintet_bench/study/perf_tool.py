# SPDX-License-Identifier: BSL-1.0
"""What perf and /proc tell about a measured server: whether perf works here, the measured window, and perf's reports."""
import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from ..child import Child
from ..errors import RunError
from ..foreign import sample, spent_between
from ..runner import Observer
from .perf_stat import failure, parse, problems

CACHE_EVENTS = ("cache-references", "cache-misses")
COUNTING = ("stat", "-x,", "-e", ",".join((*CACHE_EVENTS, "cycles", "instructions")))
ENGLISH, PATIENCE_S = {"LC_ALL": "C"}, 30.0
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def perf_output(*arguments: str) -> str:
    """Returns its standard output and standard error. Raises RunError if perf fails."""
    if not shutil.which("perf"):
        raise RunError("perf is not installed; apt-get install linux-perf")
    done = subprocess.run(["perf", *arguments], capture_output=True, text=True, errors="replace", check=False,
                          timeout=4 * PATIENCE_S, env=os.environ | ENGLISH)
    if done.returncode:
        raise RunError(failure(done.stderr))
    return done.stdout + done.stderr


def obstacle(*, hardware: bool) -> str | None:
    """Says why perf, or its cache events, cannot be used here. The exit status of perf stat does not tell it."""
    try:
        counts = parse(perf_output(*(COUNTING if hardware else COUNTING[:3] + ("task-clock",)), "--", sys.executable, "-c",
                                   "sum(range(10**6))"))
    except (RunError, subprocess.SubprocessError) as error:
        return str(error)
    if not hardware or all(event in counts and counts[event].state != "not supported" for event in CACHE_EVENTS):
        return None  # "not counted" is no property of the machine: a longer window may count
    return "; ".join(problems(counts)) or "perf stat printed no counts"


def per_request(before: dict[str, Any], after: dict[str, Any], requests: float, window_s: float) -> dict[str, float]:
    """Returns the differences of two samples for a request, by key. The samples may be further apart than the window in which
    requests were counted."""
    spent = spent_between(before, after)
    if requests <= 0 or spent["wall_s"] <= 0:
        return {}
    return {f"{key}_per_request": value * window_s / spent["wall_s"] / requests for key, value in spent.items()}


class Window(Observer, contextlib.ExitStack):
    """Takes samples at both ends of the measured window, and runs perf in it. perf attaches before the window, with its
    events disabled, and acknowledges that it has enabled them: else it would miss the beginning."""

    def __init__(self, *arguments: str) -> None:
        super().__init__()
        self._arguments, self.text = arguments, ""  # no arguments: without perf; text: perf's standard error, after end()

    def attach(self, pid: int) -> None:
        if not self._arguments:
            return
        folder = self.enter_context(tempfile.TemporaryDirectory())
        paths = [f"{folder}/control", f"{folder}/acknowledgement"]
        for path in paths:
            os.mkfifo(path)
        self._files = [self.enter_context(open(path, "r+b", buffering=0)) for path in paths]
        self._perf = self.enter_context(Child("perf", ["perf", *self._arguments, "--delay=-1", "-p", str(pid),
                                                       f"--control=fifo:{','.join(paths)}"], ENGLISH))
        self._tell("disable")  # it answers once it has attached

    def _tell(self, command: str) -> None:
        if not self._arguments:
            return
        self._files[0].write(f"{command}\n".encode())
        deadline = time.monotonic() + PATIENCE_S
        while not select.select([self._files[1]], [], [], 0.05)[0]:
            if self._perf.status() is not None or time.monotonic() > deadline:
                raise RunError(failure(self._perf.errors()))
        self._files[1].read(64)

    def begin(self, pid: int) -> None:
        self._tell("enable")
        self.before = sample(pid)

    def end(self, pid: int) -> None:
        self.after = sample(pid)
        self._tell("disable")
        if self._arguments:
            self._perf.kill(signal.SIGINT)
            self._perf.wait(time.monotonic() + PATIENCE_S)
            self.text = self._perf.errors()


def hot_functions(text: str) -> list[dict[str, Any]]:
    """Parses `perf report --stdio -F overhead,sym,dso -t '|'`."""
    rows = re.findall(r"^ *([\d.]+)% *\| *\[(.)\] (.*?) *\| *(.*?) *$", text, re.MULTILINE)
    return [{"share": float(share) / 100, "symbol": symbol, "object": dso, "in_kernel": mark == "k"}
            for share, mark, symbol, dso in rows]


def share_of(functions: list[dict[str, Any]], names: re.Pattern[str]) -> float:
    """Of the CPU time, that of functions whose names have one of these."""
    return sum(one["share"] for one in functions if names.search(one["symbol"]))


def lock_waits(text: str) -> list[dict[str, Any]]:
    """Parses `perf lock contention`. Longest total time first."""
    rows = re.findall(r"^ *(\d+) +([\d.]+) (ns|us|ms|s) +(?:[\d.]+ \w+ +){2}(\S+) *(.*?) *$", text, re.MULTILINE)
    waits = [{"waits": int(count), "wait_us": round(float(total) * MICROSECONDS[unit], 6), "type": kind, "caller": caller}
             for count, total, unit, kind, caller in rows]
    return sorted(waits, key=lambda wait: -wait["wait_us"])
