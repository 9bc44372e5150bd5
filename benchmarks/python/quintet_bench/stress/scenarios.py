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
from ..text import grouped, mebibytes
from .findings import Findings, number_text
from .peers import REQUEST_BYTES, Peer, Peers, crowd, decided, open_socket, request_of
from .run import Run, memory_group, window_probes

SERVER_FILES = 256
OVERLOADING = "cpu:2ms"
NETSTAT = "/proc/net/netstat"
ASK_FOR_64_MIB = struct.pack(">II", 0xfffffffe, 64 << 20).ljust(REQUEST_BYTES, b"\0")


def serve_some(run: Run) -> int:
    peers = Peers(run.target, range(100))
    peers.open()
    answered = peers.listen(10, decided)["answered"]
    peers.reset()
    return answered


def open_and_reset(run: Run) -> float:
    """Every other connection sends a request, so that the server meets resets before, in and after a reply."""
    told = start = time.monotonic()
    for number in range(run.peers):
        with open_socket(run.target, number, 0) as sock:  # connects at once, unless the backlog is full
            sock.connect(run.target.address)
            if number % 2:
                Peer(sock, number).send(request_of(number))
        if time.monotonic() > told + 5:
            told = time.monotonic()
            run.progress(f"{grouped(number + 1)} of {grouped(run.peers)} connections reset")
    return time.monotonic() - start


def resets(run: Run) -> None:
    tell, at_first = run.found.tell, run.descriptors()
    if serve_some(run) != 100:
        raise RunError("the server does not answer, even before the resets")
    before, memory_before = run.settled(at_first), run.memory()
    for beside in run.rounds(4, 1000, number=1):
        with beside:
            seconds = open_and_reset(run)
        start = time.monotonic()
    after, settled_ms = run.settled(before), (time.monotonic() - start) * 1000
    run.report()
    tell("resets", "connections opened and reset", run.peers)
    tell("resets_per_s", "of them in a second", run.peers / seconds)
    tell("descriptors_before", "open descriptors of the server before", before)
    tell("descriptors_after", "and after", after, exactly=before)
    tell("settled_after_ms", "after this time", settled_ms, "ms")
    tell("served_after", "of the next 100 clients were served", serve_some(run), exactly=100)
    tell("rss_growth_mib", "growth of the server's memory", (run.memory() - memory_before) / 2**20, "MiB")
    tell("refused", "connections refused (model 1: no more threads)", run.stop()["refused"])


def write_slowly(run: Run) -> list[float]:
    """Each peer sends a byte a second until the server closes it. Returns their overruns, as parts of the deadline."""
    writers, begun, deadline = Peers(run.target, range(run.peers), lambda number: b""), dict[int, float](), run.s.deadline
    writers.open()
    peers, start, sent = list(writers.open_ones.values()), time.monotonic(), 0
    while not decided(writers.fates) and (now := time.monotonic()) < start + 2 * deadline + 1:
        while start + sent / len(peers) <= now:  # evenly over the second
            peer = peers[sent % len(peers)]
            begun.setdefault(peer.number, now)
            peer.send(b"x")
            sent += 1
        writers.poll(max(0, start + sent / len(peers) - time.monotonic()))
    closed = [peer for peer in peers if peer.fate == "closed"]
    writers.reset()
    # Without a first byte there was no deadline, so such a close is too early.
    return [(peer.changed_at - begun.get(peer.number, peer.changed_at)) / deadline - 1 for peer in closed]


def slow_writers(run: Run) -> None:
    tell, deadline, overruns = run.found.tell, run.s.deadline, list[float]()
    for beside in run.rounds(8, 1000):
        with beside:
            overruns += write_slowly(run)
    tell("closed", "slow writers that the server has closed", len(overruns), exactly=run.peers * run.s.rounds)
    tell("closed_too_early", "of them more than 10 % before their deadline", sum(o < -0.1 for o in overruns), exactly=0)
    tell("worst_overrun_percent", f"worst overrun of the deadline of {number_text(deadline)} s",
         100 * max(overruns, default=-1), "%", at_most=10)
    run.report(2)
    run.stop()


