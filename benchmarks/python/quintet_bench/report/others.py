# SPDX-License-Identifier: BSL-1.0
"""Sections of the report for what other commands have measured (compare --with FILE)."""
from __future__ import annotations

import re
from typing import Any

import numpy

from ..bus_tables import sentences_of, tables_of
from ..commands.memlat import size_text
from ..published import PUBLISHED
from ..study.report import FIGURES, middle_round, rate_text
from ..text import grouped, micros, percent, significant
from .figures import MODELS, Curves, Line, Point, complete, shown, tint_of, tip

AXES = {"connections": ("connections", "connections"), "size": ("message_bytes", "bytes"), "threads": ("loops", "threads"),
        "pipeline": ("pipeline", "in flight"), "handler-us": ("handler_us", "handler time"),
        "client-threads": ("client_threads", "client threads")}
BOUND = ", the client was the bottleneck"
# What stands below a heading, in this order: "warning", "before" (sentences), "rows" (bars and figures for each workload),
# "bars", "plots" (title, unit, curves), "tables" (heads, rows, title of a folded one), "figures", "after" (sentences).
Parts = dict[str, Any]


def words(key: str) -> str:
    return re.sub("_us(?=_per_request$|$)", "", key).replace("_", " ")


def _summary(document: dict[str, Any]) -> Parts:
    return {"rows": list(map(complete, document["summary"])), "verdicts": document.get("verdicts") or ()}


def _contention(document: dict[str, Any]) -> Parts:
    p = document["published"]
    after = [f"{r['sentence']}." for r in document.get("ratios", ())]
    after.append(f"Published: {p['sentence']}." if "sentence" in p else
                 f"Published, on more cores: {grouped(p['shared_requests_per_s'])} requests/s with one io_context for all "
                 f"threads, {grouped(p['separate_requests_per_s'])} and more with an io_context each.")
    rows = sorted(map(complete, document["summary"]), key=lambda row: row["loops"])
    return {"rows": [row | {"label": f"{row['label']}, {row['loops']} threads"} for row in rows], "after": after}


def _sweep(document: dict[str, Any]) -> Parts:
    axis = document["settings"]["axis"]
    (key, column), figure = AXES[axis], "mb_per_s" if axis == "size" else "requests_per_s"
    rows = sorted((row for row in map(complete, document["summary"]) if row[key] is not None), key=lambda row: row[key])
    values = sorted({row[key] for row in rows})
    names = [grouped(v) if axis != "handler-us" else f"{v:g} us" if v < 1000 else f"{v / 1000:g} ms" for v in values]
    lines, cells = dict[str, Line](), dict[tuple[str, int], str]()
    for row in rows:
        at, label, bound = values.index(row[key]), row["label"], row["bottleneck"] == "client_cpu"
        row["label"] += f", {names[at]}"
        line = lines.setdefault(label, Line(label, row["tint"], "5 3" if row["client"] or row["pinning"] else "", "", []))
        if figure in row["range"]:
            line.points.append(Point(at, row[figure], row["range"][figure],
                                     f"{row['label']}: {tip(row, figure)}{BOUND * bound}"))
            cells[label, at] = shown(figure, row[figure]) + " *" * bound
    if axis == "connections" and document.get("published"):
        lines["published"] = Line("published", "peer", "4 4", "", [
            Point(values.index(p["connections"]), y := p["requests_per_s"], [y, y], f"published: {grouped(y)}")
            for p in document["published"] if p["connections"] in values])
        cells |= {("published", int(p.place)): grouped(p.value) for p in lines["published"].points}
    curves = Curves(figure, names, list(lines.values()), smooth=True)
    curves.marks = [(float(numpy.interp(lead["from"], values, range(len(values)))), tint_of(lead["server"].partition(" ")[0]))
                    for lead in document.get("leads", ())[1:]]
    matrix = [[name, *(cells.get((label, at)) for label in lines)] for at, name in enumerate(names)]
    return {"before": document["verdicts"] if rows else ["Nothing was measured."], "figures": rows,
            "tables": [([column, *lines], matrix, "")], "after": [f"*{BOUND}: the server could do more"],
            "plots": [("MB/s" if axis == "size" else "Requests/s", f"over {column}, log scale", curves)]}


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
    cache_table = [(columns, told, "")] if told else []
    heads = ["for a request", *(f"{s['server']}, {s['workload']}" for s in subjects), "source"]
    hot = [(["function", "share", ""], [[f["symbol"], percent(f["share"]), "kernel" if f["in_kernel"] else f["object"]]
                                        for f in s["functions"]], f"Hottest functions of {s['server']}")
           for s in subjects if s["functions"]]
    return {"tables": [(heads, rows, ""), *cache_table, *hot], "before": [c["sentence"] for c in document.get("change", ())],
            "after": [f"Not measured: {line}." for line in document["not_measured"]]}


