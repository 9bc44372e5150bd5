# SPDX-License-Identifier: BSL-1.0
"""Every number of the simulation, in microseconds of CPU unless it says otherwise, and where it comes from."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..plan import MODELS
from ..results import number

THREAD_PER_CONNECTION, SINGLE_REACTOR, REACTOR_POOL, LOOP_PER_THREAD, LOOP_PER_THREAD_POOL = MODELS
FEW, MANY = 100, 1000                   # connections per core at which a request's cost is fitted
PROBE, FITTED, ASSUMED = "measured here, by itself", "fitted to runs measured here", "assumed"


def between(few: float, many: float, connections: float) -> float:
    """A request's cost: with more connections for a core, caches hold a smaller part of them. Linear in their logarithm,
    constant below FEW, with the same slope above MANY."""
    return few if connections <= FEW else max(few / 2, few + (many - few) * math.log(connections / FEW, MANY / FEW))


def _cost(about: str, source: str = FITTED, value: float | None = 0.0, unit: str = "us", most: float = 0.0) -> Any:
    return dataclasses.field(default=value, metadata={"about": about, "source": source, "unit": unit, "most": most})


@dataclasses.dataclass
class ModelCosts:
    loop_few: float = _cost("a request, 100 connections for a core (with a pool: the loop's part)")
    loop_many: float = _cost("a request, 1,000 connections for a core (with a pool: the loop's part)")
    client_few: float = _cost("the client's part, 100 connections")
    client_many: float = _cost("the client's part, 1,000 connections")
    resume: float = _cost("more, when the thread was woken on an idle core")
    client_resume: float = _cost("more, when the client was")
    wake_extra: float = _cost("waking through a socket: more latency than by itself")
    expensive_loop: float = _cost("a request whose handler computes, beside the handler (with a pool: with the handoff)")
    worker: float | None = _cost("the worker's part of a cheap request", value=None)
    handoff: float | None = _cost("a handoff there and back, of cheap requests together", value=None)    # half in the worker
    expensive_worker: float | None = _cost("the worker's part of a request whose handler computes, beside it", value=None)


@dataclasses.dataclass
class MachineCosts:
    wakes: list[tuple[float, float, float]]             # idle time of the core, CPU of the waker, latency of the woken
    work_factor: float = _cost("CPU of a handler for each microsecond it is to compute", PROBE, 1.0)
    context_switch: float = _cost("a core goes on with another thread", PROBE)
    turn: float = _cost("asking the kernel for events", PROBE)
    lock: float = _cost("a mutex that nobody else wants", PROBE)
    line: float = _cost("a cache line from one core to another", PROBE)
    accept: float = _cost("accept()", PROBE)
    short: float | None = _cost("a short connection: CPU of the server", "measured here, by runs", None)
    lines: float = _cost("cache lines of a batch that crosses cores, each way", ASSUMED, 6.0, "", 1000)
    spread: float = _cost("by how much a request's cost varies in both directions", ASSUMED, 0.2, "", 1)
    slice: float = _cost("time slice of a thread", ASSUMED, 3000.0, "us", 1e6)
    spin_share: float = _cost("cache lines for each waiter, when a spin lock passes on", ASSUMED, 0.5, "", 100)
    # An old kernel answered the SYN and created the socket under the lock, and neither can be measured separately.
    accept_locked: float = _cost("times accept() that an old kernel's one queue is locked for", ASSUMED, 2.0, "", 100)
    # Fastsocket's authors name these locks as a bottleneck. How long they are held is not published.
    vfs_locked: float = _cost("times accept() that Linux 3.13 holds locks of its file system layer for", ASSUMED, 1.0, "", 100)
    away: float = _cost("from a reply until the next request has come", ASSUMED, 50.0, "us", 1e6)
    models: dict[str, ModelCosts] = dataclasses.field(default_factory=dict)     # only those that could be fitted

    def __post_init__(self) -> None:
        idle, *costs = zip(*self.wakes)
        self._wake_curve = list(zip(*(np.interp(range(int(idle[-1]) + 1), idle, cost).tolist() for cost in costs)))

    @staticmethod
    def of_probes(found: list[dict[str, Any]]) -> MachineCosts:
        """The medians of what `quintet-bench probe costs` prints."""
        wakes = np.median([[(w["idle_us"], w["cost_us"], w["latency_us"]) for w in f["wakes"]] for f in found], axis=0)
        keys = ("work_factor", "context_switch_us", "turn_us", "lock_us", "line_us", "accept_us")
        return MachineCosts(wakes.tolist(), *np.median([[f[key] for key in keys] for f in found], axis=0).tolist())

    def wake(self, idle: float) -> tuple[float, float]:
        """CPU and latency of waking a thread: linear between the points, constant beyond."""
        return self._wake_curve[min(int(idle), len(self._wake_curve) - 1)]

    def table(self) -> Iterator[dict[str, Any]]:
        """Every number with its source."""
        for idle, *costs in self.wakes:
            for what, us in zip(("CPU", "until it runs"), costs):
                yield {"name": f"waking a thread whose core was idle for {idle:.0f} us: {what}", "model": None,
                       "value": number(us), "unit": "us", "source": PROBE}
        for model, of in [(None, self), *self.models.items()]:
            for field in filter(lambda field: field.metadata, dataclasses.fields(of)):
                about = field.metadata
                key = f"{field.name}=: ".replace("_", "-") if about["source"] == ASSUMED else ""
                yield {"name": key + about["about"], "model": model, "value": number(getattr(of, field.name)),
                       "unit": about["unit"], "source": about["source"]}


ASSUMPTIONS = {field.name.replace("_", "-"): field for field in dataclasses.fields(MachineCosts)
               if field.metadata.get("source") == ASSUMED}