def non_readers(run: Run) -> None:
    tell, closed, probes, bound = run.found.tell, 0, window_probes(read_text(NETSTAT)), run.s.memory / 2**20
    for beside in run.rounds(8, 1000):
        with beside:
            peers = Peers(run.target, range(run.peers), lambda number: ASK_FOR_64_MIB, reads=False)
            peers.open()
            closed += peers.listen(run.window_s)["closed"]
            peers.reset()
    tell("peak_rss_mib", "most memory of the server's process", run.memory("status", "VmHWM") / 2**20, "MiB", at_most=bound)
    if run.group:
        text = read_text(f"{run.group}/memory.peak") or read_text(f"{run.group}/memory.max_usage_in_bytes")
        tell("peak_group_mib", "most memory of its group", int(text or 0) / 2**20, "MiB", at_most=bound)
    else:
        run.found.remarks.append("without a memory group: this user cannot create one under /sys/fs/cgroup")
    tell("asked", "times that 64 MiB were asked for", run.peers * run.s.rounds)
    tell("closed", "of these peers the server has closed (max_output_total)", closed)
    if probes is not None and (now := window_probes(read_text(NETSTAT))) is not None:
        tell("window_probes", "times that the kernel asked a peer whether it has room", now - probes)
    run.report(2)
    run.stop()


def idle(run: Run) -> None:
    tell, every, growth, threads = run.found.tell, Counter[str](), 0.0, 0
    most, own = resource.getrlimit(resource.RLIMIT_NOFILE)[1], run.s.own_descriptors
    tables = 1 + run.peers // (most - min(1000, most // 2)) if own else 1
    for beside in run.rounds(100, 5000, arrival_s=1 + run.peers / 4000):
        with crowd(run.target, run.peers, tables, own) as call, beside as measuring:
            before = run.memory()
            call("open")
            call("listen", 30 + run.peers / 1000, decided)
            after, threads = run.memory(), max(threads, len(run.tasks()))
            measuring()
            fates = call("listen", run.window_s)
            growth = growth or (after - before) / max(1, fates["answered"])
            every.update(fates)
    run.report()
    refused, total = run.stop()["refused"], run.peers * run.s.rounds
    tell("idle", f"idle connections at a time, opened {run.s.rounds} times", run.peers)
    tell("idle_answered", "of all these were answered, and stayed open", every["answered"], exactly=total - refused)
    tell("idle_refused", "were refused, and told so at once by a close", every["closed"],
         exactly=refused if run.model == "thread_per_connection" else 0)
    tell("idle_unanswered", "were neither answered nor refused", every["waiting"] + every["wrong"], exactly=0)
    tell("rss_per_idle_bytes", "memory of the server for each idle connection", growth, "B")
    run.found.remarks.append(f"refused at the limit of threads: the server had {grouped(threads)} of them" if refused else
                             f"that would be {mebibytes(1e6 * growth)} for 1 million, and the kernel's own on top")


def descriptors(run: Run) -> None:
    tell, at_limit, every, cpu, delay_ms = run.found.tell, Counter[str](), Counter[str](), 0.0, 0.0
    for beside in run.rounds(4, 500, arrival_s=0.5):
        room = SERVER_FILES - run.descriptors_before - 4
        peers = Peers(run.target, range(room + run.peers))
        with beside as measuring:
            peers.open()
            peers.listen(10, lambda fates: fates["answered"] >= room)
            measuring()
            at_limit.update(peers.listen(run.window_s), room=room)
        peers.listen(0.2)  # four of those that wait take the places of the good client
        cpu = max(cpu, run.busiest(lambda: peers.listen(max(run.window_s, 0.2))))
        freed = time.monotonic()
        peers.leave(run.peers)
        every.update(peers.listen(5, decided))
        delay_ms = max([delay_ms, *(1000 * (p.changed_at - freed) for p in peers.open_ones.values() if p.fate == "answered")])
        peers.reset()
    waiting = run.peers * run.s.rounds
    tell("served_at_limit", "peers served when its descriptors were used up", at_limit["answered"], exactly=at_limit["room"])
    tell("waiting", "peers that waited then", at_limit["waiting"], exactly=waiting)
    tell("closed", "peers that the server has closed", every["closed"], exactly=0)
    tell("wrong", "peers that were answered falsely", every["wrong"], exactly=0)
    tell("accepting_cpu_percent", "CPU of the busiest thread meanwhile, the accepting one or another", cpu, "%", at_most=5)
    tell("served_afterwards", "peers served once others had left", every["answered"] + every["left"],
         exactly=at_limit["room"] + waiting)
    tell("accepted_after_ms", "the last of them after", delay_ms, "ms", at_most=100)
    run.report()
    run.stop()


