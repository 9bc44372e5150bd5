# SPDX-License-Identifier: BSL-1.0
"""Measures runs, fits costs to some, simulates all, then machines that cannot be measured here: as JSON and as a table."""
import dataclasses
import glob
import itertools
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..build import Build
from ..demands import NOT_MET, Verdict, at_most, demand, status_of
from ..machine import allowed_cpus, cpu_text, read_text
from ..measuring import run_plan
from ..plan import Run, Settings, contenders_of, place
from ..results import Document, Result, Sample, number
from ..runner import Observer, measure_load
from ..table import aligned
from ..text import grouped, micros, percent, significant
from ..verdict import CPU, FOREIGN, QUIET
from .costs import LOOP_PER_THREAD, MODELS, REACTOR_POOL, SINGLE_REACTOR, MachineCosts, ModelCosts
from .server import Figures, Scenario, figures, simulate
from .shapes import accept_shape, io_context_shape, shard_shape

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


# A figure's key, that of its error, its title, and its format. Other programs disturb CPU time least.
FIGURES = (("requests_per_s", "error", "requests/s", grouped), ("p99_us", "p99_error", "p99", micros),
           ("cpu_us", "cpu_error", "CPU for a request", micros))
BOUND = 0.15
Columns = list[tuple[str, str, Callable[[Any], str]]]   # title, key and format


def look_ahead(f: dict[str, Any], costs: MachineCosts, cores: list[int], connections: int, handler_us: float) -> None:
    for handler, model, n in ((handler, model, n) for handler in (0.0, handler_us) for model in costs.models for n in cores):
        found = simulate(costs, Scenario(model, n, n, n, connections, handler, "ideal", requests=max(3000, 3 * connections)))
        f["forecast"].append({"kind": "forecast", "model": model, "cores": n, "connections": connections,
                              "handler_us": number(handler)} |
                             {key: number(found[key]) for key in ("requests_per_s", "p50_us", "p99_us")})
    if LOOP_PER_THREAD in costs.models:
        f["shapes"] += [accept_shape(costs, costs.short)] if costs.short else []
        f["shapes"] += [io_context_shape(costs, connections), shard_shape(costs, connections)]


def compared(row: Row) -> Row:
    """Errors are relative: 0.1 is a tenth too much."""
    out, now = dict(row), row.get("simulated") or {}
    out.pop("simulated", None)
    for key, error, _, _ in FIGURES:
        out |= {f"simulated_{key}": now.get(key), error: now[key] / row[key] - 1 if now and row[key] else None}
    return {key: number(value) if isinstance(value, float) else value for key, value in out.items()}


def errors(rows: list[Row], key: str) -> dict[str, Any] | None:
    found = [abs(row[key]) for row in rows if row[key] is not None]
    return {"runs": len(found), "bound": BOUND, "within": sum(error <= BOUND for error in found),
            "median": number(statistics.median(found)), "worst": number(max(found))} if found else None


def honest(rows: list[Row]) -> list[Verdict]:
    """Whether runs that nothing was fitted to are as simulated. Runs stand for rounds here."""
    quiet = tuple(abs(row["cpu_error"]) for row in rows if row["cpu_error"] is not None and not row["disturbed"])
    return [demand(f"held out, CPU for a request: off by {percent(statistics.median(quiet))}", Sample(quiet),
                   at_most(BOUND, f"at most {percent(BOUND)}"), metric="cpu_error")] if quiet else []


def conclude(document: Document, costs: MachineCosts, runs: list[Row], *question: Any) -> dict[str, Any]:
    """`question`: that of look_ahead(), which is refused if held-out runs show that the simulation is wrong. After Ctrl-C
    nothing is simulated."""
    f: dict[str, Any] = {"forecast": [], "shapes": [], "verdicts": []}
    try:
        if not document.interrupted:
            for model in MODELS:        # reactor_pool uses the resume cost of single_reactor
                fit(costs, model, runs)
            for run in runs:
                run["simulated"] = simulate(costs, scenario_of(run)) if run["model"] in costs.models else None
            f["verdicts"] = honest([compared(run) for run in runs if not is_fitted(run)])
            if status_of(f["verdicts"]) != NOT_MET:
                look_ahead(f, costs, *question)
    except KeyboardInterrupt:
        document.interrupted = True
    document.settings["interrupted"] = document.interrupted
    sets = {name: [compared(run) for run in runs if is_fitted(run) == fitted]
            for name, fitted in (("held_out", False), ("fitted", True))}
    summaries = {name: {key: errors(rows, error) for key, error, _, _ in FIGURES} for name, rows in sets.items()}
    return document.figures() | {"costs": list(costs.table()), "errors": summaries} | f | sets


