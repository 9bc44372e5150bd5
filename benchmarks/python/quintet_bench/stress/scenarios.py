# SPDX-License-Identifier: BSL-1.0
"""The scenarios: hostile or very many peers of a server of ours, beside a good client."""
import contextlib
import math
import resource
import signal
import struct
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from ..errors import RunError
from ..machine import read_text
from ..text import grouped, significant
from .findings import Findings
from .peers import Peer, Peers, crowd, decided
from .run import Run, memory_group, no_tcp_memory, read_tcp_memory, window_probes

SERVER_FILES = 256
GOOD_CONNECTIONS, ACTIVE_BESIDE_IDLE = 4, 100
OVERLOADING = "cpu:2ms"
NETSTAT = "/proc/net/netstat"
ASK_FOR_64_MIB = struct.pack(">II56x", 0xfffffffe, 64 << 20)


def resets(run: Run) -> None:
    """Passes if the server has as many descriptors as before, and serves new clients. Every other connection sends a request,
    so that the server meets resets before, in and after a reply."""
    tell = run.found.tell
    for beside in run.rounds(GOOD_CONNECTIONS, 1000, number=1):
        before, memory_before = run.descriptors_before, run.memory()
        peers = Peers(run.target, range(run.peers), lambda peer: peer.number % 2 == 1 and peer.ask() and False)
        with beside:
            begun = time.monotonic()
            peers.open()
            reset = peers.listen(10, decided)["left"]
            seconds = time.monotonic() - begun
        start = time.monotonic()
    after, settled_ms = run.settled(before), (time.monotonic() - start) * 1000
    peers = Peers(run.target, range(100))
    peers.open()
    served = peers.listen(10, decided)["answered"]
    peers.reset()
    tell("resets", reset, exactly=run.peers)
    run.found.note(resets_per_s=reset / seconds, descriptors_before=before)
    tell("descriptors_after", after, exactly=before)
    tell("settled_after_ms", settled_ms)
    tell("served_after", served, exactly=100)
    tell("rss_growth_mib", (run.memory() - memory_before) / 2**20)
    tell("refused", run.finish()["refused"])


def slow_writers(run: Run) -> None:
    """Passes if the server closes each of them at its deadline, and the good client's p99 at most doubles. An overrun is a part
    of the deadline, which begins with the first byte."""
    tell, deadline, overruns = run.found.tell, run.s.deadline, list[float]()
    for beside in run.rounds(8, 1000):
        with beside:
            writers, peers = Peers(run.target, range(0), lambda peer: peer.send(b"x"), interval_s=1), list[Peer]()
            for number in range(run.peers):  # evenly over the second
                peers.append(writers.begin(number))
                writers.listen(1 / run.peers)
            writers.listen(2 * deadline + 1, decided)
            writers.reset()
            overruns += [(peer.ended_at - peer.connected_at) / deadline - 1 for peer in peers if peer.fate == "closed"]
    tell("closed", len(overruns), exactly=run.peers * run.s.rounds)
    tell("closed_too_early", sum(overrun < -0.1 for overrun in overruns), exactly=0)
    tell("worst_overrun_percent", 100 * max(overruns, default=-1), at_most=10)
    run.finish(2)


def non_readers(run: Run) -> None:
    """Passes if the server keeps within its memory, and the good client's p99 at most doubles."""
    tell, closed, probes, bound = run.found.tell, 0, window_probes(read_text(NETSTAT)), run.s.memory / 2**20
    for beside in run.rounds(8, 1000):
        with beside:
            peers = Peers(run.target, range(run.peers), lambda peer: peer.send(ASK_FOR_64_MIB), reads=False)
            peers.open()
            closed += peers.listen(run.window_s)["closed"]
            peers.reset()
    tell("peak_rss_mib", run.memory("status", "VmHWM") / 2**20, at_most=bound)
    if run.group:
        text = read_text(f"{run.group}/memory.peak") or read_text(f"{run.group}/memory.max_usage_in_bytes")
        tell("peak_group_mib", int(text or 0) / 2**20, at_most=bound)
    else:
        run.found.remarks.append("without a memory group: this user cannot create one under /sys/fs/cgroup")
    run.found.note(asked=run.peers * run.s.rounds, closed=closed, window_probes=window_probes(read_text(NETSTAT)) - probes)
    run.finish(2)


