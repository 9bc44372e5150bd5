# SPDX-License-Identifier: BSL-1.0
"""Rewrites the marked blocks of the documentation: tables from doc/results, and the options of the commands.

A block lies between <!-- table: NAME ARGUMENT... --> and <!-- end -->. With --check nothing is written, and the exit status
is 1 if a block differs."""
import argparse
import functools
import importlib
import json
import pathlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .advice import peer_ratios
from .build import Build
from .commands.contention import PEERS, by_threads
from .commands.memlat import size_text
from .options import Parser
from .results import Combination, Document, read_document, summarise, workload_names
from .study.report import FIGURES
from .table import bottleneck_line
from .text import grouped, micros, significant
from .verdict import compute_verdict

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = ("README.md", "doc/benchmarks.md", "doc/benchmark_commands.md", "doc/benchmark_results.md")
BLOCK = re.compile(r"(<!-- table: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = (("requests/s", "requests_per_s", grouped), ("p99", "p99_us", micros),
           ("CPU", "server_cpu_us_per_request", micros), ("system calls", "syscalls_per_request", significant),
           ("heartbeat p99", "heartbeat_p99_us", micros))
COMMON = {"--quick", "--warm-up", "--within", "--seed", "--json", "--html", "--program", "--loops", "--workers", "--offload",
          "--engine", "--no-counters", "--no-peers"}
GOOD = "{good_p99_idle_us:,.0f}, {good_p99_us:,.0f}"
ATTACKED = {  # a format of figures for each column
    "resets": {"resets a second": "{resets_per_s:,.0f}", "served after": "{served_after}", "refused": "{refused}",
               "descriptors before, after": "{descriptors_before}, {descriptors_after}",
               "memory it kept, MiB": "{rss_growth_mib:.1f}", "p99 alone, beside, us": GOOD},
    "non_readers": {"closed": "{closed} of {asked:,}", "probes": "{window_probes:,}", "most memory, MiB": "{peak_rss_mib:.1f}",
                    "p99 alone, beside, us": GOOD, "worst beside, us": "{good_max_us:,.0f}", "p99 ratio": "{p99_ratio:.2f}"}}
Cells = Iterable[Any]


@functools.cache
def raw(name: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / f"doc/results/{name}.json").read_text(encoding="utf-8")))


@functools.cache
def document(name: str) -> Document:
    return read_document(str(ROOT / f"doc/results/{name}.json"))


def markdown(heads: Sequence[str], rows: Iterable[Cells]) -> str:
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in (heads, ["---"] * len(heads), *rows))


def filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 128, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) + "\n"


def listed(sentences: Iterable[str]) -> str:
    return "".join(filled("- " + sentence.replace("<", "&lt;"), "  ") for sentence in sentences)


def caption(name: str) -> str:
    """Date and settings of a file, and what else ran."""
    e, s = raw(name)["environment"], raw(name).get("settings")
    rounds = f"; {s['rounds']} rounds of {s['duration_s']:g} s, medians" if s else ""
    noise = raw(name).get("noise", "").replace(" Smaller differences than that mean nothing.", "")
    noise = noise.replace("between rounds that should be equal the throughput", "the throughput of equal rounds")
    return "\n" + filled(f"{e['date'][:10]}, {e['cpu_model']}, {e['cores']} CPUs{rounds}. Load average before: "
                         f"{e['load_average_before'][0]}; stolen by other guests: {e['steal_percent']} %. {noise}")


def _median(row: Combination | None, key: str, form: Any) -> str:
    value = row.median(key) if row else None
    return "" if value is None else str(form(value))


def compare() -> str:
    summary = summarise(document("compare").results)
    at = {(row.workload, row.label): row for row in summary}
    labels = list(dict.fromkeys(row.label for row in summary))
    rows = ([f"`{name}`: {title}", *(_median(at.get((name, label)), key, form) for label in labels)]
            for name in workload_names(summary) for title, key, form in COLUMNS
            if any((name, label) in at and key in at[name, label].samples for label in labels))
    table = markdown(["", *labels], rows)
    verdicts = [(name, compute_verdict(summary, name)) for name in workload_names(summary)]
    said = []
    for name, v in verdicts:
        bound = bottleneck_line(row for row in summary if row.workload == name).strip(" ->\n")
        bound = bound if ";" in bound else re.sub(r" \(.*\)", "", bound)  # the same for all
        said.append(f"`{name}`: {' '.join(filter(None, (v['sentence'], v['caution'], bound)))}")
    by_hand = [f"{r['model']} in `{r['workload']}` {r['median']:.2f} ({r['min']:.2f} to {r['max']:.2f})"
               for r in peer_ratios(document("compare").results)]
    said.append(f"CPU per request over that of the hand-written counterpart, with its rounds: {'; '.join(by_hand)}.")
    return table + caption("compare") + "\n" + listed(said)


