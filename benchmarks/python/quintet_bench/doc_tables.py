# SPDX-License-Identifier: BSL-1.0
"""Rewrites the marked blocks of the documentation: tables from doc/results.

A block lies between <!-- table: NAME ARGUMENT... --> and <!-- end -->. With --check nothing is written, and the exit status
is 1 if a block differs."""
import functools
import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from . import choosing
from .commands import bus as bus_command, compare as compare_command, contention, memlat as memlat_command, shm
from .commands.sweep import AXES, conclude, has_published
from .demands import WORDS
from .published import PUBLISHED
from .report.figures import shown, words
from .results import read_document, read_json, summarise
from .study.report import caches_grid, changes, figures_grid
from .table import grid
from .text import filled, grouped, listed, significant, table

FOUND = ("median", "min", "max", "rounds", "met", "sentence", "kind", "metric", "demand", "number")
NONE_YET = "No machine has been recorded yet.\n"


def verdicts_in(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The demands of a file, whatever the key of their list is."""
    for value in document.values():
        for one in value if isinstance(value, list) else ():
            if isinstance(one, dict) and one.get("demand") and "met" in one and "sentence" in one:
                yield one


def row_of(step: str, verdict: dict[str, Any]) -> str:
    """The same for each machine: what the demand is about, without figures."""
    words = [str(value) for key, value in verdict.items() if key not in FOUND and value is not None]
    metric = verdict["metric"] or ""
    return f"{step}: {', '.join(words + [metric] * bool(metric))}: {verdict['demand']}"


def cell_of(verdict: dict[str, Any]) -> str:
    figure = "" if verdict["median"] is None else f"{significant(verdict['median'])}: "
    return figure + ("**not met**" if verdict["met"] is False else WORDS[verdict["met"]])


def machines_table(records: Sequence[dict[str, Any]]) -> str:
    """`records`: files of record-here, one for each machine."""
    if not records:
        return NONE_YET
    columns = [{row_of(step, one): cell_of(one) for step, found in record["records"].items()
                for one in verdicts_in(found.get("document", {}))} for record in records]
    heads = [f"{e['cpu_model']}, {e['cores']} CPUs, {e['date'][:10]}" for e in (record["environment"] for record in records)]
    rows = dict.fromkeys(row for column in columns for row in column)
    return table(["demand", *heads], ([row, *(column.get(row, "-") for column in columns)] for row in rows))


ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = ("README.md", "doc/*.md", "doc/results/*.md")
BLOCK = re.compile(r"(<!-- table: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = ("requests_per_s", "p99_us", "p999_us", "server_cpu_us_per_request", "syscalls_per_request", "futex_per_request",
           "heartbeat_p99_us")          # of compare


def path_of(name: str) -> str:
    return str(ROOT / f"doc/results/{name}.json")


def read(name: str) -> choosing.Results:
    return choosing.Results(read_document(path_of(name)))


def caption(document: Mapping[str, Any]) -> str:
    """Date and settings of a file, and what else ran."""
    e, s = document["environment"], document.get("settings")
    rounds = f"; {s['rounds']} rounds of {s['duration_s']:g} s, medians" if s else ""
    noise = document.get("noise", "").replace(" Smaller differences than that mean nothing.", "")
    noise = noise.replace("Noise: between rounds that should be equal the throughput moved", "Equal rounds moved")
    return "\n" + filled(f"{e['date'][:10]}, {e['cpu_model']}, {e['cores']} CPUs{rounds}. Load average before: "
                         f"{e['load_average_before'][0]}; stolen: {e['steal_percent']} %. {noise}")


def section(document: Mapping[str, Any], grids: Iterable[Sequence[Sequence[Any]]], told: Sequence[str] = ()) -> str:
    """Tables of what a command has measured, where from, and what follows."""
    tables = (table(heads, rows).replace("*", r"\*") for heads, *rows in grids)
    return "\n".join(tables) + caption(document) + ("\n" + listed(told) if told else "")


def sentences(verdicts: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{one['sentence'].removesuffix('.')}." for one in verdicts]


def framed(name: str, command: ModuleType) -> str:
    """The tables of a command's layout, and its verdicts by today's rule."""
    document = read_document(path_of(name))
    found = document.figures() | command.EXPERIMENT.judged(document, {})
    groups = command.LAYOUT.groups(summarise(document.results))
    grids = [command.LAYOUT.grid(rows) for rows in groups]
    for rows, (heads, *_) in zip(groups, grids):
        heads[0] = command.LAYOUT.title(rows)
    about = found.get("published", {}).get("sentence")
    return section(found, grids, sentences(found[command.EXPERIMENT.demands]) + ([f"Published: {about}."] if about else []))


def swept(name: str) -> tuple[list[list[Any]], list[str], dict[str, Any]]:
    """A table of values and servers, what follows, and the file's figures."""
    document = read_document(path_of(name))
    axis, summary = AXES[document.settings["axis"]], summarise(document.results)
    values = sorted({row.first[axis.field] for row in summary})
    labels = list(dict.fromkeys(row.label for row in summary))
    cells = {(row.label, row.first[axis.field]): axis_cell(row, axis.figure) for row in summary if axis.figure in row.samples}
    found = conclude(axis, summary, document.results)
    if has_published(axis, summary):
        labels.append("published")
        cells |= {("published", one["connections"]): grouped(one["requests_per_s"]) for one in found["published"]}
    rows = [[axis.text(value), *(cells.get((label, value)) for label in labels)] for value in values]
    return [[axis.unit or "handler time", *labels], *rows], found["verdicts"], document.figures() | found


def axis_cell(row: Any, key: str) -> str:
    return shown(key, row.median(key)) + " *" * row.client_bound


def sweep(name: str = "sweep", most: int | None = None) -> str:
    """`most`: of the sentences."""
    rows, told, figures = swept(name)
    return section(figures, [rows], told[:most])


def handler_times(part: str) -> str:
    """The sweep over handler times: "all", the "table" alone, or in two sentences which model leads ("leads")."""
    if part == "all":
        return sweep(choosing.SWEEP, 1)     # the others tell which pairs of models change places
    rows, _, figures = swept(choosing.SWEEP)
    return (table(rows[0], rows[1:]).replace("*", r"\*") if part == "table" else
            choosing.leads(read(choosing.SWEEP), figures))


def study() -> str:
    document = read_json(path_of("study"))
    subjects = document["study"]
    told = sentences(changes(subjects)) + [f"Not measured: {line}." for line in document["not_measured"]]
    return section(document, filter(None, [figures_grid(subjects), caches_grid(subjects)]), told)


def memlat() -> str:
    document = read_json(path_of("memlat"))
    return section(document, [memlat_command.grid(document["results"])],
                   [f"Not known: {line}." for line in document["not_known"]])


def bus() -> str:
    document = read_json(path_of("bus"))
    grids = [[[heads[0] or title, *heads[1:]], *rows] for title, heads, rows in bus_command.tables_of(document)]
    about = f"{document['settings']['placement']}. Published: {PUBLISHED['bus']['sentence']}."
    return section(document, grids, [about, *sentences(document["verdicts"])])


# Of the attacks: what is neither demanded nor of interest beside the ratio of the latencies. The files have it.
LEFT_OUT = ("good_answered", "good_p50_idle_us", "good_p50_us", "good_max_us", "descriptors_before", "refused", "asked", "idle",
            "active")


def stress(scenario: str) -> str:
    """A demand that is the same for all servers stands beside the name of its row."""
    document = read_json(path_of(f"stress_{scenario}"))
    results, open_ones = document["results"], {True: "", None: "too noisy to say", False: "not met"}
    rows = [[results[0]["scenario"], *(r["model"] for r in results)],
            ["", *(f"FAILED: {r['failure']}" if r["failure"] else r["verdict"] for r in results)]]
    for key in (key for key in dict.fromkeys(key for r in results for key in r["figures"]) if key not in LEFT_OUT):
        found = [r["demands"].get(key) for r in results]
        texts = {d["demand"] for d in found if d}
        alike = len(texts) == 1
        notes = [": ".join(filter(None, (d["demand"] * (not alike), open_ones[d["met"]]))) if d else "" for d in found]
        rows.append([words(key) + f" ({', '.join(texts)})" * alike,
                     *(shown(key, r["figures"].get(key)) + f" ({note})" * bool(note) for r, note in zip(results, notes))])
    return section(document, [rows])


def compare() -> str:
    document = read_document(path_of("compare"))
    found, summary, out = compare_command.compose(document), summarise(document.results), ""
    for v in found["verdicts"]:
        rows = [row for row in summary if row.workload == v["workload"]]
        told = [v["sentence"], v["caution"], compare_command.bottleneck_line(rows)]
        told += [ratio["sentence"] for ratio in found["peer_ratios"] if ratio["workload"] == v["workload"]]
        columns = [key for key in COLUMNS if any(key in row.samples for row in rows)]
        heads, *cells = grid(rows, columns, lambda row: {}, lambda row: row.label)
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


def script(name: str, *words: str) -> str:
    """A table that a script of benchmarks/ has stored. The last cell of its rows tells a missed bound."""
    stored = json.loads(pathlib.Path(path_of(name)).read_text())["tables"][" ".join(words)]
    return table(["", *stored["heads"]], ([f"{what}, **missed**" if misses else what, *figures]
                                          for what, *figures, misses in stored["rows"]))


def machines() -> str:
    files = sorted((ROOT / "doc/results/machines").glob("*.json"))
    return machines_table([json.loads(file.read_text(encoding="utf-8")) for file in files])


BLOCKS: dict[str, Callable[..., str]] = {
    "machines": machines, "tls": functools.partial(script, "tls"), "budget": budget, "compare": compare,
    "choices": lambda: choosing.choices(read("compare")), "handler": handler_times, "sweep": sweep, "study": study,
    "contention": lambda: framed("contention", contention), "shm": lambda: framed("shm", shm), "memlat": memlat, "bus": bus,
    "models": lambda *workloads: choosing.models(read("compare"), workloads), "stress": stress,
    "prices": lambda: choosing.prices(read("compare"), read_json(path_of("stress_idle"))),
    "ratios": lambda: choosing.ratios(read("sweep"))}


def rewritten(text: str) -> str:
    def block(found: re.Match[str]) -> str:
        name, *arguments = found[2].split()
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
