# SPDX-License-Identifier: BSL-1.0
"""Three published curves over cores, and simulations of the same structures. Published figures are of other machines, years
and kernels, so only the shape is comparable."""
from __future__ import annotations

from typing import Any

import simpy

from ..results import number
from ..text import percent
from .costs import MachineCosts, between
from .engine import Simulator, Steps, Thread
from .server import Scenario, simulate

ACCEPTING_US = 50_000                   # simulated time
MONGODB = 2.57                          # published: an io_context each / a shared one
SIZES = ((1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (24, 24), (40, 8), (40, 16), (40, 24))   # threads, cores
FASTSOCKET = {1: (475_000 / 21, None), 24: (475_000, 159_000)}      # a queue each, one queue
SEASTAR = {1: None, 2: 637_430, 4: 1_303_761, 8: 2_493_690, 16: 4_385_829, 24: 6_291_073, 28: 6_826_827, 32: 6_869_199}


def accepting(costs: MachineCosts, cores: int, locked: float, apart: float) -> float:
    """Connections per second with one queue behind a spin lock; without a shared queue if `locked` is 0."""
    sim = Simulator(costs)
    lock = simpy.Resource(sim.env)

    def serve() -> Steps:
        while True:
            if locked:
                with lock.request() as turn:
                    yield turn
                    # All spinning cores fetch the lock's cache line when the lock is passed on.
                    yield sim.env.timeout(sim.vary(locked) + costs.line * costs.spin_share * len(lock.queue))
            yield sim.env.timeout(sim.vary(apart))
            sim.done += 1
    for _ in range(cores):
        sim.env.process(serve())
    sim.env.run(ACCEPTING_US)
    return sim.done / ACCEPTING_US * 1e6


class SharedContext(Simulator):
    """One thread at a time asks the kernel for events and queues them. All threads lock the queue's mutex for each operation.
    A request is two operations: its input has arrived, its reply has been sent."""

    def __init__(self, costs: MachineCosts, threads: int, cores: int, connections: int) -> None:
        super().__init__(costs, connections)
        self.request_us = between(costs.models[3].loop_few, costs.models[3].loop_many, connections / threads)
        self.arrived: list[int | None] = []
        self.queue: list[int | None] = []           # None: a reply has been sent
        self.idle: list[Thread] = []
        self.poller: Thread | None = None
        where = self.cores(cores)
        for _ in range(threads):
            Thread(self, where, self.thread)
        for c in range(connections):
            self.after(costs.away * self.random(), self.arrive, c)

    def arrive(self, c: int) -> None:
        self.arrived.append(c)
        if self.poller:
            self.poller.wake()

    def thread(self, t: Thread) -> Steps:
        while True:
            yield from self.lock(t)
            if self.queue:
                c = self.queue.pop(0)
                yield from self.operate([], t)
                if c is None:
                    continue
                yield from t.run(self.vary(self.request_us) + self.crossing(c, t))
                self.done += 1
                self.after(self.vary(self.costs.away), self.arrive, c)
                yield from self.lock(t)
                yield from self.operate([None], t)
            elif not self.poller:
                self.poller = t
                yield from self.unlock(t)
                if not self.arrived and not self.queue:
                    yield from t.sleep()
                yield from t.run(self.costs.turn)
                yield from self.lock(t)
                self.queue += self.arrived
                self.arrived, self.poller = [], None
                yield from self.unlock(t)
            else:
                yield from self.unlock(t)
                if not self.queue and self.poller:  # else it has changed meanwhile
                    self.idle.append(t)
                    yield from t.sleep()

    def operate(self, more: list[None], t: Thread) -> Steps:
        """Queues `more`, unlocks, and wakes a thread if there is something for it. The poller can be interrupted."""
        self.queue += more
        needed = bool(self.queue)
        yield from self.unlock(t)
        called = self.idle.pop() if self.idle and needed else self.poller
        yield from t.run(called.wake() if called and needed else 0)


def shared_context(costs: MachineCosts, threads: int, cores: int, connections: int) -> float:
    """Requests per second with one io_context."""
    sim = SharedContext(costs, threads, cores, connections)
    begun = sim.advance(5000)
    return 5000 / (sim.advance(10_000) - begun) * 1e6


def separate_contexts(costs: MachineCosts, threads: int, cores: int, connections: int) -> float:
    return simulate(costs, Scenario(4, cores, threads, connections=connections, client="ideal")).requests_per_s


def _shape(name: str, title: str, kinds: tuple[str, str], published: str, conclusion: str, rows: list[Any]) -> dict[str, Any]:
    """A row: threads, cores, per second shared and separate, published separate and shared."""
    keys = ("threads", "cores", "shared", "separate", "published_separate", "published_shared")
    return {"kind": "forecast", "name": name, "title": title, "shared": kinds[0], "separate": kinds[1], "published": published,
            "conclusion": conclusion, "rows": [dict(zip(keys, map(number, (*row, None, None)))) for row in rows]}


def accept_shape(costs: MachineCosts, short_us: float) -> dict[str, Any]:
    """Connections that are accepted and served once. `short_us`: the server's CPU for one of them."""
    locked = min(costs.accept * costs.accept_locked, 0.9 * short_us)
    rows = [(n, n, accepting(costs, n, locked, short_us - locked), accepting(costs, n, 0, short_us), *FASTSOCKET.get(n, ()))
            for n in (1, 2, 4, 8, 12, 16, 24)]
    peak = max(rows, key=lambda row: row[2])
    return _shape("accept", "short connections: one queue of new connections that all cores lock, against a queue for each",
                  ("one queue", "a queue each"), "Fastsocket, nginx on 24 cores: 475,000 connections/s, 21 times one core; "
                  "CentOS 6.5, whose cores share a queue, 159,000 and falling after 12 cores; Linux 3.13 283,000",
                  f"one queue: most with {peak[0]} cores, {percent(rows[-1][2] / peak[2])} of that with 24; a queue each: "
                  f"{rows[-1][3] / rows[0][3]:.1f} times one core with 24", rows)


def io_context_shape(costs: MachineCosts, connections: int) -> dict[str, Any]:
    """Threads that share one io_context of Boost.Asio, and threads that have one each."""
    rows = [(*size, shared_context(costs, *size, connections), separate_contexts(costs, *size, connections)) for size in SIZES]
    ratio = {row[:2]: row[3] / row[2] for row in rows}
    reached = [cores for (threads, cores), times in ratio.items() if threads == cores and times >= MONGODB]
    where = (f"{MONGODB} times and more from {reached[0]} cores on" if reached else
             f"never {MONGODB} times with as many threads as cores, up to 24")
    return _shape("io_context", "threads that all run one io_context, against an io_context for each",
                  ("one io_context", "an io_context each"),
                  "MongoDB's servers, cores and threads not told: 350,000 requests/s against 900,000, 2.57 times",
                  f"an io_context each has {ratio[8, 8]:.2f} times as many with 8 threads on 8 cores, {ratio[40, 8]:.2f} times "
                  f"with 40; {where}", rows)


def shard_shape(costs: MachineCosts, connections: int) -> dict[str, Any]:
    rows = [(n, n, None, separate_contexts(costs, n, n, connections), published) for n, published in SEASTAR.items()]
    return _shape("shards", "loops that share nothing (loop_per_thread, echo)", ("", "a loop for each core"),
                  "Seastar's HTTP server on two sockets of 14 cores, client on another machine: 318,715 requests/s for each "
                  "core with 2, 243,815 with 28, flat beyond",
                  f"{rows[-1][3] / rows[0][3]:.1f} times one core with 32: nothing is shared, and fewer connections for a core "
                  "fit its caches better; memory, sockets of CPUs and the network, which bend the published curve, are not "
                  "simulated", rows)
