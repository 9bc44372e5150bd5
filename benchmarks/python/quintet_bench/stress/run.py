# SPDX-License-Identifier: BSL-1.0
"""One scenario under one model: its server, what the kernel knows of it, and well-behaved clients beside its peers."""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..child import Child
from ..errors import RunError
from ..foreign import sample
from ..machine import bytes_in, others_share, read_text
from ..progress import CLEAR_LINE
from ..runner import PATIENCE_S
from ..text import percent
from ..verdict import BEARABLE
from .findings import Findings
from .peers import resolve

SLABINFO, SOCKSTAT = "/proc/slabinfo", "/proc/net/sockstat"
# A socket, its file, and its entries in epoll sets. A kernel may merge caches of equal size; such a one is not listed.
CACHES = ("TCP", "TCPv6", "sock_inode_cache", "dentry", "filp", "eventpoll_epi", "eventpoll_pwq")


def tcp_memory(slabinfo: str, sockstat: str) -> float:
    """The bytes of active objects and of socket buffers; NaN: the kernel does not tell."""
    rows = [line.split() for line in slabinfo.splitlines()]
    objects = {row[0]: int(row[1]) * int(row[3]) for row in rows if row and row[0] in CACHES}
    pages = re.search(r"^TCP: .*\bmem (\d+)", sockstat, re.MULTILINE)
    return float(sum(objects.values()) + int(pages[1]) * os.sysconf("SC_PAGE_SIZE")) if "TCP" in objects and pages else math.nan


def read_tcp_memory() -> float:
    return tcp_memory(read_text(SLABINFO), read_text(SOCKSTAT))


def no_tcp_memory(path: str = SLABINFO) -> str:
    """Why the memory is not known. Only root may read the file."""
    try:
        pathlib.Path(path).read_bytes()
        return f"{path} has no cache TCP"
    except OSError as error:
        return f"{path}: {error.strerror}"


OF_ROUNDS = ("requests", "failed", "p50_us", "p99_us", "max_us")    # figures of the good client that are stored of each
CGROUPS = pathlib.Path("/sys/fs/cgroup")
Load = contextlib.AbstractContextManager[Callable[[], str]]


def window_probes(netstat: str) -> float:
    """TCPWinProbe of /proc/net/netstat, which has the line of TcpExt's names and that of their values; NaN: unknown."""
    names, values = [*re.findall("^TcpExt: (.*)", netstat, re.MULTILINE), "", ""][:2]
    return float(dict(zip(names.split(), values.split())).get("TCPWinProbe", "nan"))


def noise_of(pairs: list[tuple[float, float]], foreign: float, bound: float) -> str:
    """Why a ratio (second / first) above the bound proves nothing, or "". The pairs are figures of separate rounds."""
    if foreign > BEARABLE:
        return f"other programs had {percent(foreign)} of the CPUs"
    if len(pairs) == 1:
        return "one round cannot tell the peers from a disturbance of the machine; use --rounds 3 or more"
    if pairs and min(b for a, b in pairs) <= bound * max(a for a, b in pairs):
        return "the rounds differ from each other by more than the bound"
    return ""


