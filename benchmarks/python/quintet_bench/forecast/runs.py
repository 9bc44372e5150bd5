# SPDX-License-Identifier: BSL-1.0
"""Runs on one CPU and on all: some to fit the costs to, others to see how far the simulation is off."""
from __future__ import annotations

import dataclasses
import glob
import statistics
import time

from ..build import Build
from ..errors import RunError
from ..machine import allowed_cpus, cpu_text, read_text
from ..measuring import run_plan
from ..plan import Contender, Run, Settings, contenders_of, place
from ..results import Document, Result
from ..runner import Observer, measure_load
from ..verdict import CPU, FOREIGN, QUIET
from .costs import MODELS, MachineCosts
from .server import Outcome, Scenario, simulate

LONE, FEW, MANY, WORK = FITTED_RUNS = ("echo", 1), ("echo", 100), ("echo", 1000), ("cpu:50us", 100)
HELD_OUT = *(("echo", n) for n in (10, 30, 300)), *((f"cpu:{us}us", 100) for us in (100, 200, 500))
SHARED = ("cpu:200us", 100), ("echo", 100)              # the server has not one CPU, but all, like the client


def is_disturbed(result: Result) -> bool:
    return (result[FOREIGN] or 0) > QUIET


class Patience(Observer):
    """Waits for moments in which other programs are idle, up to a time limit in all. In a run it adds "worker_us": the CPU of
    the server's workers for a request. Its other threads receive and send."""

    def __init__(self, left_s: float) -> None:
        self.left_s = left_s

    def wait(self) -> None:
        while self.left_s > 0:
            looks = []
            for _ in range(2):
                fields = [int(field) for field in read_text("/proc/stat").split(None, 9)[1:9]]
                looks.append((sum(fields), fields[3] + fields[4]))
                time.sleep(0.1)
            passed, idle = (after - before for before, after in zip(*looks))
            if idle >= passed * (1 - QUIET):
                return
            self.left_s -= 0.2

    def begin(self, pid: int, sign: int = -1) -> None:
        self.wall_s += sign * time.monotonic()
        for task in glob.glob(f"/proc/{pid}/task/*/"):
            if read_text(task + "comm").startswith("qnt-work"):
                self.used_s += sign * int((read_text(task + "schedstat") or "0").split()[0]) / 1e9

    def end(self, pid: int) -> None:
        self.begin(pid, 1)

    def measure(self, result: Result, s: Settings, run: Run) -> None:
        """Repeats disturbed and failed runs until the time limit."""
        s = dataclasses.replace(s, shared_cpus=run.work.threads is not None)
        run = dataclasses.replace(run, work=run.work.but(kind="echo"))  # else place() would give the client the server's CPU
        server, client = place(s, run.work)
        blank = result | {"server_cpus": cpu_text(server), "client_cpus": cpu_text(client)}
        while True:
            self.wait()
            result |= blank
            begun, self.used_s, self.wall_s = time.monotonic(), 0.0, 0.0
            try:
                measure_load(result, s, run, self)
                result["worker_us"] = self.used_s / self.wall_s * 1e6 / result["requests_per_s"]
                if self.left_s <= 0 or not is_disturbed(result):
                    return
            except RunError:
                if self.left_s <= 0:
                    raise
            self.left_s -= time.monotonic() - begun


@dataclasses.dataclass
class Observation:
    """A measured run, medians of its rounds, and its simulation."""
    workload: str
    scenario: Scenario
    measured: Outcome
    spread: float = 0.0
    disturbed: bool = False             # in every round; otherwise only the undisturbed rounds count
    simulated: Outcome | None = None    # None: its model could not be fitted

    @property
    def fitted(self) -> bool:
        return self.scenario.client == "own" and (self.workload, self.scenario.connections) in FITTED_RUNS


