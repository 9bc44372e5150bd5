# SPDX-License-Identifier: BSL-1.0
"""Tables and sentences of the documentation, of what a command has measured."""
from __future__ import annotations

import re
from typing import Any, NamedTuple

from .commands.bus import sentences_of, tables_of
from .commands.memlat import size_text
from .errors import FileError
from .published import PUBLISHED
from .report.figures import Row, complete, shown, tip
from .results import read_document, read_json, summarise
from .study.report import FIGURES, middle_round, rate_text
from .text import grouped, significant

AXES = {"connections": ("connections", "connections"), "size": ("message_bytes", "bytes"), "threads": ("loops", "threads"),
        "pipeline": ("pipeline", "in flight"), "handler-us": ("handler_us", "handler time"),
        "client-threads": ("client_threads", "client threads")}
Table = tuple[list[str], list[list[Any]]]       # heads and rows


class Parts(NamedTuple):
    """What stands below a heading, in this order; the rows are those of a summary."""
    tables: list[Table] = []
    before: list[str] = []
    after: list[str] = []
    rows: list[Row] = []


def words(key: str) -> str:
    return re.sub("_us(?=_per_request$|$)", "", key).replace("_", " ")


def _contention(document: dict[str, Any]) -> Parts:
    p = document["published"]
    after = [f"{r['sentence']}." for r in document.get("ratios", ())]
    after.append(f"Published: {p['sentence']}." if "sentence" in p else
                 f"Published, on more cores: {grouped(p['shared_requests_per_s'])} requests/s with one io_context for all "
                 f"threads, {grouped(p['separate_requests_per_s'])} and more with an io_context each.")
    rows = sorted(map(complete, document["summary"]), key=lambda row: row["loops"])
    return Parts(rows=[row | {"label": f"{row['label']}, {row['loops']} threads"} for row in rows], after=after)


def _sweep(document: dict[str, Any]) -> Parts:
    axis = document["settings"]["axis"]
    (key, column), figure = AXES[axis], "mb_per_s" if axis == "size" else "requests_per_s"
    rows = sorted((row for row in map(complete, document["summary"]) if row[key] is not None), key=lambda row: row[key])
    values = sorted({row[key] for row in rows})
    names = [grouped(v) if axis != "handler-us" else f"{v:g} us" if v < 1000 else f"{v / 1000:g} ms" for v in values]
    cells = {(row["label"], row[key]): shown(figure, row[figure]) + " *" * (row["bottleneck"] == "client_cpu")
             for row in rows if figure in row["range"]}
    labels = list(dict.fromkeys(row["label"] for row in rows))
    if axis == "connections" and document.get("published"):
        labels.append("published")
        cells |= {("published", p["connections"]): grouped(p["requests_per_s"]) for p in document["published"]}
    matrix = [[name, *(cells.get((label, value)) for label in labels)] for name, value in zip(names, values)]
    return Parts([([column, *labels], matrix)], document["verdicts"] if rows else ["Nothing was measured."],
                 ["*, the client was the bottleneck: the server could do more"])


def _study(document: dict[str, Any]) -> Parts:
    subjects, rows = document["study"], []
    for key, title, times, form, _ in FIGURES:
        found = [s["figures"].get(key) for s in subjects]
        if any(found):
            rows.append([title, *(f and form(f["median"] * times) for f in found), next(f["source"] for f in found if f)])
    caches = [{"server": s["server"], "source": s["cache_source"]} | middle
              for s in subjects if (middle := middle_round(s))] + list(document.get("published", ()))
    told = [[c["server"], *(c["requests"] and significant(c[key] / c["requests"]) for key in ("references", "misses")),
             rate_text(c["misses"] / max(1, c["references"])), c["source"]] for c in caches]
    columns = ["last-level cache", "references a request", "misses a request", "miss rate", "source"]
    cache_table = [(columns, told)] if told else []
    heads = ["for a request", *(f"{s['server']}, {s['workload']}" for s in subjects), "source"]
    return Parts([(heads, rows), *cache_table], [c["sentence"] for c in document.get("change", ())],
                 [f"Not measured: {line}." for line in document["not_measured"]])


