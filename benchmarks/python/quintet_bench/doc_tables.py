# SPDX-License-Identifier: BSL-1.0
"""Rewrites the marked blocks of the documentation: tables, and what commands have printed, from a file of scripts/record-here.

A block lies between <!-- table: NAME ARGUMENT... --> and <!-- end -->. With --check nothing is written, and the exit status
is 1 if a block differs."""
import collections
import functools
import json
import lzma
import pathlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import choosing
from .commands import compare as compare_command
from .commands.sweep import AXES, conclude, curves_of, has_published
from .demands import WORDS
from .results import Document, document_of, summarise
from .table import Layout
from .text import filled, grouped, listed, shown, table

NONE_YET = "No machine has been recorded yet.\n"


def verdicts_in(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The demands of a file, whatever the key of their list is."""
    for value in document.values():
        for one in value if isinstance(value, list) else ():
            if isinstance(one, dict) and one.get("demand") and "met" in one and "sentence" in one:
                yield one


def cell_of(verdicts: Sequence[dict[str, Any]]) -> str:
    """How many demands ended in which way."""
    counts = collections.Counter(verdict["met"] for verdict in verdicts)
    return ", ".join(f"{counts[met]} {words}" for met, words in WORDS.items() if counts[met])


def machines_table(records: Sequence[dict[str, Any]]) -> str:
    """A row for each command, and in words each demand that is not met. `records`: files of record-here, one for a machine."""
    if not records:
        return NONE_YET
    columns, heads, missed = [], [], []
    for record in records:
        about = record["environment"]
        columns.append({step: found for step, one in record["records"].items()
                        if (found := list(verdicts_in(one.get("document", {}))))})
        heads.append(f"{about['cpu_model']}, {about['cores']} CPUs, {about['date'][:10]}")
        missed += [f"{about['cpu_model']}, `{step}`: {verdict['sentence']}" for step, found in columns[-1].items()
                   for verdict in found if verdict["met"] is False]
    rows = dict.fromkeys(step for column in columns for step in column)
    cells = ([f"`{step}`", *(cell_of(column.get(step, ())) or "-" for column in columns)] for step in rows)
    return table(["step", *heads], cells) + ("\nNot met:\n\n" + listed(missed) if missed else "")


ROOT = pathlib.Path(__file__).resolve().parents[3]
# Files of scripts/record-here that the documentation is made from. A step is that of the first file which has it.
REFERENCES = ("epyc-2-cpus", "xeon-2-cpus")
PAGES = ("README.md", "doc/*.md", "doc/results/*.md")
BLOCK = re.compile(r"(<!-- table: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = ("requests_per_s", "p99_us", "server_cpu_us_per_request", "syscalls_per_request",
           "heartbeat_p99_us")          # of compare


def recorded(path: pathlib.Path) -> dict[str, Any]:
    return dict(json.loads(lzma.decompress(path.read_bytes())))


@functools.cache
def references() -> tuple[dict[str, Any], ...]:
    return tuple(recorded(ROOT / f"doc/results/machines/{name}.json.xz") for name in REFERENCES)


def step_of(name: str) -> dict[str, Any]:
    """What scripts/record-here has found in a step. Its document has the whole environment."""
    file = next(one for one in references() if name in one["records"])
    step, about = file["records"][name], file["environment"]
    return {**step, "document": {**step["document"], "environment": about | step["document"].get("environment", {})}}


def stored(step: str) -> dict[str, Any]:
    """The --json file of a step's command."""
    return dict(step_of(step)["document"])


def read(step: str) -> Document:
    return document_of(stored(step), step)


def shortened(noise: str) -> str:
    told = noise.replace(" Smaller differences than that mean nothing.", "")
    return told.replace("Noise: between rounds that should be equal the throughput moved", "Equal rounds moved")


def caption(document: Mapping[str, Any]) -> str:
    """Date and settings of a file, and what else ran."""
    e, s = document["environment"], document.get("settings")
    rounds = f"; {s['rounds']} rounds of {s['duration_s']:g} s, medians" if s else ""
    noise = shortened(document.get("noise", ""))
    return "\n" + filled(f"{e['date'][:10]}, {e['cpu_model']}, {e['cores']} CPUs{rounds}. Load average before: "
                         f"{e['load_average_before'][0]}; stolen: {e['steal_percent']} %. {noise}")


def swept(name: str) -> tuple[str, list[str], dict[str, Any]]:
    """A table of values and servers, what follows, and the file's figures."""
    document = read(name)
    axis, summary = AXES[document.settings["axis"]], summarise(document.results)
    curves, found = curves_of(summary, axis.field, axis.figure), conclude(axis, summary, document.results)
    cells = {label: {value: shown(axis.figure, point.median) + r" \*" * point.client_bound for value, point in curve.items()}
             for label, curve in curves.items()}
    if has_published(axis, summary):
        cells["published"] = {one["connections"]: grouped(one["requests_per_s"]) for one in found["published"]}
    values = sorted({value for curve in curves.values() for value in curve})
    rows = ([axis.text(value), *(column.get(value) for column in cells.values())] for value in values)
    return table([axis.unit or "handler time", *cells], rows), found["verdicts"], document.figures() | found


def sweep(name: str = "sweep", most: int | None = None) -> str:
    """`most`: of the sentences."""
    curves, told, figures = swept(name)
    return curves + caption(figures) + "\n" + listed(told[:most])


def handler_times(part: str) -> str:
    """The sweep over handler times: "all", the "table" alone, or in two sentences which model leads ("leads")."""
    if part == "all":
        return sweep(choosing.SWEEP, 1)     # the others tell which pairs of models change places
    curves, _, figures = swept(choosing.SWEEP)
    return curves if part == "table" else choosing.leads(read(choosing.SWEEP), figures)


def compare() -> str:
    document = read("compare")
    found, summary, out = compare_command.compose(document), summarise(document.results), ""
    for v in found["verdicts"]:
        rows = [row for row in summary if row.workload == v["workload"]]
        told = [v["sentence"], v["caution"], compare_command.bottleneck_line(rows)]
        told += [ratio["sentence"] for ratio in found["peer_ratios"] if ratio["workload"] == v["workload"]]
        columns = [key for key in COLUMNS if any(key in row.samples for row in rows)]
        heads, *cells = Layout(lambda row: columns, lambda row: row.label).grid(rows)
        out += f"\n`{v['workload']}`:\n\n{table(heads, cells)}\n{listed(filter(None, told))}"
    return out.removeprefix("\n") + caption(found)


def budget() -> str:
    """The instructions of an echo. A row is a model, its handler's flavour and the connections, a column the settings."""
    counted = json.loads((ROOT / "benchmarks/budget/instructions.json").read_text())
    names = {"limits": "`public_defaults()`", "both": "both", "watched": "watchdog", "bare": "bare"}
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for case in (key.split() for key, value in counted.items() if isinstance(value, float)):
        rows.setdefault((f"`{case[0]}`", case[1], case[3]), {})[case[2]] = f"{counted[' '.join(case)]:,.0f}"
    return table(["model", "handler", "connections", *names.values()],
                 ([*row, *(cells.get(name, "") for name in names)] for row, cells in rows.items()))


def record(name: str, *without: str) -> str:
    """The command of a step, and what it has printed. Lines in which one of these expressions is found are left out."""
    step = step_of(name)
    line, about = step["command"], step["document"]["environment"]
    told = f"`{'' if line.startswith('benchmarks/') else 'quintet-bench '}{line}`, {about['date'][:10]}"
    left_out = re.compile("|".join(without) or "(?!)")
    lines = step["printed"].rstrip().splitlines()
    shown = [shortened(line) for line in lines if not left_out.search(line)]
    if count := len(lines) - len(shown):
        shown.append(f"... {count} lines are left out")
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(shown).lstrip("\n"))
    return filled(f"{told}, {about['cpu_model']}, {about['cores']} CPUs:") + f"\n```text\n{text}\n```\n"