@contextlib.contextmanager
def memory_group(limit: int) -> Iterator[pathlib.Path | None]:
    """A control group of version 1 or 2 that limits the memory of its processes; None: this user cannot create one."""
    second = (CGROUPS / "cgroup.controllers").exists()
    memory, swap, no_swap = (("memory.max", "memory.swap.max", "0") if second else
                             ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", str(limit)))
    folder, made = CGROUPS / ("" if second else "memory") / f"quintet-bench-{os.getpid()}-{time.monotonic_ns()}", None
    with contextlib.suppress(OSError):
        if second and "memory" not in read_text(f"{CGROUPS}/cgroup.subtree_control"):
            (CGROUPS / "cgroup.subtree_control").write_text("+memory")
        folder.mkdir()
        (folder / memory).write_text(str(limit))
        made = folder  # a kernel without swap accounting lacks the next file
        (folder / swap).write_text(no_swap)
    try:
        yield made
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


class Run:
    def __init__(self, s: argparse.Namespace, model: str, peers: int, window_s: float) -> None:
        self.s, self.model, self.peers, self.window_s, self.found = s, model, peers, window_s, Findings()
        self.group: pathlib.Path | None = None
        self.descriptors_before = 0                 # those of the server before the peers of a round come
        self._alone: list[dict[str, Any]] = []      # figures of the good client in each round
        self._beside: list[dict[str, Any]] = []

    def wait(self, seconds: float, done: Callable[[], bool] = lambda: False) -> None:
        end = time.monotonic() + seconds
        while not done() and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.005))

    def progress(self, what: str) -> None:
        print(f"{CLEAR_LINE * sys.stderr.isatty()}  {self.model}: {what}", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def serving(self, *options: str, workload: str = "ask") -> Iterator[None]:
        """The server runs during the block."""
        s = self.s
        command = [s.program, "serve", "--model", self.model, "--workload", workload, "--engine", s.engine, *options,
                   *(["--accept", s.accept, "--strict"] if s.accept else []), *(["--loops", str(s.loops)] if s.loops else []),
                   *(["--own-descriptors"] if s.own_descriptors else []), "--exit-with-parent", "--json", "-"]
        with Child("the server", command) as self.server:
            if self.group:  # the memory that it has so far is little
                (self.group / "cgroup.procs").write_text(str(self.server.pid))
            self.where = self.server.await_line("listening on ", time.monotonic() + PATIENCE_S)
            self.target, self._others = resolve(self.where), others_share()
            try:
                yield
            except (RunError, OSError):
                self.check()  # the server's end is the reason
                raise

    def check(self) -> None:
        """Raises RunError with the reason if the server has failed."""
        if not (status := self.server.status()):
            return
        events = self.group and read_text(f"{self.group}/memory.events") + read_text(f"{self.group}/memory.oom_control")
        if status == -signal.SIGKILL and events and re.search("^oom_kill [1-9]", events, re.MULTILINE):
            raise RunError("the server was killed by the kernel: it needed more than the "
                           f"{self.s.memory >> 20} MiB of its memory group")
        raise RunError(f"the server {self.server.ending()}")

    def tasks(self) -> list[str]:
        self.check()
        return [f"/proc/{self.server.pid}/task/{task}" for task in os.listdir(f"/proc/{self.server.pid}/task")]

    def descriptors(self) -> int:
        """Of all its tables; shared ones count more than once, which is fine for comparisons."""
        return sum(len(os.listdir(f"{task}/fd")) for task in self.tasks()[:None if self.s.own_descriptors else 1])

    def settled(self, expected: int) -> int:
        """Waits until so few descriptors are open: the server notices a moment later that its clients have left."""
        self.wait(10, lambda: self.descriptors() <= expected)
        return self.descriptors()

    def memory(self, file: str = "smaps_rollup", name: str = "Rss") -> int:
        """In bytes. Those of smaps_rollup are exact, while status and statm lag by some pages."""
        return bytes_in(read_text(f"/proc/{self.server.pid}/{file}"), name)

    def busiest(self, action: Callable[[], object]) -> float:
        """Returns the part of a CPU, in percent, that the busiest thread used during the action."""
        before = sample(self.server.pid)
        action()
        after = sample(self.server.pid)
        busiest = max(now[1] - before["threads"].get(task, (0, 0))[1] for task, now in after["threads"].items())
        return 100 * float(busiest) / (after["wall_s"] - before["wall_s"])

    @contextlib.contextmanager
    def load(self, results: list[dict[str, Any]], warm_up_s: float, connections: int,
             *options: str) -> Iterator[Callable[[], str]]:
        """Runs `load` during the block. Yields a function that awaits the end of the warm-up, if there is one."""
        before = self.descriptors()
        command = [self.s.load_program, "load", self.where, "--connections", str(connections), *options, "--warm-up",
                   f"{warm_up_s:.3f}", "--duration", "99999", "--json", "-"]
        with Child("load", command) as child:
            self.wait(10, lambda: self.descriptors() >= before + connections or child.status() is not None)
            with contextlib.suppress(OSError):  # its wake-ups must not wait for those of the peers; needs privileges
                for task in os.listdir(f"/proc/{child.pid}/task") if "--rate" in options else ():
                    os.sched_setscheduler(int(task), os.SCHED_FIFO, os.sched_param(1))
            late = time.monotonic() + warm_up_s + 0.5

            def measuring() -> str:
                if warm_up_s and time.monotonic() > late:
                    self.found.remarks.append("the peers came so slowly that the latencies beside them include their coming")
                return child.await_line("measuring", late + PATIENCE_S)
            if not warm_up_s:
                measuring()
            yield measuring
            child.kill(signal.SIGINT)
            results.append(json.loads("{" + child.await_line("{", time.monotonic() + 60)))

    def rounds(self, connections: int, per_s: int, arrival_s: float = 0, number: int = 0) -> Iterator[Load]:
        """In each round, measures a good client alone, then yields it for the time beside the peers. It sends requests by
        schedule; latencies count from the scheduled time, and beside the peers only after the time in which they arrive."""
        options = ("--workload", "ask", "--rate", str(per_s), "--pipeline", "100000")
        self.descriptors_before, number = self.descriptors(), number or self.s.rounds
        for index in range(number):
            self.progress(f"round {index + 1} of {number}")
            with self.load(self._alone, 0.2, connections, *options) as measuring:
                measuring()
                self.wait(self.window_s)
            self.descriptors_before = self.settled(self.descriptors_before)
            yield self.load(self._beside, arrival_s, connections, *options)
            self.settled(self.descriptors_before)

    def finish(self, most_ratio: float | None = None) -> dict[str, Any]:
        """Stops the server and tells the good client's figures. Returns the server's counters, such as "refused"."""
        def median(values: list[float]) -> float:  # a disturbance of the machine spoils one round only
            return statistics.median([value for value in values if value] or [math.nan])
        self.server.kill(signal.SIGTERM)
        deadline = time.monotonic() + 2
        counters = "".join(iter(lambda: self.server.line(deadline) or "", ""))
        self.server.wait(deadline)
        self.check()
        alone, beside, tell = self._alone, self._beside, self.found.tell
        self.found.rounds = [{which: {key: r[key] for key in OF_ROUNDS} for which, r in zip(("alone", "beside"), both)}
                             for both in zip(alone, beside)]
        failed = [result for result in alone + beside if result["failed"]]
        tell("good_failed", sum(r["failed"] for r in failed), exactly=0)
        tell("good_answered", sum(r["requests"] for r in alone + beside))
        for key, results in (("idle_us", alone), ("us", beside)):
            for name in ("p50", "p99"):
                tell(f"good_{name}_{key}", median([r[f"{name}_us"] for r in results]))
        tell("good_max_us", max((r["max_us"] or 0 for r in beside), default=math.nan))
        # Other programs delay the good client, sometimes in one kind of company only.
        foreign = self._others()
        p99s = [(a["p99_us"], b["p99_us"]) for a, b in zip(alone, beside) if a["p99_us"] and b["p99_us"]]
        tell("p99_ratio", median([b / a for a, b in p99s]), at_most=most_ratio,
             noise=noise_of(p99s, foreign, most_ratio or math.inf))
        tell("foreign_cpu_percent", round(100 * foreign))
        self.found.remarks += [f"the good client: {result['first_failure']}" for result in failed[:1]]
        return dict(json.loads(counters))