def scenario_of(model: int, connections: int, handler_us: float, shared: bool) -> Scenario:
    cpus = len(allowed_cpus())
    return (Scenario(model, cpus, cpus, cpus, connections, handler_us, "shared") if shared else
            Scenario(model, connections=connections, handler_us=handler_us, client_threads=max(1, cpus // 2),
                     requests=1000 if connections == 1 else 3000))      # a lone request has six events that others share


def _observation(rounds: list[Result]) -> Observation:
    rounds = [r for r in rounds if not is_disturbed(r)] or rounds
    first, speeds = rounds[0], [r["requests_per_s"] for r in rounds]
    speed, p50, p99, cpu, client, worker = (statistics.median(r[key] or 0.0 for r in rounds) for key in (
        "requests_per_s", "p50_us", "p99_us", CPU, "client_cpu_us_per_request", "worker_us"))
    scenario = scenario_of(MODELS.index(first["model"]) + 1, first["connections"], first["handler_us"] or 0, first["loops"] > 1)
    return Observation(first["workload"], scenario, Outcome(speed, p50, p99, max(0.0, cpu - worker), worker, client),
                       (max(speeds) - min(speeds)) / speed, is_disturbed(first))


def observe(s: Settings, build: Build, patience: Patience, costs: MachineCosts) -> tuple[Document, list[Observation]]:
    """Performs all runs."""
    cpus = len(allowed_cpus())
    plan = [(*run, 1) for run in (*FITTED_RUNS, *HELD_OUT)] + [(*run, cpus) for run in SHARED]
    s.workloads = [build.workload(name).but(connections=n, threads=cpus if loops > 1 else None) for name, n, loops in plan]
    s.contenders = contenders_of(list(MODELS), False)
    document = run_plan("forecast", s, build, patience.measure)
    good = [r for r in document.results if not r["error"]]
    runs = [[r for r in good if (r["workload"], r["connections"], r["loops"], r["model"]) == (*run, model)]
            for run in plan for model in MODELS]
    if not document.interrupted:
        s.workloads, s.contenders = [build.workload("short")], [Contender(model=MODELS[3])]
        more = run_plan("forecast", s, build, patience.measure)
        document.results, document.interrupted = document.results + more.results, more.interrupted
        short = [r[CPU] for r in more.results if r[CPU]]
        costs.short = statistics.median(short) if short else None
    return document, [_observation(rounds) for rounds in runs if rounds]


def fit(costs: MachineCosts, model: int, runs: list[Observation]) -> None:
    """Simulates the fitted runs, corrects the costs by the difference of the CPU per request, and repeats that."""
    of, found = costs.models[model - 1], {(run.workload, run.scenario.connections): run for run in runs
                                          if run.fitted and run.scenario.model == model}
    if len(found) < len(FITTED_RUNS):
        return
    few, many, pooled = found[FEW].measured, found[MANY].measured, model == 3      # pooled: cheap requests too
    of.loop_few, of.loop_many, of.client_few, of.client_many = few.loop_cpu, many.loop_cpu, few.client_cpu, many.client_cpu
    of.expensive_loop = few.loop_cpu
    for _ in range(5):
        of.resume = costs.models[1].resume if pooled else of.resume
        for key, corrections in (
                (FEW, {"loop_few": "loop_cpu", "client_few": "client_cpu", "worker": "worker_cpu"}),
                (MANY, {"loop_many": "loop_cpu", "client_many": "client_cpu"}),
                (LONE, {"handoff" if pooled else "resume": "server_cpu", "client_resume": "client_cpu"}),
                (WORK, {"expensive_loop": "loop_cpu", "expensive_worker": "worker_cpu"})):
            measured, simulated = found[key].measured, simulate(costs, found[key].scenario)
            for cost, figure in corrections.items():
                # More connections make no request cheaper. Without this bound there is a second solution: a faster server
                # that sleeps and is woken more often.
                least = {"loop_many": of.loop_few, "client_many": of.client_few}.get(cost, 0.0 if key == LONE else 0.05)
                is_, was = getattr(measured, figure), getattr(simulated, figure)
                if figure != "worker_cpu" or was:
                    setattr(of, cost, max(least, (getattr(of, cost) or 0.0) + is_ - was))
            if key == LONE:             # one wake-up of the server and one of the client
                of.wake_extra += (1e6 / measured.requests_per_s - 1e6 / simulated.requests_per_s) / 2
    of.known = True
