# SPDX-License-Identifier: BSL-1.0
"""Simulates the threads of one of the five models, and of its client, under a closed loop of connections."""
from __future__ import annotations

from typing import NamedTuple

from .costs import MachineCosts, between
from .engine import Simulator, Steps, Thread

SERVER_BATCH, CLIENT_BATCH = 256, 512   # events per system call
TOGETHER = 64                           # cheap batches in one handoff, and in its return
EXPENSIVE_US = 20                       # model 5 hands off a handler above this (offload_options::threshold)


class Scenario(NamedTuple):
    model: int                          # 1 to 5
    cores: int = 1                      # of the server; if shared, all
    loops: int = 1
    workers: int = 4
    connections: int = 100
    handler_us: float = 0.0             # computing time
    client: str = "own"                 # "own" cores, "shared" with the server, or "ideal": it needs none
    client_threads: int = 1
    seed: int = 1
    requests: int = 3000                # after the warm-up


class Outcome(NamedTuple):
    requests_per_s: float = 0.0
    p50_us: float = 0.0
    p99_us: float = 0.0
    loop_cpu: float = 0.0               # CPU per request
    worker_cpu: float = 0.0
    client_cpu: float = 0.0

    @property
    def server_cpu(self) -> float:
        return self.loop_cpu + self.worker_cpu

    @property
    def cpu_us(self) -> float:
        return self.server_cpu + self.client_cpu


class Server(Simulator):
    def __init__(self, costs: MachineCosts, s: Scenario) -> None:
        super().__init__(costs, s.connections, s.seed)
        of = costs.models[s.model - 1]
        self.expensive = s.handler_us > EXPENSIVE_US
        self.pooled = s.model == 3 or (s.model == 5 and self.expensive)
        self.together, self.half_handoff, self.worker_cost = (
            (1, 0.0, of.expensive_worker or 0) if self.expensive else (TOGETHER, (of.handoff or 0) / 2, of.worker or 0))
        self.work = s.handler_us * costs.work_factor
        loops = {1: s.connections, 4: s.loops, 5: s.loops}.get(s.model, 1)      # model 1: a thread is a loop of one connection
        self.loop_cost = between(of.loop_few, of.loop_many, s.connections / (s.cores if s.model == 1 else loops))
        self.loop_cost += of.expensive_loop - of.loop_few if self.expensive else 0
        self.client_cost = between(of.client_few, of.client_many, s.connections / s.client_threads)
        self.turn, self.wake_extra = 0 if s.model == 1 else costs.turn, of.wake_extra
        self.sent, self.latencies = [0.0] * s.connections, [0.0]
        self.queue, self.busy = list[int](), 0                  # of the pool
        self.idle: list[Thread] = []                            # workers; the last one that was busy is woken first
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
        each = self.loop_cost / 2 if self.pooled else self.loop_cost
        while True:
            batch, gathered = (yield from t.messages(SERVER_BATCH, self.turn)), []
            for left, c in zip(range(len(batch) - 1, -1, -1), batch):
                crossing = self.crossing(max(c, ~c), t) if self.pooled else 0
                if c >= 0 and self.pooled:
                    yield from t.run(self.vary(each))
                    gathered.append(c)
                else:
                    yield from t.run(self.vary(each) + (crossing if self.pooled else self.work))
                    yield from t.run(self.reply(max(c, ~c)))
                if gathered and (len(gathered) == self.together or not left):
                    yield from self.hand_off(gathered, t)
                    gathered = []

    def hand_off(self, gathered: list[int], t: Thread) -> Steps:
        yield from self.lock(t)
        yield from t.run(self.half_handoff)
        self.queue += gathered
        yield from self.unlock(t)
        # The rule of worker_pool: wake a worker if the queue needs one.
        if self.idle and len(self.workers) - len(self.idle) - self.busy < len(self.queue) / self.together:
            yield from t.run(self.idle.pop().wake())

    def worker(self, t: Thread) -> Steps:
        kept: list[int] = []
        while True:
            yield from self.lock(t)
            c = self.queue.pop(0) if self.queue else None
            self.busy += self.expensive and c is not None
            yield from self.unlock(t)
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


def simulate(costs: MachineCosts, s: Scenario) -> Outcome:
    server, warm_up = Server(costs, s), max(500, 3 * s.connections)
    begun, done, used = server.advance(warm_up), server.done, server.used()
    server.latencies.clear()
    passed = server.advance(warm_up + s.requests) - begun
    if server.done == done or passed <= 0:
        return Outcome()
    count, latencies = server.done - done, sorted(server.latencies)
    cpu = [(after - before) / count for after, before in zip(server.used(), used)]
    return Outcome(count / passed * 1e6, latencies[(count - 1) // 2], latencies[int(0.99 * (count - 1))], *cpu)