def machines() -> str:
    return machines_table(list(map(recorded, sorted((ROOT / "doc/results/machines").glob("*.json.xz")))))


def of_comparison(draw: Callable[..., str], *more: Any) -> str:
    return draw(choosing.Results(read("compare")), *more)


BLOCKS: dict[str, Callable[..., str]] = {
    "machines": machines, "record": record, "budget": budget, "compare": compare, "handler": handler_times, "sweep": sweep,
    "choices": lambda: of_comparison(choosing.choices), "models": lambda *names: of_comparison(choosing.models, names),
    "prices": lambda: of_comparison(choosing.prices, stored("stress_idle")),
    "ratios": lambda: choosing.ratios(read("sweep"))}


def rewritten(text: str) -> str:
    def block(found: re.Match[str]) -> str:
        name, *arguments = found[2].replace(" without ", " ").split()
        return f"{found[1]}{BLOCKS[name](*arguments)}{found[3]}"
    return BLOCK.sub(block, text)


def main(arguments: list[str]) -> int:
    status = 0
    for page in sorted(page for pattern in PAGES for page in ROOT.glob(pattern)):
        before = page.read_text(encoding="utf-8")
        if (after := rewritten(before)) != before:
            if "--check" in arguments:
                print(f"{page}: a generated block differs; run benchmarks/doc_tables.py", file=sys.stderr)
                status = 1
            else:
                page.write_text(after, encoding="utf-8")
    return status