def room_of(run: Run) -> int:
    return max(run.peers // 2, 8)


def flood(run: Run) -> None:
    tell, every, at_limit, cpu, wanted = run.found.tell, Counter[str](), 0, 0.0, room_of(run) - 4
    for beside in run.rounds(4, 500, arrival_s=1 + run.peers / 4000):
        with crowd(run.target, run.peers, 2, False) as call:
            with beside as measuring:
                call("open", math.inf)
                run.wait(20, lambda: call("listen", 0.02)["answered"] >= wanted)
                measuring()
                at_limit += call("listen", run.window_s)["answered"]
            call("listen", 0.2)
            cpu = max(cpu, run.busiest(lambda: call("listen", max(run.window_s, 0.2))))
            run.wait(60, lambda: decided(call("leave")) or decided(call("listen", 0.02)))
            every.update(call("leave"))
    tell("served_at_limit", "peers served when it had max_connections", at_limit, exactly=run.s.rounds * wanted)
    tell("accepting_cpu_percent", "CPU of the busiest thread while the others waited", cpu, "%", at_most=5)
    tell("failed", "peers refused, closed by the server, or answered falsely",
         every["refused"] + every["closed"] + every["wrong"], exactly=0)
    tell("served_afterwards", "peers served in the end", every["left"], exactly=run.s.rounds * run.peers)
    run.report()
    run.stop()


def overload(run: Run) -> None:
    tell, results = run.found.tell, list[dict[str, Any]]()
    for index in range(run.s.rounds):
        run.progress(f"round {index + 1}")
        with run.load(results, 2, run.peers, "--workload", OVERLOADING) as measuring:  # the first arrive all at once
            measuring()
            run.wait(run.window_s)
    requests, shed, over_1s, failed = (sum(r[key] for r in results) for key in ("requests", "shed", "over_1s", "failed"))
    tell("overloading", "connections, each with a request of 2 ms of computing all the time", run.peers)
    tell("served", "requests served", requests)
    tell("shed", "requests answered at once by the server's being overloaded", shed)
    tell("served_p99_ms", "p99 of those served", max((r["p99_us"] or 0) / 1000 for r in results), "ms")
    tell("over_1s", "answers of either kind that took longer than a second", over_1s,
         exactly=0 if run.model.endswith("_pool") else None)
    tell("lost", "requests without an answer", failed, exactly=0)
    run.found.remarks += [f"the first of them: {r['first_failure']}" for r in results if r["failed"]][:1]


class Scenario(NamedTuple):
    about: str
    peers: int                          # by default, as the other numbers
    run: Callable[[Run], None]
    options: Callable[[Run], list[str]] = lambda run: []    # of `serve`
    window_s: float = 2
    keeps_peers: bool = True            # all are open at the same time
    round_s: Callable[[Run], float] = lambda run: 20 + run.peers / 1000     # limit of a round without its windows


SCENARIOS = {
    "resets": Scenario("peers that connect and reset the connection, as fast as they can", 100_000, resets,
                       keeps_peers=False, round_s=lambda run: 10 + run.peers / 2000),
    "slow-writers": Scenario("peers that send one byte a second of a message that never ends", 1000, slow_writers,
                             lambda run: ["--message-timeout", f"{run.s.deadline:g}"],
                             round_s=lambda run: 2 * run.s.deadline + 5),
    # A quarter of the memory is for all output together, the rest for the program and its buffers. For each connection a
    # handler may queue 16 KiB before it waits, and the kernel 64 KiB. The kernel probes peers without a window after 0.2,
    # 0.4, 0.8, ... s, all together: four times in the first two seconds, twice in the next eight.
    "non-readers": Scenario("peers that ask for 64 MiB each and never read", 500, non_readers,
                            lambda run: ["--max-output-total", str(run.s.memory // 4), "--high-watermark", "16384",
                                         "--tuned-sockets", "16"], window_s=10),
    "idle": Scenario("peers that have spoken once and stay, beside 100 that are active", 10_000, idle),
    "descriptors": Scenario("more peers than the server has descriptors", 100, descriptors,
                            lambda run: ["--files", str(SERVER_FILES)]),
    # The kernel repeats a dropped SYN after 1, 3, 7, ... s.
    "flood": Scenario("connections that two clients open as fast as they can, for half of which there is no room", 10_000,
                      flood, lambda run: ["--max-connections", str(room_of(run)), "--files", str(room_of(run) + 1000),
                                          "--max-threads", str(room_of(run) + 100)], round_s=lambda run: 60),
    "overload": Scenario("connections that ask for more than the server can do", 2000, overload),
}


def perform(name: str, run: Run) -> Findings:
    """A fault of the server is a failure in the findings, not an exception."""
    scenario = SCENARIOS[name]
    group = memory_group(run.s.memory) if name == "non-readers" else contextlib.nullcontext()

    def end(*_: object) -> NoReturn:
        raise RunError("it did not end in time (--within)")
    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, run.s.within or 30 + run.s.rounds * (2 * run.window_s + scenario.round_s(run)))
    try:
        with group as run.group, run.serving(*scenario.options(run), workload="ask" if name != "overload" else OVERLOADING):
            scenario.run(run)
    except (RunError, OSError, ValueError) as error:
        run.found.failure = str(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return run.found
