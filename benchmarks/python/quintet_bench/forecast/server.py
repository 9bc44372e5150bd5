# SPDX-License-Identifier: BSL-1.0
"""Simulates the threads of one of the five models, and of its client, under a closed loop of connections."""
from typing import NamedTuple

import numpy as np

from .costs import LOOP_PER_THREAD, LOOP_PER_THREAD_POOL, REACTOR_POOL, THREAD_PER_CONNECTION, MachineCosts, between
from .engine import Simulator, Steps, Thread

SERVER_BATCH, CLIENT_BATCH = 256, 512   # events per system call
TOGETHER = 64                           # cheap batches in one handoff, and in its return
EXPENSIVE_US = 20                       # model 5 hands off a handler above this (offload_options::threshold)
Figures = dict[str, float]


class Scenario(NamedTuple):
    model: str
    cores: int = 1                      # of the server; if shared, all
    loops: int = 1
    workers: int = 4
    connections: int = 100
    handler_us: float = 0.0             # computing time
    client: str = "own"                 # "own" cores, "shared" with the server, or "ideal": it needs none
    client_threads: int = 1
    requests: int = 3000                # after the warm-up


def figures(requests_per_s: float, p50_us: float, p99_us: float, loop: float, worker: float, client: float) -> Figures:
    """The last three are CPU for a request."""
    return {"requests_per_s": requests_per_s, "p50_us": p50_us, "p99_us": p99_us, "loop_cpu": loop, "worker_cpu": worker,
            "client_cpu": client, "server_cpu": loop + worker, "cpu_us": loop + worker + client}


class Server(Simulator):
    def __init__(self, costs: MachineCosts, s: Scenario) -> None:
        super().__init__(costs, s.connections)
        of = costs.models[s.model]
        self.expensive, self.work = s.handler_us > EXPENSIVE_US, s.handler_us * costs.work_factor
        self.pooled = s.model == REACTOR_POOL or (s.model == LOOP_PER_THREAD_POOL and self.expensive)
        self.together, self.half_handoff, self.worker_cost = (
            (1, 0.0, of.expensive_worker or 0) if self.expensive else (TOGETHER, (of.handoff or 0) / 2, of.worker or 0))
        threads = s.model == THREAD_PER_CONNECTION              # each is a loop of one connection
        loops = s.connections if threads else s.loops if s.model in (LOOP_PER_THREAD, LOOP_PER_THREAD_POOL) else 1
        loop_cost = between(of.loop_few, of.loop_many, s.connections / (s.cores if threads else loops))
        loop_cost += of.expensive_loop - of.loop_few if self.expensive else 0
        self.visit_cost = loop_cost / 2 if self.pooled else loop_cost       # a pooled request visits its loop twice
        self.client_cost = between(of.client_few, of.client_many, s.connections / s.client_threads)
        self.turn, self.wake_extra = 0 if threads else costs.turn, of.wake_extra
        self.sent, self.latencies = [0.0] * s.connections, [0.0]
        self.queue, self.busy, self.idle = list[int](), 0, list[Thread]()   # of the pool; the last idle one is woken first
        cores = self.cores(s.cores)
        others = cores if s.client == "shared" else self.cores(s.client_threads)
        self.loops = [Thread(self, cores, self.loop, of.resume) for _ in range(loops)]
        self.workers = [Thread(self, cores, self.worker, of.resume) for _ in range(s.workers * self.pooled)]
        self.clients = [Thread(self, others, self.client, of.client_resume)
                        for _ in range(s.client_threads * (s.client != "ideal"))]
        for c in range(s.connections):
            if self.clients:
                self.reply(c)           # the warm-up hides that nobody had asked
            else:
                self.after(costs.away * self.random(), self.arrive, c)

    def arrive(self, c: int) -> float:
        return self.loops[c % len(self.loops)].post(c)

    def reply(self, c: int) -> float:
        """Returns the cost of notifying the client."""
        if self.clients:
            return self.clients[c % len(self.clients)].post(c)
        away = self.vary(self.costs.away)
        self.finish(c, away)
        self.after(away, self.arrive, c)
        return 0.0

    def finish(self, c: int, away: float = 0) -> None:
        self.done += 1
        self.latencies.append(self.env.now - self.sent[c])
        self.sent[c] = self.env.now + away

    def loop(self, t: Thread) -> Steps:
        """A message is a connection with input, or ~connection that a worker has returned."""
        while True:
            batch, gathered = (yield from t.messages(SERVER_BATCH, self.turn)), list[int]()
            for left, c in zip(range(len(batch) - 1, -1, -1), batch):
                yield from t.run(self.vary(self.visit_cost))
                if c >= 0 and self.pooled:
                    gathered.append(c)
                else:
                    yield from t.run(self.work if c >= 0 else self.crossing(~c, t))
                    yield from t.run(self.reply(max(c, ~c)))
                if gathered and (len(gathered) == self.together or not left):
                    yield from self.hand_off(gathered, t)
                    gathered = []

    def hand_off(self, gathered: list[int], t: Thread) -> Steps:
        yield from self.locked(t, lambda: self.queue.extend(gathered), self.half_handoff)
        # The rule of worker_pool: wake a worker if the queue needs one.
        if self.idle and len(self.workers) - len(self.idle) - self.busy < len(self.queue) / self.together:
            yield from t.run(self.idle.pop().wake())

    def take(self) -> int | None:
        self.busy += self.expensive and bool(self.queue)
        return self.queue.pop(0) if self.queue else None

    def worker(self, t: Thread) -> Steps:
        kept: list[int] = []
        while True:
            c = yield from self.locked(t, self.take)
            if c is None:
                if not self.queue:      # else it has changed meanwhile
                    self.idle.append(t)
                    yield from t.sleep()
                continue
            yield from t.run(self.vary(self.worker_cost) + self.work + self.crossing(c, t))
            kept.append(c)
            if self.queue and len(kept) < self.together:
                continue
            yield from t.run(self.half_handoff)
            for c in kept:
                yield from t.run(self.loops[c % len(self.loops)].post(~c))
            kept.clear()
            self.busy -= self.expensive

    def client(self, t: Thread) -> Steps:
        while True:
            for c in (yield from t.messages(CLIENT_BATCH, self.costs.turn)):
                half = self.vary(self.client_cost) / 2
                yield from t.run(half)
                self.finish(c)
                yield from t.run(half)
                yield from t.run(self.arrive(c))

    def used(self) -> list[float]:
        return [sum(t.used for t in threads) for threads in (self.loops, self.workers, self.clients)]


def simulate(costs: MachineCosts, s: Scenario, kind: type[Server] = Server) -> Figures:
    server, warm_up = kind(costs, s), max(500, 3 * s.connections)
    begun, used = server.advance(warm_up), server.used()
    server.latencies.clear()
    passed = server.advance(server.done + s.requests) - begun
    p50, p99 = np.quantile(server.latencies, (0.5, 0.99)).tolist()
    cpu = [(after - before) / s.requests for after, before in zip(server.used(), used)]
    return figures(s.requests / passed * 1e6, p50, p99, *cpu)
