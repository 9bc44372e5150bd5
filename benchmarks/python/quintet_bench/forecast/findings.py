# SPDX-License-Identifier: BSL-1.0
"""Fits the costs, simulates the measured runs, then machines that cannot be measured here: as JSON and as a table."""
from __future__ import annotations

import statistics
from typing import Any

from ..results import Document, number
from ..text import grouped, micros, percent, significant
from .costs import MODELS, MachineCosts
from .runs import Observation, fit
from .server import Scenario, simulate
from .shapes import accept_shape, io_context_shape, shard_shape

Rows = list[dict[str, Any]]
# A figure's key, that of its error, its title, and its format. Other programs disturb CPU time least.
FIGURES = (("requests_per_s", "error", "requests/s", grouped), ("p99_us", "p99_error", "p99", micros),
           ("cpu_us", "cpu_error", "CPU for a request", micros))
BOUND = 0.15
COST, RUN = "  {:<74}{:>9} {:<3} {}\n", "  {:<56}{:>10}{:>8}{:>11}{:>8}{:>10}{:>11}{:>8}{:>11}{:>11}{:>8}\n"
SHAPE = "  {:>20} {:>6}{:>20}{:>22}{:>10}{:>20}\n"


def look_ahead(f: dict[str, Any], costs: MachineCosts, cores: list[int], connections: int, handler_us: float) -> None:
    known = [model for model, of in enumerate(costs.models, 1) if of.known]
    for handler, model, n in ((handler, model, n) for handler in (0.0, handler_us) for model in known for n in cores):
        found = simulate(costs, Scenario(model, n, n, n, connections, handler, "ideal", requests=max(3000, 3 * connections)))
        f["forecast"].append({"kind": "forecast", "model": MODELS[model - 1], "cores": n, "connections": connections,
                              "handler_us": number(handler), "requests_per_s": number(found.requests_per_s),
                              "p50_us": number(found.p50_us), "p99_us": number(found.p99_us)})
    if 4 in known:
        f["shapes"] += [accept_shape(costs, costs.short)] if costs.short else []
        f["shapes"] += [io_context_shape(costs, connections), shard_shape(costs, connections)]


def run_row(run: Observation) -> dict[str, Any]:
    """Errors are relative: 0.1 is a tenth too much."""
    s = run.scenario
    out = {"model": MODELS[s.model - 1], "workload": run.workload, "connections": s.connections,
           "cpus_shared": s.client == "shared", "disturbed": run.disturbed, "spread": number(run.spread)}
    for key, error, _, _ in FIGURES:
        was, now = getattr(run.measured, key), getattr(run.simulated, key, None)
        off = now / was - 1 if was and now is not None else None
        out |= {key: number(was), f"simulated_{key}": number(now), error: number(off)}
    return out


def errors(rows: Rows, key: str, undisturbed: bool = False) -> dict[str, Any] | None:
    found = [abs(row[key]) for row in rows if row[key] is not None and not (undisturbed and row["disturbed"])]
    return {"runs": len(found), "bound": BOUND, "within": sum(error <= BOUND for error in found),
            "median": number(statistics.median(found)), "worst": number(max(found))} if found else None


def conclude(document: Document, costs: MachineCosts, runs: list[Observation], *question: Any) -> dict[str, Any]:
    """`question`: that of look_ahead(). Ends early after Ctrl-C."""
    f: dict[str, Any] = {"forecast": [], "shapes": []}
    try:
        for model in (2, 1, 4, 5, 3):   # model 3 uses the resume cost of model 2
            fit(costs, model, runs)
        for run in runs:
            run.simulated = simulate(costs, run.scenario) if costs.models[run.scenario.model - 1].known else None
        if not document.interrupted:
            look_ahead(f, costs, *question)
    except KeyboardInterrupt:
        document.interrupted = True
    document.settings["interrupted"] = document.interrupted
    sets = {name: [run_row(run) for run in runs if run.fitted == (name == "fitted")] for name in ("held_out", "fitted")}
    summaries = {name: {key: {"all": errors(rows, error), "undisturbed": errors(rows, error, True)}
                        for key, error, _, _ in FIGURES} for name, rows in sets.items()}
    return document.figures() | {"costs": list(costs.table()), "errors": summaries} | sets | f


