# SPDX-License-Identifier: BSL-1.0
"""A planted false sharing: two counters in one cache line and in two. Do this machine's hardware counters reveal it?"""
from __future__ import annotations

import functools
import json
import subprocess
from typing import Any

from ..progress import perform_all
from ..results import Sample, number
from ..table import aligned
from ..text import grouped, micros, significant
from .perf_stat import parse
from .perf_tool import COUNTING, perf_output

LAYOUTS = {"adjacent": "both counters in one cache line", "padded": "a cache line for each"}
NS, REFERENCES, MISSES = "ns_per_increment", "cache_references_per_increment", "cache_misses_per_increment"
EVENTS = {MISSES: ("cache-misses", "cache misses"), REFERENCES: ("cache-references", "references of the last-level cache")}
# If a line moves between cores, most increments or every few wait for it: far more than a process start costs.
LEAST_DIFFERENCE, LEAST_TIMES = 0.01, 5
Round = dict[str, dict[str, Any]]       # by layout: NS, REFERENCES and MISSES; None: not counted


def count(command: list[str], hardware: bool) -> dict[str, Any]:
    printed = (perf_output(*COUNTING, "--", *command) if hardware else
               subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout)
    found, counts = json.loads(printed[printed.index("{"):printed.index("}") + 1]), parse(printed)
    return {NS: found[NS]} | {figure: counts[event].value / found["increments"] if event in counts and
                              counts[event].state == "counted" else None for figure, (event, _) in EVENTS.items()}


def measure(command: list[str], increments: int, rounds: int, hardware: bool) -> tuple[list[Round], bool]:
    """Returns complete rounds, and whether Ctrl-C ended them. `command` lacks the layout."""
    out: list[Round] = [{} for _ in range(rounds)]

    def task(index: int, layout: str) -> str:
        found = out[index][layout] = count([*command, "--layout", layout], hardware)
        return f"{micros(found[NS] / 1e3)} an increment"
    complete = perform_all([(f"{layout} counters round {index + 1}", 30e-9 * increments, functools.partial(task, index, layout))
                            for index in range(rounds) for layout in LAYOUTS])
    return [one for one in out if len(one) == len(LAYOUTS)], not complete


def _summary(values: list[float | None]) -> dict[str, Any]:
    known = tuple(value for value in values if value is not None)
    return {key: number(getattr(Sample(known), name)) if known else None
            for key, name in (("median", "median"), ("min", "low"), ("max", "high"))}


def _higher(r: Round, figure: str) -> bool:
    one, two = (r[layout][figure] for layout in LAYOUTS)
    return one is not None and two is not None and one - two >= LEAST_DIFFERENCE and one >= LEAST_TIMES * two


def _text(summary: dict[str, Any]) -> str:
    return "-" if summary["median"] is None else significant(summary["median"])


def _sentence(about: dict[str, Any]) -> str:
    if not about["rounds"]:
        return "Nothing was measured."
    median, low, high = map(significant, about["time_ratio"].values())
    time = (f"An increment takes {median} times as long in one cache line as in a line each (rounds from {low} to {high}): "
            "a time, which does not tell its cause.")
    if about["found"] is None:
        return (f"Cannot be found here, without hardware counters: {about['not_measured']}.\ncachegrind does not show it "
                f"either: it simulates one cache for all threads, in which no line travels.\n{time}")
    one, two = about["layouts"]
    both = "; ".join(f"{_text(one[figure])} {name} an increment in one cache line, {_text(two[figure])} in a line each"
                     for figure, (_, name) in EVENTS.items())
    return (f"Found by hardware counters: {both}.\n{time}" if about["found"] else
            f"Not found, though there are hardware counters: {both}. Are the two CPUs threads of one core, which share all "
            f"caches? --cpus gives others.\n{time}")


def compose(cpus: list[int], increments: int, rounds: list[Round], obstacle: str | None) -> dict[str, Any]:
    """The findings as JSON. `obstacle`: why there are no hardware counters. Processors define a reference or a miss of the
    last level differently: a line that moves within a package may be either."""
    layouts = [{"layout": layout} | {figure: _summary([r[layout][figure] for r in rounds]) for figure in (NS, *EVENTS)}
               for layout in LAYOUTS]
    found = any(all(_higher(r, figure) for r in rounds) for figure in EVENTS) if rounds and not obstacle else None
    about = {"cpus": cpus, "increments": increments, "rounds": len(rounds), "source": None if obstacle else "hardware",
             "not_measured": obstacle, "layouts": layouts, "found": found,
             "time_ratio": _summary([r["adjacent"][NS] / r["padded"][NS] for r in rounds])}
    return about | {"sentence": _sentence(about)}


def table(about: dict[str, Any]) -> str:
    one, two = about["cpus"]
    rows = [["for an increment", "time", "rounds", "references", "misses"]]
    for layout in about["layouts"] if about["rounds"] else ():
        median, low, high = (micros(ns / 1e3) for ns in layout[NS].values())
        rows.append([LAYOUTS[layout["layout"]], median, f"{low} to {high}", _text(layout[REFERENCES]), _text(layout[MISSES])])
    return (f"False sharing, planted: two threads, on CPU {one} and CPU {two}, increase a counter each, "
            f"{grouped(about['increments'])} times; rounds: {about['rounds']}\n{aligned(rows)}{about['sentence']}\n")