def sweep() -> str:
    published = {p["connections"]: grouped(p["requests_per_s"]) for p in raw("sweep")["published"]}
    lines: dict[str, dict[int, str]] = {}
    for row in summarise(document("sweep").results):
        text = _median(row, "requests_per_s", grouped) + (r" \*" if row.client_bound else "")
        lines.setdefault(row.label, {})[row.first["connections"]] = text
    rows = ([name, *(cells.get(n, "") for n in published)] for name, cells in (lines | {"published": published}).items())
    table = markdown(["connections", *map(grouped, published)], rows)
    return table + caption("sweep") + "\n" + listed(raw("sweep")["verdicts"])


def study() -> str:
    subjects = raw("study")["study"]
    rows = []
    for key, title, per, form, _ in FIGURES:
        found = [s["figures"].get(key) for s in subjects]
        if any(found):
            source = next(f["source"] for f in found if f)
            rows.append([title, *(form(f["median"] * per) if f else "-" for f in found), source])
    rows += [[f"last-level cache: {key}", *(significant(s["caches"][0][key] / s["caches"][0]["requests"]) for s in subjects),
              f"*{subjects[0]['cache_source']}*"] for key in ("references", "misses")]
    heads = ["for a request", *(s["server"] for s in subjects), "source"]
    missing = listed(f"Not measured: {text}." for text in raw("study")["not_measured"])
    return markdown(heads, rows) + caption("study") + "\n" + missing


def contention() -> str:
    times = {(r["threads"], r["metric"]): f"{r['median']:.2f} ({r['min']:.2f} to {r['max']:.2f})"
             for r in raw("contention")["ratios"]}
    keys = (("requests_per_s", grouped), ("p999_us", micros), ("server_cpu_us_per_request", micros),
            ("futex_per_request", significant), ("syscalls_per_request", significant))
    rows: list[Cells] = [
        [row.first["loops"], PEERS[row.first["peer"]], *(_median(row, key, form) for key, form in keys),
         *(times[row.first["loops"], key] if row.first["peer"] == "asio-separate" else "" for key, _ in keys[:2])]
        for row in by_threads(document("contention").results)]
    rows += [["published", peer, grouped(figure), *[""] * 6]
             for peer, figure in zip(PEERS.values(), raw("contention")["published"].values())]
    return markdown(["threads", "", "requests/s", "p99.9", "CPU/request", "futex calls", "system calls", "requests/s, ratio",
                     "p99.9, ratio"], rows) + caption("contention")


def memlat() -> str:
    results = raw("memlat")["results"]
    return markdown(["", "working set", "median", f"{len(results[0]['rounds'])} rounds"], (
        [r["name"], size_text(r["bytes"]), *(f"{text} ns" for text in (
            significant(r["median_ns"]), f"{significant(r['min_ns'])} to {significant(r['max_ns'])}"))]
        for r in results)) + caption("memlat")


def stress(scenario: str) -> str:
    results, columns = raw(f"stress_{scenario}")["results"], ATTACKED[scenario]
    table = markdown(["server", *columns, "other programs' CPU", "passed"], (
        [r["model"], *(form.format(**r["figures"]) for form in columns.values()), f"{r['figures']['foreign_cpu_percent']} %",
         "yes" if r["passed"] else "**no**"] for r in results))
    return table + caption(f"stress_{scenario}")


def options(name: str) -> str:
    """A command's own options and examples, or those that several commands share ("common"), for a program with all that a
    build may have."""
    build = Build.parse("quintet-bench", json.loads((ROOT / "benchmarks/python/tests/data/describe.json").read_text()))
    module = importlib.import_module(f".commands.{'compare' if name == 'common' else name}", __package__)
    parser = Parser(f"quintet-bench {name}", module.ABOUT)
    parser.formatter_class = functools.partial(argparse.RawDescriptionHelpFormatter, width=150)
    module.add_options(parser, build)
    seen = {"help"}
    for action in parser._actions:
        if bool(COMMON & set(action.option_strings)) != (name == "common") or action.dest in seen:  # or it is an alias
            action.help = argparse.SUPPRESS
        seen.add(action.dest)
    if name == "common":
        parser.description = parser.epilog = None
    _, _, text = parser.format_help().partition("\n\n")  # without the usage, which repeats the options
    lines = [line for line in text.splitlines() if line and line not in ("options:", "positional arguments:")]
    return "\n".join(("```", *lines, "```\n"))


BLOCKS: dict[str, Callable[..., str]] = {
    "compare": compare, "sweep": sweep, "study": study, "contention": contention, "memlat": memlat, "stress": stress,
    "options": options}


def rewritten(text: str) -> str:
    def block(found: re.Match[str]) -> str:
        name, *arguments = found[2].split()
        return f"{found[1]}{BLOCKS[name](*arguments)}{found[3]}"
    return BLOCK.sub(block, text)


def main(arguments: list[str]) -> int:
    status = 0
    for page in map(ROOT.joinpath, PAGES):
        before = page.read_text(encoding="utf-8")
        if (after := rewritten(before)) != before:
            if "--check" in arguments:
                print(f"{page}: a generated block differs; run benchmarks/doc_tables.py", file=sys.stderr)
                status = 1
            else:
                page.write_text(after, encoding="utf-8")
    return status
