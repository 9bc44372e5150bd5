# SPDX-License-Identifier: BSL-1.0
"""Runs on one CPU and on all: some to fit the costs to, others to see how far the simulation is off."""
from __future__ import annotations

import dataclasses
import glob
import time
from typing import Any

import numpy as np

from ..build import Build
from ..machine import allowed_cpus, cpu_text, read_text
from ..measuring import run_plan
from ..plan import Run, Settings, contenders_of, place
from ..results import Document, Result
from ..runner import Observer, measure_load
from ..verdict import CPU, FOREIGN, QUIET
from .costs import LOOP_PER_THREAD, MODELS, REACTOR_POOL, SINGLE_REACTOR, MachineCosts, ModelCosts
from .server import Figures, Scenario, figures, simulate

LONE, FEW, MANY, WORK = FITTED_RUNS = ("echo", 1), ("echo", 100), ("echo", 1000), ("cpu:50us", 100)
HELD_OUT = *(("echo", n) for n in (10, 30, 300)), *((f"cpu:{us}us", 100) for us in (100, 200, 500))
SHARED = ("cpu:200us", 100), ("echo", 100)              # the server has not one CPU, but all, like the client
Row = dict[str, Any]                                    # a run: medians of its rounds, and its simulation


def is_disturbed(result: Result) -> bool:
    return (result[FOREIGN] or 0) > QUIET


def _worker_s(pid: int) -> np.ndarray:
    """Returns the time, and the CPU time of the server's workers. Its other threads receive and send."""
    tasks = [task for task in glob.glob(f"/proc/{pid}/task/*/") if read_text(task + "comm").startswith("qnt-work")]
    return np.array([time.monotonic(), sum(int((read_text(task + "schedstat") or "0").split()[0]) for task in tasks) / 1e9])


class Workers(Observer):
    """Takes the time of the server's workers."""

    def begin(self, pid: int) -> None:
        self._begun = _worker_s(pid)

    def end(self, pid: int) -> None:
        self._passed = _worker_s(pid) - self._begun

    def measure(self, result: Result, s: Settings, run: Run) -> None:
        """Adds "worker_us", the CPU of the workers for a request."""
        s = dataclasses.replace(s, shared_cpus=run.work.threads is not None)
        result |= zip(("server_cpus", "client_cpus"), map(cpu_text, place(s, run.work)))
        result["handler_us"] = run.work.cost_us or None
        measure_load(result, s, run, self)
        wall_s, worker_s = self._passed
        result["worker_us"] = float(worker_s / wall_s) * 1e6 / result["requests_per_s"]


def is_fitted(row: Row) -> bool:
    return not row["cpus_shared"] and (row["workload"], row["connections"]) in FITTED_RUNS


def scenario_of(row: Row) -> Scenario:
    cpus, model, connections, handler_us = len(allowed_cpus()), row["model"], row["connections"], row["handler_us"]
    return (Scenario(model, cpus, cpus, cpus, connections, handler_us, "shared") if row["cpus_shared"] else
            Scenario(model, connections=connections, handler_us=handler_us, client_threads=max(1, cpus // 2),
                     requests=1000 if connections == 1 else 3000))      # a lone request has six events that others share


def _row(rounds: list[Result]) -> Row:
    """A run that was disturbed in every round counts. Otherwise only the undisturbed rounds do."""
    rounds = [r for r in rounds if not is_disturbed(r)] or rounds
    first, speeds = rounds[0], [r["requests_per_s"] for r in rounds]
    speed, p50, p99, cpu, client, worker = np.median([[r[key] or 0.0 for key in (
        "requests_per_s", "p50_us", "p99_us", CPU, "client_cpu_us_per_request", "worker_us")] for r in rounds], axis=0).tolist()
    return {"model": first["model"], "workload": first["workload"], "connections": first["connections"],
            "handler_us": first["handler_us"] or 0, "cpus_shared": first["loops"] > 1, "disturbed": is_disturbed(first),
            "spread": (max(speeds) - min(speeds)) / speed, **figures(speed, p50, p99, max(0.0, cpu - worker), worker, client)}


def observe(s: Settings, build: Build, costs: MachineCosts) -> tuple[Document, list[Row]]:
    """Performs all runs."""
    plan = [(*run, None) for run in (*FITTED_RUNS, *HELD_OUT)] + [(*run, len(allowed_cpus())) for run in SHARED]
    # Of kind echo, so that server and client have CPUs of their own.
    s.workloads = [build.workload(name).but(connections=n, threads=cpus, kind="echo") for name, n, cpus in plan]
    s.workloads.append(build.workload("short"))
    s.contenders = contenders_of(list(MODELS), False)
    document = run_plan("forecast", s, build, Workers().measure)
    runs: dict[tuple[Any, ...], list[Result]] = {}
    for r in filter(lambda r: not r["error"], document.results):
        runs.setdefault((r["workload"], r["connections"], r["loops"] > 1, r["model"]), []).append(r)
    short = [r[CPU] for key, rounds in runs.items() if key[0] == "short" and key[3] == LOOP_PER_THREAD for r in rounds]
    costs.short = float(np.median(short)) if short else None
    return document, [_row(rounds) for (workload, *_), rounds in runs.items() if workload != "short"]


def fit(costs: MachineCosts, model: str, rows: list[Row]) -> None:
    """Simulates the fitted runs, corrects the costs by the difference of the CPU per request, and repeats that."""
    found: dict[tuple[str, int], Figures] = {
        (row["workload"], row["connections"]): row for row in rows if row["model"] == model and is_fitted(row)}
    if len(found) < len(FITTED_RUNS):
        return
    few, many, pooled = found[FEW], found[MANY], model == REACTOR_POOL      # pooled: cheap requests too
    of = ModelCosts(few["loop_cpu"], many["loop_cpu"], few["client_cpu"], many["client_cpu"], expensive_loop=few["loop_cpu"])
    of.resume = costs.models.get(SINGLE_REACTOR, of).resume if pooled else 0.0
    trial = dataclasses.replace(costs, models={model: of})
    for _ in range(5):
        for key, corrections in (
                (FEW, {"loop_few": "loop_cpu", "client_few": "client_cpu", "worker": "worker_cpu"}),
                (MANY, {"loop_many": "loop_cpu", "client_many": "client_cpu"}),
                (LONE, {"handoff" if pooled else "resume": "server_cpu", "client_resume": "client_cpu"}),
                (WORK, {"expensive_loop": "loop_cpu", "expensive_worker": "worker_cpu"})):
            measured, simulated = found[key], simulate(trial, scenario_of(found[key]))
            for cost, figure in corrections.items():
                # More connections make no request cheaper. Without this bound there is a second solution: a faster server
                # that sleeps and is woken more often.
                least = {"loop_many": of.loop_few, "client_many": of.client_few}.get(cost, 0.0 if key == LONE else 0.05)
                if figure != "worker_cpu" or simulated[figure]:
                    setattr(of, cost, max(least, (getattr(of, cost) or 0.0) + measured[figure] - simulated[figure]))
            if key == LONE:             # one wake-up of the server and one of the client
                of.wake_extra += (1e6 / measured["requests_per_s"] - 1e6 / simulated["requests_per_s"]) / 2
    costs.models[model] = of
