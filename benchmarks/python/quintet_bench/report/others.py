# SPDX-License-Identifier: BSL-1.0
"""Sections of the report for what other commands have measured (compare --with FILE)."""
from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import jinja2
import numpy

from ..results import label_of, read_document, summarise
from ..text import grouped, micros, percent, significant
from .figures import MODELS, Curves, Line, Point, Row, complete, shown, tint_of, tip

AXES = {"connections": ("connections", "connections"), "size": ("message_bytes", "bytes"), "threads": ("loops", "threads"),
        "pipeline": ("pipeline", "in flight"), "handler-us": ("handler_us", "handler time")}
# What stands below a heading, in this order: "warning", "before" (sentences), "rows" (bars and figures for each workload),
# "bars", "plots" (title, unit, curves), "tables" (heads, rows, title of a folded one), "figures", "after" (sentences).
Parts = dict[str, Any]


def words(key: str) -> str:
    return re.sub("_us(?=_per_request$|$)", "", key).replace("_", " ")


def _summary(document: dict[str, Any]) -> Parts:
    def label(row: Row) -> str:
        return label_of(row) + (f", {row['loops']} threads" if document["command"] == "contention" else "")
    after = [f"Published, on more cores: {grouped(p['shared_requests_per_s'])} requests/s with one io_context for all threads, "
             f"{grouped(p['separate_requests_per_s'])} and more with an io_context each."
             for p in [document.get("published")] if p]  # of contention
    return {"rows": [complete(row, label) for row in document["summary"]], "verdicts": document.get("verdicts") or (),
            "after": after}


def _sweep(document: dict[str, Any]) -> Parts:
    axis = document["settings"]["axis"]
    (key, column), figure = AXES[axis], "mb_per_s" if axis == "size" else "requests_per_s"
    rows = sorted((row for row in map(complete, document["summary"]) if row[key] is not None), key=lambda row: row[key])
    values = sorted({row[key] for row in rows})
    names = [grouped(v) if axis != "handler-us" else f"{v:g} us" if v < 1000 else f"{v / 1000:g} ms" for v in values]
    lines: dict[str, Line] = {}
    for row in rows:
        at, label = values.index(row[key]), row["label"]
        row["label"] += f", {names[at]}"
        bound = ", the client was the bottleneck" if row["bottleneck"] == "client_cpu" else ""
        line = lines.setdefault(label, Line(label, row["tint"], "", "", []))
        if figure in row["range"]:
            line.points.append(Point(at, row[figure], row["range"][figure], f"{row['label']}: {tip(row, figure)}{bound}"))
    if axis == "connections" and document.get("published"):
        lines["published"] = Line("published", "peer", "4 4", "", [
            Point(values.index(p["connections"]), y := p["requests_per_s"], [y, y], f"published: {grouped(y)}")
            for p in document["published"] if p["connections"] in values])
    curves = Curves(figure, names, list(lines.values()), smooth=True)
    curves.marks = [(float(numpy.interp(lead["from"], values, range(len(values)))), tint_of(lead["server"].partition(" ")[0]))
                    for lead in document.get("leads", ())[1:]]
    matrix = [[name, *(next((shown(figure, p.value) for p in line.points if p.place == at), None) for line in lines.values())]
              for at, name in enumerate(names)]
    return {"before": document["verdicts"] if rows else ["Nothing was measured."], "figures": rows,
            "tables": [([column, *lines], matrix, "")],
            "plots": [("MB/s" if axis == "size" else "Requests/s", f"over {column}, log scale", curves)]}