def _shm(document: dict[str, Any]) -> Parts:
    rows, tables = list(map(complete, document["summary"])), list[Table]()
    heads = {"p50_us": "p50", "p99_us": "p99", "requests_per_s": "requests/s", "server_cpu_us_per_request": "CPU",
             "syscalls_per_request": "system calls", "bytes_per_connection": "user space",
             "segment_bytes_per_connection": "segment", "page_table_bytes_per_connection": "page tables",
             "slab_bytes_per_connection": "kernel objects"}
    for work in dict.fromkeys(row["workload"] for row in rows):
        mine = [row for row in rows if row["workload"] == work]
        keys = [key for key in heads if any(row[key] is not None for row in mine)]
        title = f"{work}, {grouped(mine[0]['connections'])} connection{'s' * (mine[0]['connections'] != 1)}"
        names = [row["peer"] or f"{row['transport']}, {'spinning' if row['spin_us'] else 'asleep'}" for row in mine]
        cells = [[name, *(shown(key, row[key]) for key in keys)] for name, row in zip(names, mine)]
        tables.append(([title, *(heads[key] for key in keys)], cells))
    return Parts(tables, after=[f"{one['workload']}: {one['sentence']}." for one in document.get("verdicts", ())])


def _bus(document: dict[str, Any]) -> Parts:
    tables: list[Table] = [([heads[0] or title, *heads[1:]], list(rows)) for title, heads, rows in tables_of(document)]
    after = [f"{document['settings']['placement']}. Published: {PUBLISHED['bus']['sentence']}."]
    return Parts(tables, after=after + [f"{sentence}." for sentence in sentences_of(document)])


def _memlat(document: dict[str, Any]) -> Parts:
    bars = [{"rounds": len(r["rounds"]), "ns": r["median_ns"], "range": {"ns": [r["min_ns"], r["max_ns"]]}}
            for r in document["results"]]
    rows = [[r["name"], size_text(r["bytes"]), shown("ns", bar["ns"]), tip(bar, "ns").partition("; ")[2]]
            for r, bar in zip(document["results"], bars)]
    return Parts([(["", "working set", "median", "rounds"], rows)],
                 after=[f"Not known: {line}." for line in document.get("not_known", ())])


def _stress(document: dict[str, Any]) -> Parts:
    """A demand that is the same for all servers stands beside the name of its row."""
    TOLD = {True: "", None: "too noisy to say", False: "not met"}
    tables: list[Table] = []
    for scenario in dict.fromkeys(r["scenario"] for r in document["results"]):
        results = [r for r in document["results"] if r["scenario"] == scenario]
        rows = [["", *(f"FAILED: {r['failure']}" if r["failure"] else r["verdict"] for r in results)]]
        for key in dict.fromkeys(key for r in results for key in r["figures"]):
            found = [r["demands"].get(key) for r in results]
            texts = {d["demand"] for d in found if d}
            alike = len(texts) == 1
            notes = [": ".join(filter(None, (d["demand"] * (not alike), TOLD[d["met"]]))) if d else "" for d in found]
            rows.append([words(key) + f" ({', '.join(texts)})" * alike,
                         *(shown(key, r["figures"].get(key)) + f" ({note})" * bool(note) for r, note in zip(results, notes))])
        tables.append(([scenario, *(r.get("model") or r.get("server") for r in results)], rows))
    return Parts(tables)


# The commands whose files have tables in the documentation: the key whose array they need, and what makes the parts.
SECTIONS = {"sweep": ("summary", _sweep), "study": ("study", _study), "contention": ("summary", _contention),
            "memlat": ("results", _memlat), "shm": ("summary", _shm), "bus": ("results", _bus), "stress": ("results", _stress)}


def read_section(path: str) -> tuple[dict[str, Any], Parts]:
    """Reads a file that one of these commands wrote with --json. Raises FileError."""
    document = read_json(path)
    command = str(document.get("command"))
    if command not in SECTIONS:
        raise FileError(f"{path}: of quintet-bench {command}, which has no section; there are those of {', '.join(SECTIONS)}")
    key, make = SECTIONS[command]
    if key == "summary" and key not in document:  # doc/results has the runs alone
        document[key] = [c.to_json() for c in summarise(read_document(path).results)]
    try:
        return document, make(document)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise FileError(f'{path}: "{key}" does not have the format that this program writes') from error
