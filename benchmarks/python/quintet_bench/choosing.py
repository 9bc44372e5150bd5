# SPDX-License-Identifier: BSL-1.0
"""The tables by which a reader chooses a model: README.md and doc/choosing.md, from doc/results."""
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .commands.compare import compose
from .commands.sweep import curves_of
from .plan import MODELS
from .results import Combination, Document, summarise
from .text import filled, grouped, shown, significant, table
from .verdict import CPU, SPEED

TAKE_WHEN = {
    "thread_per_connection": "handlers block, and connections are hundreds",
    "single_reactor": "handlers are cheap, and shared state should need no locks",
    "reactor_pool": "handlers compute or block, and I/O is little: it is all on one core",
    "loop_per_thread": "handlers are cheap, and there are several cores: the default",
    "loop_per_thread_pool": "some handlers are slow, and the others must not wait for them"}
SWEEP = "sweep_handler"


class Choice(NamedTuple):
    handler: str                        # what it does
    workload: str
    model: str                          # must be one of the leaders
    why: str                            # this one of the leaders


CHOICES = (
    Choice("is cheap (0 us), one core is enough", "echo", "single_reactor", "shared state needs no locks"),
    Choice("is cheap (0 us), there are more cores", "echo", "loop_per_thread", "the others have one thread for I/O, or a pool"),
    Choice("computes for 200 us", "cpu:200us", "loop_per_thread", "no handoff"),
    Choice("computes for 5 ms, once in ten requests", "mixed", "loop_per_thread_pool",
           "cheap requests of other connections need not wait"),
    Choice("sleeps or waits for 2 ms, hundreds of connections", "blocking:2ms", "thread_per_connection",
           "one connection waits, nobody else"))


class Results:
    """What compare has found: a row for each workload and model, and who leads in a workload and cannot be told apart: nobody
    where rounds are too noisy to say."""

    def __init__(self, document: Document) -> None:
        self.rows = {(row.workload, row.label): row for row in summarise(document.results)}
        self.leaders: dict[str, list[str]] = {found["workload"]: [] if found["too_noisy"] else found["level"]
                                              for found in compose(document)["verdicts"]}


def speed(row: Combination) -> float:
    return row.median(SPEED) or 0


def models(results: Results, workloads: Sequence[str]) -> str:
    """When to take each model, and its requests/s; those that lead are bold."""
    def cell(workload: str, model: str) -> str:
        text = grouped(speed(results.rows[workload, model]))
        return f"**{text}**" if model in results.leaders[workload] else text
    return table(["model", "take it when ...", *(f"`{workload}`" for workload in workloads)],
                 ([f"`{model}`", TAKE_WHEN[model], *(cell(workload, model) for workload in workloads)] for model in MODELS))


def choices(results: Results) -> str:
    """What to take for each handler, by how much it is ahead of the slowest model, and its price."""
    def cells(choice: Choice) -> list[str]:
        if choice.model not in results.leaders[choice.workload]:
            raise ValueError(f"{choice.workload}: {choice.model} is not among the leaders; change CHOICES")
        row = results.rows[choice.workload, choice.model]
        slowest = min((results.rows[choice.workload, model] for model in MODELS), key=speed)
        return [choice.handler, f"`{choice.model}`", choice.why, grouped(speed(row)),
                f"{significant(speed(row) / speed(slowest))} times `{slowest.label}`", shown(CPU, row.median(CPU)),
                shown("p99_us", row.median("p99_us"))]
    return table(["the handler", "take", "because", "requests/s", "that is", "CPU of a request", "p99"], map(cells, CHOICES))


def prices(results: Results, idle: Mapping[str, Any]) -> str:
    """What each model costs, whatever it is chosen for."""
    memory = {found["model"]: found["figures"]["rss_per_idle_bytes"] for found in idle["results"]}

    def figure(workload: str, key: str, model: str) -> str:
        return shown(key, results.rows[workload, model].median(key))
    columns = (("CPU, `echo`", "echo", CPU), ("p99, `echo`", "echo", "p99_us"), ("p99, `mixed`", "mixed", "p99_us"),
               ("p99, `blocking:2ms`", "blocking:2ms", "p99_us"), ("heartbeat p99", "heartbeat", "heartbeat_p99_us"))
    return table(["", *(head for head, _, _ in columns), "memory of an idle connection"],
                 ([f"`{model}`", *(figure(workload, key, model) for _, workload, key in columns), f"{grouped(memory[model])} B"]
                  for model in MODELS))


def leads(document: Document, swept: Mapping[str, Any]) -> str:
    """Which model serves most requests at which handler time, and how far the others are behind in the end."""
    curves = curves_of(summarise(document.results), "handler_us", SPEED)
    curves.pop("single_reactor")
    last, values = swept["leads"][-1]["from"], {value for curve in curves.values() for value in curve}
    speeds = [[curve[value].median for curve in curves.values() if value in curve] for value in values if value >= last]
    least = min(min(some) / max(some) for some in speeds)
    text = re.sub(r"\b(\w+_(?:thread|reactor|connection|pool)\w*)", r"`\1`", swept["verdicts"][0])
    return filled(f"{text} There all models but `single_reactor` serve at least {int(least * 100)} % of the best.")


def ratios(document: Document) -> str:
    """requests/s of one loop and of a thread for each connection, over connections."""
    curves, names = curves_of(summarise(document.results), "connections", SPEED), ("single_reactor", "thread_per_connection")
    rows = [(value, *(curves[name][value].median for name in names)) for value in curves[names[0]]]
    return table(["connections", *(f"`{name}`" for name in names), "ratio"],
                 ([*map(grouped, row), f"{row[1] / row[2]:.2f}"] for row in rows))
