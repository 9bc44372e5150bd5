# SPDX-License-Identifier: BSL-1.0
"""Rewrites the marked blocks of the documentation: tables from doc/results.

A block lies between <!-- table: NAME ARGUMENT... --> and <!-- end -->. With --check nothing is written, and the exit status
is 1 if a block differs."""
import functools
import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import choosing
from .commands.compare import bottleneck_line, compose
from .demands import WORDS
from .doc_sections import read_section
from .report.figures import Row, complete, shown
from .results import read_document, summarise
from .text import filled, listed, significant, table

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
COLUMNS = {"requests_per_s": "requests/s", "p99_us": "p99", "p999_us": "p99.9", "server_cpu_us_per_request": "CPU",
           "syscalls_per_request": "system calls", "futex_per_request": "futex calls", "heartbeat_p99_us": "heartbeat p99"}


def path_of(name: str) -> str:
    return str(ROOT / f"doc/results/{name}.json")


def read(name: str) -> choosing.Results:
    return choosing.Results(read_document(path_of(name)))


def handler_times(part: str) -> str:
    """The sweep over handler times: "all", the "table" alone, or in two sentences which model leads ("leads")."""
    if part == "all":
        return section(choosing.SWEEP, sentences=1)  # the others tell which pairs of models change places
    if part == "table":
        return section(choosing.SWEEP).partition("\n\n")[0] + "\n"
    return choosing.leads(read(choosing.SWEEP), read_section(path_of(choosing.SWEEP))[0])


def caption(document: dict[str, Any]) -> str:
    """Date and settings of a file, and what else ran."""
    e, s = document["environment"], document.get("settings")
    rounds = f"; {s['rounds']} rounds of {s['duration_s']:g} s, medians" if s else ""
    noise = document.get("noise", "").replace(" Smaller differences than that mean nothing.", "")
    noise = noise.replace("between rounds that should be equal the throughput", "the throughput of equal rounds")
    return "\n" + filled(f"{e['date'][:10]}, {e['cpu_model']}, {e['cores']} CPUs{rounds}. Load average before: "
                         f"{e['load_average_before'][0]}; stolen by other guests: {e['steal_percent']} %. {noise}")


def figures(rows: Sequence[Row]) -> str:
    keys = [key for key in COLUMNS if any(row[key] is not None for row in rows)]
    return table(["", *(COLUMNS[key] for key in keys)],
                 ([row["label"], *(shown(key, row[key]) for key in keys)] for row in rows))


def compare() -> str:
    document = read_document(path_of("compare"))
    found, summary, out = compose(document), summarise(document.results), ""
    for v in found["verdicts"]:
        rows = [row for row in summary if row.workload == v["workload"]]
        sentences = [v["sentence"], v["caution"], bottleneck_line(rows)]
        sentences += [ratio["sentence"] for ratio in found["peer_ratios"] if ratio["workload"] == v["workload"]]
        out += (f"\n`{v['workload']}`:\n\n{figures([complete(row.to_json()) for row in rows])}\n"
                + listed(filter(None, sentences)))
    return out.removeprefix("\n") + caption(found)


# Of the attacks: what is neither demanded nor of interest beside the ratio of the latencies. The files have it.
LEFT_OUT = {"good answered", "good p50 idle", "good p50", "good max", "descriptors before", "refused", "asked", "idle",
            "active"}


def section(name: str, sentences: int | None = None) -> str:
    """The tables of what a command has measured, and its sentences, or only the first of them."""
    document, parts = read_section(path_of(name))
    tables = [figures(parts.rows)] * bool(parts.rows)
    tables += [table(heads, [row for row in rows if row[0] not in LEFT_OUT]).replace("*", r"\*")
               for heads, rows in parts.tables]
    told = listed([*parts.before[:sentences], *parts.after])
    return "\n".join(tables) + caption(document) + ("\n" + told if told else "")


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
    "machines": machines, "tls": functools.partial(script, "tls"),
    "budget": budget,
    "choices": lambda: choosing.choices(read("compare")), "compare": compare, "handler": handler_times,
    "models": lambda *workloads: choosing.models(read("compare"), workloads),
    "prices": lambda: choosing.prices(read("compare"), json.loads(pathlib.Path(path_of("stress_idle")).read_text())),
    "ratios": lambda: choosing.ratios(read("sweep")), "stress": lambda scenario: section(f"stress_{scenario}"),
    **{name: functools.partial(section, name) for name in ("sweep", "study", "contention", "memlat", "shm", "bus")}}


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