def idle(run: Run) -> None:
    """Passes if all peers are answered and stay connected, or are refused at once where threads are limited."""
    tell, every, growth, kernel, threads = run.found.tell, Counter[str](), 0.0, math.nan, 0
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    processes = 1 + run.peers // (most - min(1000, most // 2))
    for beside in run.rounds(ACTIVE_BESIDE_IDLE, 5000, arrival_s=1 + run.peers / 4000):
        with crowd(run.target, run.peers, processes) as call, beside as measuring:
            before, kernel_before = run.memory(), read_tcp_memory()
            call("open")
            call("listen", 30 + run.peers / 1000, decided)
            after, kernel_after, threads = run.memory(), read_tcp_memory(), max(threads, len(run.tasks()))
            measuring()
            fates = call("listen", run.window_s)
            if not growth:
                each = max(1, fates["answered"])
                growth, kernel = (after - before) / each, (kernel_after - kernel_before) / each
            every.update(fates)
    refused, total = run.finish()["refused"], run.peers * run.s.rounds
    run.found.note(idle=run.peers, active=ACTIVE_BESIDE_IDLE)
    tell("idle_answered", every["answered"], exactly=total - refused)   # and stayed open
    tell("idle_refused", every["closed"], exactly=refused if run.model == "thread_per_connection" else 0)
    tell("idle_unanswered", every["waiting"] + every["wrong"], exactly=0)
    run.found.note(rss_per_idle_bytes=growth, kernel_per_idle_bytes=kernel / 2)     # of one end of two
    if math.isnan(kernel):
        run.found.remarks.append(f"kernel memory for each idle connection: not readable ({no_tcp_memory()})")
    run.found.remarks.append(f"refused at the limit of threads (--max-threads): it had {grouped(threads)}" if refused else
                             f"2 million connections: {significant(2e6 * growth / 1e9)} GB; published by libatbus: 8 GB; the "
                             "kernel's own on top")


def exceed_limit(run: Run, places: int, count: int, most_delay_ms: float | None = None) -> None:
    """More peers than places. Passes if those without a place wait, do not keep the server busy, and are served once others
    leave. `places`: those that the good client leaves."""
    tell, at_limit, every, cpu, delay_ms = run.found.tell, Counter[str](), Counter[str](), 0.0, 0.0
    for beside in run.rounds(GOOD_CONNECTIONS, 500, arrival_s=1 + count / 4000):
        peers = Peers(run.target, range(count), at_once=math.inf)
        with beside as measuring:
            peers.open()
            peers.listen(20, lambda fates: fates["answered"] >= places)
            measuring()
            at_limit.update(peers.listen(run.window_s))
        peers.listen(0.2)  # some of those that wait take the places of the good client
        cpu = max(cpu, run.busiest(lambda: peers.listen(max(run.window_s, 0.2))))
        freed = time.monotonic()
        while not decided(peers.fates) and time.monotonic() < freed + 60:
            peers.leave()
            peers.listen(0.02, decided)
        delay_ms = max(delay_ms, 1000 * (time.monotonic() - freed))
        peers.leave()
        every.update(peers.fates)
        peers.reset()
    rounds = run.s.rounds
    tell("served_at_limit", at_limit["answered"], exactly=rounds * places)
    tell("waiting", at_limit["waiting"] + at_limit["connecting"], exactly=rounds * (count - places))
    tell("accepting_cpu_percent", cpu, at_most=5)
    tell("served_afterwards", every["left"], exactly=rounds * count)
    tell("accepted_after_ms", delay_ms, at_most=most_delay_ms)
    tell("failed", sum(every[fate] for fate in ("refused", "closed", "wrong")), exactly=0)
    run.found.note(closed=every["closed"], wrong=every["wrong"])
    run.finish()