def listed(rows: list[Row], columns: Columns, left: Sequence[int] = (0,)) -> str:
    """A line for each row. A column for which no row has a value is left out."""
    known = [column for column in columns if any(row[column[1]] is not None for row in rows)]
    texts = [["-" if row[key] is None else form(row[key]) for _, key, form in known] for row in rows]
    return aligned([[title for title, _, _ in known], *texts], left)


def crossed(head: str, cells: Iterable[tuple[str, str, str]]) -> str:
    """A table of cells, which are row, column and text. `head`: of the rows' names."""
    rows: dict[str, dict[str, str]] = {}
    for row, column, text in cells:
        rows.setdefault(row, {head: row})[column] = text
    heads = list(dict.fromkeys(itertools.chain(*rows.values())))
    return aligned([heads, *([texts.get(column, "-") for column in heads] for texts in rows.values())])


def _costs_text(costs: list[Row]) -> str:
    columns: Columns = [("cost", "name", str), ("value", "value", significant), ("", "unit", str), ("source", "source", str)]
    single, fitted = [c for c in costs if not c["model"]], [c for c in costs if c["model"]]
    cells = ((c["name"], c["model"], "-" if c["value"] is None else significant(c["value"])) for c in fitted)
    return (f"Costs in microseconds, and where they come from\n{listed(single, columns, (0, 2, 3))}" +
            (f"\nFitted to runs measured here, for each model\n{crossed('', cells)}" if fitted else ""))


def _held_out_text(runs: list[Row], summaries: dict[str, Any]) -> str:
    columns: Columns = [
        ("", "model", str), ("", "workload", str), ("", "connections", str),
        ("", "cpus_shared", lambda shared: "all CPUs, shared" if shared else "one CPU"),
        ("", "disturbed", lambda disturbed: "*" if disturbed else ""), ("spread", "spread", percent)]
    for key, error, title, form in FIGURES:
        columns += [(title, key, form), ("simulated", f"simulated_{key}", form),
                    ("error", error, lambda e: f"{e * 100:+.0f} %")]
    out = f"\nRuns that nothing was fitted to: measured, and simulated\n{listed(runs, columns, (0, 1, 3, 4))}"
    for title, e in ((title, summaries[key]) for key, _, title, _ in FIGURES if summaries[key]):
        out += (f"  -> held out, {title}: within {percent(BOUND)}: {e['within']} of {e['runs']}, median error "
                f"{percent(e['median'])}, worst {percent(e['worst'])}\n")
    disturbed = "  * other programs had more than 5 % of the CPUs in every round\n"
    return out + disturbed * any(row["disturbed"] for row in runs)


def _strategies_text(strategies: list[dict[str, Any]]) -> str:
    cores = list(strategies[0]["by_cores"])
    rows = [[f"predicted {row['strategy']}", *(grouped(speed) for speed in row["by_cores"].values()),
             f"published {grouped(row['published'])} ({row['published_system']})" if row["published"] else "",
             f"assumed: {row['assumes']}"] for row in strategies]
    return aligned([["connections/s with cores", *cores, f"{cores[-1]} cores", ""], *rows], (0, len(cores) + 2))


def _shape_text(shape: dict[str, Any]) -> str:
    columns: Columns = [
        ("", "kind", str), ("threads", "threads", str), ("cores", "cores", str),
        *((shape[key], key, grouped) for key in ("shared", "separate")), ("ratio", "ratio", "{:.2f}".format),
        *((f"published: {shape[key]}", f"published_{key}", grouped) for key in ("shared", "separate"))]
    return (f"\nFORECAST of a shape: {shape['title']}\n{listed(shape['rows'], columns)}  -> forecast: {shape['conclusion']}\n"
            f"  published: {shape['published']}\n") + (_strategies_text(shape["strategies"]) if "strategies" in shape else "")


def table(f: dict[str, Any]) -> str:
    out = _costs_text(f["costs"]) + (_held_out_text(f["held_out"], f["errors"]["held_out"]) if f["held_out"] else "")
    out += "".join(f"  -> {one['sentence']}\n" for one in f["verdicts"]) + (f["noise"] + "\n" if f["summary"] else "")
    if status_of(f["verdicts"]) == NOT_MET:
        out += "No forecast: the simulation is wrong here already, for the runs above that it can be compared with.\n"
    for handler, (first, *rows) in itertools.groupby(f["forecast"], lambda row: row["handler_us"]):
        cells = ((f"forecast {row['model']:<22}{title}", str(row["cores"]), form(row[key]))
                 for row in (first, *rows) for key, _, title, form in FIGURES[:2])
        out += (f"\nFORECAST, not measured: {f'cpu:{micros(handler)}' if handler else 'echo'}, {grouped(first['connections'])} "
                f"connections, a client that needs none of these cores\n{crossed('cores', cells)}")
    return out + "".join(map(_shape_text, f["shapes"]))
