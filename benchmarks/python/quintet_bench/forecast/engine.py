# SPDX-License-Identifier: BSL-1.0
"""The cores of a simulated machine, and the threads that share them in turns. Times are microseconds."""
from __future__ import annotations

import random
from collections.abc import Callable, Generator
from typing import Any

import simpy

from .costs import MachineCosts

Steps = Generator[Any, Any, Any]        # of a process of SimPy


class Core:
    thread: Thread | None = None        # the one that ran last
    idle_since = 0.0


class Simulator:
    """A clock, random numbers, a mutex, and what all simulated servers do. It gives the same result each time."""
    wake_extra = 0.0                    # latency of a wake-up beyond that of MachineCosts.wake()

    def __init__(self, costs: MachineCosts, connections: int = 0) -> None:
        self.costs, self.env, self.random, self.done = costs, simpy.Environment(), random.Random(1).random, 0
        self.last_core = [Core()] * connections
        self._locked, self._lock_core, self._sleepers = False, Core(), list[Thread]()

    def cores(self, count: int) -> simpy.Store:
        """The idle cores; the last one became idle last. As on a good scheduler, none is idle while a thread is ready."""
        out = simpy.Store(self.env)
        out.items += [Core() for _ in range(count)]
        return out

    def vary(self, us: float) -> float:
        """Equal durations would run in lockstep."""
        return us * (1 + self.costs.spread * (2 * self.random() - 1))

    def after(self, us: float, call: Callable[[int], object], connection: int) -> None:
        self.env.timeout(us).callbacks.append(lambda _: call(connection))

    def crossing(self, c: int, t: Thread) -> float:
        """The cost of fetching a batch's cache lines from its previous core."""
        before, self.last_core[c] = self.last_core[c], t.core
        return 0.0 if before is t.core else self.costs.lines * self.costs.line

    def locked(self, t: Thread, change: Callable[[], Any], us: float = 0.0) -> Steps:
        """Holds the mutex for `us` and calls `change`. The mutex costs more on another core than the previous one."""
        while self._locked:             # another thread can take it before the woken one runs
            self._sleepers.append(t)
            t.blocked = True
            yield from t.sleep()
        self._locked, before, self._lock_core = True, self._lock_core, t.core
        yield from t.run(self.costs.lock + (0 if before is t.core else 2 * self.costs.line) + us)
        out = change()
        self._locked = False
        if self._sleepers:
            first = self._sleepers.pop(0)
            first.blocked = False
            yield from t.run(first.wake())
        return out

    def advance(self, until: int) -> float:
        """Runs until so many requests are done. Returns the time."""
        while self.done < until:
            self.env.step()
        return self.env.now


class Thread:
    """Runs `body(thread)`, a generator without end that uses the methods which return Steps with `yield from`."""

    def __init__(self, sim: Simulator, cores: simpy.Store, body: Callable[[Thread], Steps], resume_cost: float = 0) -> None:
        self.sim, self._cores, self._resume_cost = sim, cores, resume_cost  # CPU after it was woken on an idle core
        self.used = self._slice_left = 0.0
        self._bell: simpy.Event | None = None   # it sleeps until then
        self.blocked = False                    # by the mutex
        self.core, self.inbox = Core(), list[int]()
        sim.env.process(self._live(body))

    def _live(self, body: Callable[[Thread], Steps]) -> Steps:
        yield from self._enter(self._cores.get(), 0)
        yield from body(self)

    def _enter(self, event: simpy.Event, cost: float) -> Steps:
        """Waits for a core."""
        self.core = yield event
        before, self.core.thread, self._slice_left = self.core.thread, self, self.sim.costs.slice
        yield from self.run(cost + (0 if before in (None, self) else self.sim.costs.context_switch))

    def run(self, us: float) -> Steps:
        """Uses a core, a slice at a time."""
        while us > 0:
            if self._slice_left <= 0:
                self._slice_left = self.sim.costs.slice
                if self._cores.get_queue:
                    self._cores.put(self.core)
                    yield from self._enter(self._cores.get(), 0)
            chunk = min(us, self._slice_left)
            yield self.sim.env.timeout(chunk)
            self.used += chunk
            self._slice_left -= chunk
            us -= chunk

    def sleep(self) -> Steps:
        """Sleeps without a core until wake(). Nothing can have happened since the caller last checked."""
        self._bell, self.core.idle_since = self.sim.env.event(), self.sim.env.now
        self._cores.put(self.core)
        yield from self._enter(*(yield self._bell))

    def wake(self) -> float:
        """Wakes the thread, except from its wait for the mutex. Returns the CPU cost, which the caller must run(): 0 if the
        thread is awake or must wait for a core, since the cost is then that of any send."""
        bell, idle = self._bell, self._cores.items
        if self.blocked or not bell:
            return 0.0
        self._bell = None
        if self._cores.get_queue or not idle:
            bell.succeed((self._cores.get(), 0))
            return 0.0
        core = self.core if self.core in idle else idle[-1]     # the thread's last one has warm caches
        idle.remove(core)
        cost, latency = self.sim.costs.wake(self.sim.env.now - core.idle_since)
        bell.succeed((self.sim.env.timeout(max(0.0, latency + self.sim.wake_extra), core), self._resume_cost))
        return cost

    def post(self, message: int) -> float:
        """Returns the cost like wake()."""
        self.inbox.append(message)
        return self.wake()

    def messages(self, most: int, turn: float) -> Steps:
        """Sleeps until there are messages. Returns at most so many, for which asking the kernel costs `turn`."""
        while not self.inbox:
            yield from self.sleep()
        yield from self.run(turn)
        out, self.inbox = self.inbox[:most], self.inbox[most:]
        return out