def _shm(document: dict[str, Any]) -> Parts:
    rows, tables = list(map(complete, document["summary"])), []
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
        tables.append(([title, *(heads[key] for key in keys)], cells, ""))
    return {"tables": tables, "after": [f"{one['workload']}: {one['sentence']}." for one in document.get("verdicts", ())]}


def _bus(document: dict[str, Any]) -> Parts:
    tables = [([heads[0] or title, *heads[1:]], rows, "") for title, heads, rows in tables_of(document)]
    after = [f"{document['settings']['placement']}. Published: {PUBLISHED['bus']['sentence']}."]
    return {"tables": tables, "after": after + [f"{sentence}." for sentence in sentences_of(document)]}


def _memlat(document: dict[str, Any]) -> Parts:
    results = document["results"]
    bars = [{"label": r["name"], "tint": "peer", "toggle": "", "rounds": len(r["rounds"]), "ns": r["median_ns"],
             "range": {"ns": [r["min_ns"], r["max_ns"]]}} for r in results]
    rows = [[r["name"], size_text(r["bytes"]), shown("ns", bar["ns"]), tip(bar, "ns").partition("; ")[2]]
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
    """A demand that is the same for all servers stands beside the name of its row."""
    TOLD = {True: "", None: "too noisy to say", False: "not met"}
    tables = []
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
        tables.append(([scenario, *(r.get("model") or r.get("server") for r in results)], rows, ""))
    return {"tables": tables}


def _soak(document: dict[str, Any]) -> Parts:
    series = document["soak"]
    times: list[float] = max((one["at_s"] for one in series), key=len, default=[])
    shown_times = {int(len(times) * part) for part in (1 / 8, 3 / 8, 5 / 8, 7 / 8)}
    places = [(f"{at:.0f} s" if at < 120 else f"{at / 60:.0f} min") if i in shown_times else "" for i, at in enumerate(times)]

    def line(label: str, tint: str, key: str, values: list[float]) -> Line:
        return Line(label, tint, "", "", [Point(i, v, [v, v], f"{label}, {times[i]:.0f} s: {shown(key, v)}")
                                          for i, v in enumerate(values) if v is not None])
    plots = [(title, "over time, log scale", Curves(key, places, [
        line(f"{one['server']}, {one['workload']}", tint_of(one["model"]), key, one[key]) for one in series]))
        for key, title in (("requests_per_s", "Requests/s"), ("p99_us", "p99"), ("server_rss_bytes", "Memory of the server"))]
    plots += [(f"CPU of each core, {one['server']}, {one['workload']}", "busy, by all programs, over time, log scale",
               Curves("busy_fraction", places, [line(f"CPU {i}", f"m{i % len(MODELS) + 1}", "busy_fraction", core)
                                                for i, core in enumerate(one["cpu_per_core"])])) for one in series]
    return {"before": [one["sentence"] for one in series], "plots": plots}


# The commands: the key whose array the section needs, the heading, and what makes the parts.
SECTIONS = {"sweep": ("summary", "One thing varies", _sweep), "study": ("study", "What a server does to the machine", _study),
            "contention": ("summary", "Threads that share an io_context", _contention),
            "memlat": ("results", "Latency of memory", _memlat), "allocators": ("summary", "Memory allocators", _summary),
            "shm": ("summary", "Shared memory beside sockets", _shm), "bus": ("results", "The bus between processes", _bus),
            "accept": ("summary", "Short connections", _summary), "peers": ("summary", "Beside other libraries", _summary),
            "forecast": ("forecast", "What more cores would do: a forecast", _forecast),
            "stress": ("results", "Under stress", _stress), "soak": ("soak", "Over a long time", _soak)}