def descriptors(run: Run) -> None:
    places = SERVER_FILES - run.descriptors() - GOOD_CONNECTIONS
    exceed_limit(run, places, places + run.peers, most_delay_ms=100)


def most_connections(run: Run) -> int:
    return max(run.peers // 2, 8)


def flood(run: Run) -> None:
    exceed_limit(run, most_connections(run) - GOOD_CONNECTIONS, run.peers)


def overload(run: Run) -> None:
    """Passes if each request is answered, and with a pool within a second, be it by a refusal."""
    tell, results = run.found.tell, list[dict[str, Any]]()
    for index in range(run.s.rounds):
        run.progress(f"round {index + 1}")
        with run.load(results, 2, run.peers, "--workload", OVERLOADING) as measuring:  # the first arrive all at once
            measuring()
            run.wait(run.window_s)
    requests, shed, over_1s, failed = (sum(r[key] for r in results) for key in ("requests", "shed", "over_1s", "failed"))
    run.found.note(overloading=run.peers, served=requests, shed=shed)
    tell("served_p99_ms", max((r["p99_us"] or 0) / 1000 for r in results))
    tell("over_1s", over_1s, exactly=0 if run.model.endswith("_pool") else None)    # of those served, and of those shed
    tell("lost", failed, exactly=0)
    run.found.remarks += [f"the first of them: {r['first_failure']}" for r in results if r["failed"]][:1]


class Scenario(NamedTuple):
    about: str
    peers: int                          # by default, as the other numbers
    run: Callable[[Run], None]
    options: Callable[[Run], list[str]] = lambda run: []    # of `serve`
    window_s: float = 2
    workload: str = "ask"
    keeps_peers: bool = True            # all are open at the same time


SCENARIOS = {
    "resets": Scenario("peers that connect and reset the connection, as fast as they can", 100_000, resets, keeps_peers=False),
    "slow-writers": Scenario("peers that send one byte a second of a message that never ends", 1000, slow_writers,
                             lambda run: ["--message-timeout", f"{run.s.deadline:g}"]),
    # A quarter of the memory is for all output together, the rest for the program and its buffers. For each connection a
    # handler may queue 16 KiB before it waits, and the kernel 64 KiB. The kernel probes peers without a window after 0.2,
    # 0.4, 0.8, ... s, all together: four times in the first two seconds, twice in the next eight.
    "non-readers": Scenario("peers that ask for 64 MiB each and never read", 500, non_readers,
                            lambda run: ["--max-output-total", str(run.s.memory // 4), "--high-watermark", "16384",
                                         "--tuned-sockets", "16"], window_s=10),
    "idle": Scenario(f"peers that have spoken once and stay, beside {ACTIVE_BESIDE_IDLE} that are active", 10_000, idle),
    "descriptors": Scenario("more peers than the server has descriptors", 100, descriptors,
                            lambda run: ["--files", str(SERVER_FILES)]),
    "flood": Scenario("connections that a client opens as fast as it can, for half of which there is no room", 10_000, flood,
                      lambda run: ["--max-connections", str(most := most_connections(run)), "--files", str(most + 1000),
                                   "--max-threads", str(most + 100)]),
    "overload": Scenario("connections that ask for more than the server can do", 2000, overload, workload=OVERLOADING),
}


def perform(scenario: Scenario, run: Run) -> Findings:
    """In every scenario the good client must get all its replies. A fault of the server is a failure in the findings."""
    group = memory_group(run.s.memory) if scenario.run is non_readers else contextlib.nullcontext()

    def end(*_: object) -> NoReturn:
        raise RunError("it did not end in time (--within)")
    signal.signal(signal.SIGALRM, end)
    # The kernel repeats a dropped SYN after 1, 3, 7, ... s.
    round_s = 60 + run.peers / 1000 + 2 * run.window_s + 2 * run.s.deadline
    signal.setitimer(signal.ITIMER_REAL, run.s.limit or 30 + run.s.rounds * round_s)
    try:
        with group as run.group, run.serving(*scenario.options(run), workload=scenario.workload):
            scenario.run(run)
    except (RunError, OSError, ValueError) as error:
        run.found.failure = str(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return run.found
