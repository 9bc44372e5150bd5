# SPDX-License-Identifier: BSL-1.0
"""Three published curves over cores, and simulations of the same structures."""
import heapq
from collections.abc import Iterable, Mapping
from typing import Any

from ..published import PUBLISHED
from ..results import number
from ..text import joined, percent
from .costs import LOOP_PER_THREAD, MachineCosts
from .engine import Simulator, Steps, Thread
from .server import Scenario, Server, simulate

ACCEPTING_US = 50_000                   # simulated time
ACCEPTING_CORES = (1, 2, 4, 8, 12, 16, 24)
SEPARATE, SHARED = "reuse_port_cpu", "one shared queue"     # strategies with a queue for each core, and an old kernel's one
MONGODB = 2.57                          # published: an io_context each / a shared one
SIZES = ((1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (24, 24), (40, 8), (40, 16), (40, 24))   # threads, cores


def accepting(costs: MachineCosts, cores: int, locked: float, apart: float) -> float:
    """Connections per second with one queue behind a spin lock, which the cores take in the order of their arrival."""
    vary, arrivals, free, done = Simulator(costs).vary, [0.0] * cores, 0.0, 0
    while free < ACCEPTING_US:
        start = max(free, heapq.heappop(arrivals))
        spinning = sum(arrival <= start for arrival in arrivals)    # each fetches the lock's cache line when it is passed on
        free = start + vary(locked) + costs.line * costs.spin_share * spinning
        heapq.heappush(arrivals, free + vary(apart))
        done += 1
    return done / free * 1e6


class SharedContext(Server):
    """The server has one io_context: one thread at a time asks the kernel for events and queues them. All threads lock the
    queue's mutex for each operation. A request is two operations: its input has arrived, its reply has been sent."""
    poller: Thread | None = None

    def __init__(self, costs: MachineCosts, s: Scenario) -> None:
        super().__init__(costs, s)
        self.arrived: list[int] = []

    def arrive(self, c: int) -> float:
        self.arrived.append(c)
        return self.poller.wake() if self.poller else 0.0

    def take_or_poll(self, t: Thread) -> int | None:
        """Returns an operation, or ~connection if a reply has been sent. If there is none, the thread polls unless another
        one does."""
        if self.queue:
            return self.queue.pop(0)
        self.poller = self.poller or t
        return None

    def collect(self) -> None:
        self.queue += self.arrived
        self.arrived, self.poller = [], None

    def call_another(self, t: Thread) -> Steps:
        """Wakes a thread for the queue. The poller can be interrupted."""
        other = (self.idle.pop() if self.idle else self.poller) if self.queue else None
        yield from t.run(other.wake() if other else 0)

    def loop(self, t: Thread) -> Steps:
        while True:
            c = yield from self.locked(t, lambda: self.take_or_poll(t))
            if c is not None:
                yield from self.call_another(t)
                if c >= 0:
                    yield from t.run(self.vary(self.visit_cost) + self.crossing(c, t))
                    self.reply(c)
                    yield from self.locked(t, lambda: self.queue.append(~c))
                    yield from self.call_another(t)
            elif self.poller is t:
                if not self.arrived and not self.queue:
                    yield from t.sleep()
                yield from t.run(self.turn)
                yield from self.locked(t, self.collect)
            elif self.poller and not self.queue:        # else it has changed meanwhile
                self.idle.append(t)
                yield from t.sleep()


def contexts(costs: MachineCosts, threads: int, cores: int, connections: int, server: type[Server] = Server) -> float:
    """Requests per second of threads that have an io_context each, or share one."""
    s = Scenario(LOOP_PER_THREAD, cores, threads, connections=connections, client="ideal")
    return simulate(costs, s, server)["requests_per_s"]


def _shape(name: str, speeds: Mapping[Any, tuple[float | None, float]], conclusion: str) -> dict[str, Any]:
    """`speeds`: shared and separate per second, by threads and cores. Without a shared one the ratio is to the first."""
    about, (_, first) = dict(PUBLISHED[name]), next(iter(speeds.values()))
    published = {f"published_{kind}": about.pop(f"{kind}_by_cores") for kind in ("separate", "shared")}
    rows = [{"kind": "forecast", "threads": threads, "cores": cores, "shared": number(shared), "separate": number(separate),
             "ratio": number(separate / (shared or first)), **{key: by.get(str(cores)) for key, by in published.items()}}
            for (threads, cores), (shared, separate) in speeds.items()]
    return {"kind": "forecast", "name": name, **about, "conclusion": conclusion, "rows": rows}


def accept_shape(costs: MachineCosts, short_us: float) -> dict[str, Any]:
    """Connections that are accepted and served once: each strategy's curve over cores, with what it assumes. `short_us`: the
    server's CPU for one of them."""
    line, away, systems = costs.line, costs.lines * costs.line, PUBLISHED["accept"]["systems"]
    hand_off = costs.accept + costs.lock + 2 * line
    waiting = f"each core that waits for the lock costs {costs.spin_share:g} cache lines"

    def behind(locked: float) -> list[float]:
        locked = min(locked, 0.9 * short_us)
        return [accepting(costs, n, locked, short_us - locked) for n in ACCEPTING_CORES]
    found: dict[str, tuple[Iterable[float], str, str | None]] = {
        "main_reactor": ((min(n / short_us, 1 / hand_off) * 1e6 for n in ACCEPTING_CORES),
                         "one core only accepts and hands off: accept(), a mutex, two cache lines", None),
        "reuse_port": ((n * 1e6 / (short_us + (1 - 1 / n) * away) for n in ACCEPTING_CORES),
                       f"all but 1/n of connections arrive on another core: {costs.lines:g} cache lines", None),
        SEPARATE: ((n * 1e6 / short_us for n in ACCEPTING_CORES), "all arrive on the core that accepts", "Fastsocket"),
        "exclusive": (behind(costs.lock + line), f"one queue, locked for a mutex and a cache line; {waiting}", None),
        "Linux 3.13 REUSEPORT": (behind(costs.accept * costs.vfs_locked), f"locks of the file system layer are held "
                                 f"for {costs.vfs_locked:g} accept(); {waiting}", "Linux 3.13"),
        SHARED: (behind(costs.accept * costs.accept_locked), f"it falls because {waiting}; the queue is locked for "
                 f"{costs.accept_locked:g} accept()", "CentOS 6.5")}
    curves = {name: dict(zip(ACCEPTING_CORES, speeds)) for name, (speeds, _, _) in found.items()}
    shared, peak = curves[SHARED], max(ACCEPTING_CORES, key=curves[SHARED].__getitem__)
    return _shape("accept", {(n, n): (shared[n], curves[SEPARATE][n]) for n in ACCEPTING_CORES},
                  f"one queue: most with {peak} cores, {percent(shared[24] / shared[peak])} of that with 24; a queue each: 24 "
                  "times one core with 24, as nothing is shared") | {"strategies": [
                      {"kind": "forecast", "strategy": name, "by_cores": {str(n): number(v) for n, v in curves[name].items()},
                       "published_system": system, "published": system and systems[system], "assumes": why}
                      for name, (_, why, system) in found.items()]}


def io_context_shape(costs: MachineCosts, connections: int) -> dict[str, Any]:
    """Threads that share one io_context of Boost.Asio, and threads that have one each."""
    speeds = {size: (contexts(costs, *size, connections, SharedContext), contexts(costs, *size, connections)) for size in SIZES}
    ratio = {size: separate / shared for size, (shared, separate) in speeds.items()}
    reached = [cores for (threads, cores), times in ratio.items() if threads == cores and times >= MONGODB]
    where = (f"{MONGODB} times and more from {reached[0]} cores on" if reached else
             f"never {MONGODB} times with as many threads as cores, up to 24")
    told = [f"{ratio[size]:.2f} times as many with {size[0]} threads on {size[1]} cores"
            for size in ((8, 8), (40, 8), (24, 24), (40, 24)) if size in ratio]
    return _shape("io_context", speeds, f"an io_context each has {joined(told)} (published: {MONGODB}); {where}")


def shard_shape(costs: MachineCosts, connections: int) -> dict[str, Any]:
    speeds = {n: contexts(costs, n, n, connections) for n in (1, 2, 4, 8, 16, 24, 28, 32)}
    return _shape("shards", {(n, n): (None, speed) for n, speed in speeds.items()},
                  f"{speeds[32] / speeds[1]:.1f} times one core with 32: nothing is shared, and fewer connections for a core "
                  "fit its caches better; memory, sockets of CPUs and the network, which bend the published one, are left out")