def _study(document: dict[str, Any]) -> Parts:
    subjects = document["study"]
    keys = dict.fromkeys(key for s in subjects for key, figure in s["figures"].items() if figure)
    rows = [[words(key), *(shown(key, figure and figure["median"]) for figure in (s["figures"].get(key) for s in subjects)),
             next(s["figures"][key]["source"] for s in subjects if s["figures"].get(key))] for key in keys]
    middles = [sorted(s["caches"], key=lambda one: one["misses"] / max(1, one["references"])) for s in subjects]
    caches = [{"server": s["server"], "source": s["cache_source"]} | rounds[len(rounds) // 2]
              for s, rounds in zip(subjects, middles) if rounds] + list(document.get("published", ()))
    told = [[c["server"], *(c["requests"] and significant(c[key] / c["requests"]) for key in ("references", "misses")),
             f"{c['misses'] / max(1, c['references']):.3%}", c["source"]] for c in caches]
    columns = ["last-level cache", "references a request", "misses a request", "miss rate", "source"]
    cache_table = [(columns, told, "")] if told else []
    heads = ["for a request, unless it says otherwise", *(f"{s['server']}, {s['workload']}" for s in subjects), "source"]
    hot = [(["function", "share", ""], [[f["symbol"], percent(f["share"]), "kernel" if f["in_kernel"] else f["object"]]
                                        for f in s["functions"]], f"Hottest functions of {s['server']}")
           for s in subjects if s["functions"]]
    return {"tables": [(heads, rows, ""), *cache_table, *hot], "before": [c["sentence"] for c in document.get("change", ())],
            "after": [f"Not measured: {line}" for line in document["not_measured"]]}


def _memlat(document: dict[str, Any]) -> Parts:
    results = document["results"]
    bars = [{"label": r["name"], "tint": "peer", "toggle": "", "rounds": len(r["rounds"]), "ns": r["median_ns"],
             "range": {"ns": [r["min_ns"], r["max_ns"]]}} for r in results]
    rows = [[bar["label"], shown("memory_bytes", r["bytes"]), shown("ns", bar["ns"]), tip(bar, "ns").partition("; ")[2]]
            for r, bar in zip(results, bars)]
    return {"bars": bars, "tables": [(["", "working set", "median", "rounds"], rows, "")],
            "after": [f"Not known: {line}." for line in document.get("not_known", ())]}


def _forecast(document: dict[str, Any]) -> Parts:
    plots = []
    for handler in dict.fromkeys(row["handler_us"] for row in document["forecast"]):
        rows = sorted((row for row in document["forecast"] if row["handler_us"] == handler), key=lambda row: row["cores"])
        cores = sorted({row["cores"] for row in rows})
        lines = [Line(model, tint_of(model), "", "", [
            Point(cores.index(row["cores"]), y := row["requests_per_s"], [y, y], f"{model}: forecast {grouped(y)} requests/s")
            for row in rows if row["model"] == model]) for model in MODELS]
        plots.append((f"A handler of {micros(handler)}" if handler else "Echo",
                      f"forecast: requests/s of {grouped(rows[0]['connections'])} connections over cores, log scale",
                      Curves("requests_per_s", list(map(str, cores)), lines)))
    keys = ("requests_per_s", "simulated_requests_per_s", "error", "p99_error", "cpu_error")
    held = [[f"{r['model']} {r['workload']}, {r['connections']} connections{', CPUs shared' if r['cpus_shared'] else ''}",
             *(shown(key, r[key]) for key in keys)] for r in document["held_out"]]
    errors = document["errors"]["held_out"]["requests_per_s"]
    before = [f"Held-out runs, {which}: {e['within']} of {e['runs']} throughputs within {percent(e['bound'])}; median error "
              f"{percent(e['median'])}, worst {percent(e['worst'])}." for which, e in errors.items() if e]
    return {"warning": "A forecast, not a measurement: what a simulation makes of costs that were measured on this machine.",
            "before": before, "plots": plots,
            "after": [f"{s['title']}: forecast {s['conclusion']}. Published: {s['published']}." for s in document["shapes"]],
            "tables": [(["run", "measured", "simulated", "error", "p99 error", "CPU error"], held, "Held-out runs")]}


def _stress(document: dict[str, Any]) -> Parts:
    rows = [[r["scenario"], r.get("model") or r.get("server"),
             f"FAILED: {r['failure']}" if r["failure"] else "passed" if r["passed"] else "FAILED",
             "; ".join(f"{words(key)} {shown(key, r['figures'][key])} ({d['demand']}{'' if d['met'] else ': not met'})"
                       for key, d in r["demands"].items())] for r in document["results"]]
    return {"tables": [(["scenario", "server", "", "demanded"], rows, "")]}


# The commands: the key whose array the section needs, the heading, and what makes the parts.
SECTIONS = {"sweep": ("summary", "One thing varies", _sweep), "study": ("study", "What a server does to the machine", _study),
            "contention": ("summary", "Threads that share an io_context", _summary),
            "memlat": ("results", "Latency of memory", _memlat), "allocators": ("summary", "Memory allocators", _summary),
            "accept": ("summary", "Short connections", _summary), "peers": ("summary", "Beside other libraries", _summary),
            "forecast": ("forecast", "What more cores would do: a forecast", _forecast),
            "stress": ("results", "Under stress", _stress)}


def read_other(path: str) -> dict[str, Any]:
    """Reads a file that a command with a section wrote with --json. Raises ValueError, which names the file."""
    from .page import section  # that module needs this one
    try:
        document: dict[str, Any] = json.loads(pathlib.Path(path).read_text("utf-8"))
        command = document["command"] + ""
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError, LookupError) as error:
        raise ValueError(f"{path}: it is not a JSON file of quintet-bench") from error
    if command not in SECTIONS:
        raise ValueError(f"{path}: of quintet-bench {command}, which has no section; there are those of {', '.join(SECTIONS)}")
    key = SECTIONS[command][0]
    if key == "summary" and key not in document:  # doc/results has the runs alone
        document[key] = [c.to_json() for c in summarise(read_document(path).results)]
    try:
        if not isinstance(document[key], list):
            raise TypeError(key)
        section(document, "")
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, jinja2.TemplateError) as error:
        raise ValueError(f'{path}: "{key}" does not have the format that this program writes') from error
    return document