def _cost_block(costs: Rows) -> str:
    out, models = "Costs in microseconds, and where they come from\n", {row["model"]: "" for row in costs if row["model"]}
    of_models = {"": f"  {'':<74}" + "".join(f"{model:>23}" for model in models)}
    for row in costs:
        value = "-" if row["value"] is None else significant(row["value"])
        if row["model"]:
            of_models[row["name"]] = of_models.get(row["name"], f"  {row['name']:<74}") + f"{value:>23}"
        else:
            out += COST.format(row["name"], value, row["unit"], row["source"])
    lines = ["", "Fitted to runs measured here, for each model", *of_models.values()] if models else []
    return out + "".join(line + "\n" for line in lines)


def _runs_block(which: str, rows: Rows, summaries: dict[str, Any]) -> str:
    more = ("simulated", "error")
    out = RUN.format("", "requests/s", "spread", *more, "p99", *more, "CPU/req", *more)
    for row in rows:
        cells = []
        for key, error, _, form in FIGURES:
            now = row[f"simulated_{key}"]
            cells += [form(row[key])] + (["-", "-"] if now is None else [form(now), f"{(row[error] or 0) * 100:+.0f} %"])
        place = ("all CPUs, shared" if row["cpus_shared"] else "one CPU") + (" *" if row["disturbed"] else "")
        out += RUN.format(f"{row['model']:<22}{row['workload']:<11}{row['connections']:>5} {place}", cells[0],
                          percent(row["spread"]), *cells[1:])
    for key, _, title, _ in FIGURES:
        told = {name: f"within {percent(BOUND)}: {e['within']} of {e['runs']}, median error {percent(e['median'])}, worst "
                f"{percent(e['worst'])}" for name, e in summaries[key].items() if e}
        if told:
            quiet = f"; undisturbed: {told.get('undisturbed', 'none')}" if any(row["disturbed"] for row in rows) else ""
            out += f"  -> {which}, {title}: {told['all']}{quiet}\n"
    return out


def _forecast_block(rows: Rows) -> str:
    out = ""
    for handler in dict.fromkeys(row["handler_us"] for row in rows):
        mine, work = [row for row in rows if row["handler_us"] == handler], f"cpu:{micros(handler)}" if handler else "echo"
        cores = "".join(f"{n:>11}" for n in dict.fromkeys(row["cores"] for row in mine))
        out += (f"\nFORECAST, not measured: {work}, {grouped(mine[0]['connections'])} connections, a client that needs none of "
                f"these cores\n  {'':<31}{'cores':<12}{cores}\n")
        for model in dict.fromkeys(row["model"] for row in mine):
            for name, title, key, form in ((model, "requests/s", "requests_per_s", grouped), ("", "p99", "p99_us", micros)):
                cells = "".join(f"{form(row[key]):>11}" for row in mine if row["model"] == model)
                out += f"  forecast {name:<22}{title:<12}{cells}\n"
    return out


def _shape_block(shape: dict[str, Any]) -> str:
    both, rows = shape["shared"], shape["rows"]
    out = f"\nFORECAST of a shape: {shape['title']}\n"
    out += SHAPE.format("threads", "cores", both, shape["separate"], "ratio" if both else "of one", "published")
    for row in rows:
        shared, *published = (grouped(row[key]) if row[key] else "-" for key in ("shared", "published_shared",
                                                                                 "published_separate"))
        out += SHAPE.format(f"forecast {row['threads']:>11}", row["cores"], shared if both else "", grouped(row["separate"]),
                            f"{row['separate'] / (row['shared'] if both else rows[0]['separate']):.2f}",
                            ", ".join(published) if both and published != ["-", "-"] else published[1])
    return out + f"  -> forecast: {shape['conclusion']}\n  published: {shape['published']}\n"


def table(f: dict[str, Any]) -> str:
    out = _cost_block(f["costs"])
    for which, title in (("held_out", "Runs that nothing was fitted to: measured, and simulated"),
                         ("fitted", "Runs that the costs were fitted to (by CPU for a request, not by throughput)")):
        if f[which]:
            out += f"\n{title}\n" + _runs_block(which.replace("_", " "), f[which], f["errors"][which])
    if any(row["disturbed"] for row in f["held_out"] + f["fitted"]):
        out += "  * other programs had more than 5 % of the CPUs in every round\n"
    out += f["noise"] + "\n" if f["summary"] else ""
    return out + _forecast_block(f["forecast"]) + "".join(map(_shape_block, f["shapes"]))
