# SPDX-License-Identifier: BSL-1.0
"""Fits the costs, simulates the measured runs, then machines that cannot be measured here: as JSON and as a table."""
import itertools
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..demands import NOT_MET, Verdict, at_most, demand, status_of
from ..results import Document, Sample, number
from ..table import aligned
from ..text import grouped, micros, percent, significant
from .costs import LOOP_PER_THREAD, MODELS, MachineCosts
from .runs import Row, fit, is_fitted, scenario_of
from .server import Scenario, simulate
from .shapes import accept_shape, io_context_shape, shard_shape

# A figure's key, that of its error, its title, and its format. Other programs disturb CPU time least.
FIGURES = (("requests_per_s", "error", "requests/s", grouped), ("p99_us", "p99_error", "p99", micros),
           ("cpu_us", "cpu_error", "CPU for a request", micros))
SETS = {"held_out": "Runs that nothing was fitted to: measured, and simulated",
        "fitted": "Runs that the costs were fitted to (by CPU for a request, not by throughput)"}
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
        for model in () if document.interrupted else MODELS:    # reactor_pool uses the resume cost of single_reactor
            fit(costs, model, runs)
        for run in () if document.interrupted else runs:
            run["simulated"] = simulate(costs, scenario_of(run)) if run["model"] in costs.models else None
        f["verdicts"] = honest([compared(run) for run in runs if not is_fitted(run)])
        if not document.interrupted and status_of(f["verdicts"]) != NOT_MET:
            look_ahead(f, costs, *question)
    except KeyboardInterrupt:
        document.interrupted = True
    document.settings["interrupted"] = document.interrupted
    sets = {name: [compared(run) for run in runs if is_fitted(run) == (name == "fitted")] for name in SETS}
    summaries = {name: {key: {"all": errors(rows, error), "undisturbed": errors([r for r in rows if not r["disturbed"]], error)}
                        for key, error, _, _ in FIGURES} for name, rows in sets.items()}
    return document.figures() | {"costs": list(costs.table()), "errors": summaries} | f | sets


def listed(rows: list[Row], columns: Columns, left: Sequence[int] = (0,)) -> str:
    """A line for each row. A column for which no row has a value is left out."""
    known = [column for column in columns if any(row[column[1]] is not None for row in rows)]
    texts = [["-" if row[key] is None else form(row[key]) for _, key, form in known] for row in rows]
    return aligned([[title for title, _, _ in known], *texts], left)


def crossed(head: str, cells: Iterable[tuple[str, str, str]]) -> str:
    """A table of cells, which are row, column and text."""
    rows: dict[str, dict[str, str]] = {}
    for row, column, text in cells:
        rows.setdefault(row, {})[column] = text
    heads = list(dict.fromkeys(itertools.chain(*rows.values())))
    return aligned([[head, *heads], *([row, *(texts.get(column, "-") for column in heads)] for row, texts in rows.items())])


def _costs_text(costs: list[Row]) -> str:
    columns: Columns = [("cost", "name", str), ("value", "value", significant), ("", "unit", str), ("source", "source", str)]
    single, fitted = [c for c in costs if not c["model"]], [c for c in costs if c["model"]]
    cells = ((c["name"], c["model"], "-" if c["value"] is None else significant(c["value"])) for c in fitted)
    return (f"Costs in microseconds, and where they come from\n{listed(single, columns, (0, 2, 3))}" +
            (f"\nFitted to runs measured here, for each model\n{crossed('', cells)}" if fitted else ""))


def _runs_text(name: str, runs: list[Row], summaries: dict[str, Any]) -> str:
    columns: Columns = [
        ("", "model", str), ("", "workload", str), ("", "connections", str),
        ("", "cpus_shared", lambda shared: "all CPUs, shared" if shared else "one CPU"),
        ("", "disturbed", lambda disturbed: "*" if disturbed else ""), ("spread", "spread", percent)]
    for key, error, title, form in FIGURES:
        columns += [(title, key, form), ("simulated", f"simulated_{key}", form),
                    ("error", error, lambda e: f"{e * 100:+.0f} %")]
    out = f"\n{SETS[name]}\n{listed(runs, columns, (0, 1, 3, 4))}"
    for (key, _, title, _), which in itertools.product(FIGURES, ("all", "undisturbed")):
        e = summaries[key][which]
        if e and (which == "all" or e != summaries[key]["all"]):
            out += (f"  -> {name.replace('_', ' ')}, {title}{', undisturbed' * (which != 'all')}: within {percent(BOUND)}: "
                    f"{e['within']} of {e['runs']}, median error {percent(e['median'])}, worst {percent(e['worst'])}\n")
    return out


def _forecast_text(handler: float, rows: list[Row]) -> str:
    work = f"cpu:{micros(handler)}" if handler else "echo"
    cells = ((f"forecast {row['model']:<22}{title}", str(row["cores"]), form(row[key]))
             for row in rows for key, _, title, form in FIGURES[:2])
    return (f"\nFORECAST, not measured: {work}, {grouped(rows[0]['connections'])} connections, a client that needs none of "
            f"these cores\n{crossed('cores', cells)}")


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
    out = _costs_text(f["costs"]) + "".join(_runs_text(name, f[name], f["errors"][name]) for name in SETS if f[name])
    if any(row["disturbed"] for name in SETS for row in f[name]):
        out += "  * other programs had more than 5 % of the CPUs in every round\n"
    out += "".join(f"  -> {one['sentence']}\n" for one in f["verdicts"]) + (f["noise"] + "\n" if f["summary"] else "")
    if status_of(f["verdicts"]) == NOT_MET:
        out += "No forecast: the simulation is wrong here already, for the runs above that it can be compared with.\n"
    for handler, rows in itertools.groupby(f["forecast"], lambda row: row["handler_us"]):
        out += _forecast_text(handler, list(rows))
    return out + "".join(map(_shape_text, f["shapes"]))
