# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench compare`: plan, table, JSON and page."""
import argparse
import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from ..advice import advise, advise_scenarios, peer_ratios, suitability
from ..build import Build
from ..experiment import Experiment, Work
from ..measuring import run_plan
from ..options import Parser, output_file
from ..plan import Settings, UsualRuns, contenders_of
from ..results import Combination, Document, read_document, summarise, workload_names
from ..table import SPREAD, Column, rows_text, title_line
from ..text import grouped, joined, mebibytes, micros, significant
from ..verdict import CPU, SPEED, compute_verdict

ABOUT = "Compares the five threading models under several workloads: table, JSON, HTML report"
CLAIMS = "2.15 5.2"
DEFAULT_LIST, QUICK_LIST = "echo,pipeline,cpu:200us,blocking:2ms,mixed,heartbeat", "echo,cpu:200us,mixed"
USUAL_COLUMNS: tuple[Column, ...] = (
    ("requests/s", 11, SPEED, grouped), SPREAD, ("p50", 9, "p50_us", micros),
    ("p99", 9, "p99_us", micros), ("p99.9", 9, "p999_us", micros), ("CPU/req", 10, CPU, micros),
    ("syscalls", 9, "syscalls_per_request", significant), ("switches", 9, "context_switches_per_request", significant),
    ("threads", 8, "server_threads", grouped), ("memory", 9, "server_rss_bytes", mebibytes))
HEARTBEAT_COLUMNS = USUAL_COLUMNS[:6] + (  # without counters that are irrelevant then
    ("beat p50", 9, "heartbeat_p50_us", micros), ("beat p99", 9, "heartbeat_p99_us", micros),
    ("beat max", 9, "heartbeat_max_us", micros))


def bottleneck_line(combinations: Iterable[Combination]) -> str:
    """"Bottleneck: server CPU (single_reactor and reactor_pool); none (loop_per_thread).", "Bottleneck: none (all).", or ""."""
    pairs = [(c.bottleneck, c.label) for c in combinations if c.bottleneck]
    groups = {name: joined([label for other, label in pairs if other == name]) for name, _ in pairs}
    told = groups if len(groups) > 1 else dict.fromkeys(groups, "all")
    text = "; ".join(f"{name.replace('_cpu', ' CPU')} ({labels})" for name, labels in told.items())
    return f"Bottleneck: {text.replace('machine CPU', 'CPU of the machine')}." if text else ""


def compose(document: Document) -> dict[str, Any]:
    summary = summarise(document.results)
    return document.figures() | {"advice": advise(summary), "scenarios": advise_scenarios(summary, document.environment),
                                 "verdicts": [compute_verdict(summary, name) for name in workload_names(summary)],
                                 "peer_ratios": peer_ratios(document.results), "suitability": suitability(document)}


def console_table(document: Document, figures: dict[str, Any]) -> str:
    """A block for each workload: a line per model and peer, then the verdict. The advice is last."""
    summary, out = summarise(document.results), ""
    for verdict in figures["verdicts"]:
        rows = [c for c in summary if c.workload == verdict["workload"]]
        columns = HEARTBEAT_COLUMNS if any("heartbeat_p99_us" in row.samples for row in rows) else USUAL_COLUMNS
        width = max(23, *(len(row.label) for row in rows)) + 2
        out += f"{title_line(rows[0])}\n{rows_text(rows, columns, lambda row: {}, width, lambda row: f'  {row.label}')}"
        told = [verdict["sentence"], verdict["also"], verdict["caution"], bottleneck_line(rows)]
        told += [ratio["sentence"] for ratio in figures["peer_ratios"] if ratio["workload"] == verdict["workload"]]
        out += "".join(f"  -> {sentence}\n" for sentence in told if sentence) + "\n"
    for a in filter(lambda a: a["workload"], figures["advice"]):
        good = f" As good: {joined(a['as_good'])}." if a["model"] and a["as_good"] else ""
        out += f"For a {a['handler']} handler: {a['model'] or 'too noisy to tell'}.{good}\n"
    out += "".join(f"{advice['sentence']}\n" for advice in figures["scenarios"])
    asked = [a["sentence"] for a in figures["suitability"]]
    out += "".join(f"{'' if sentence == asked[-1] else '  '}{sentence}\n" for sentence in [asked[-1], *asked[:-1]])
    return f"{out}{figures['noise']}\n"


def options(parser: Parser, build: Build) -> None:
    parser.option("--workloads", build.workload_list, f"comma-separated (default: {DEFAULT_LIST}; {QUICK_LIST} with --quick)")
    parser.flag("--no-peers", "do not measure the hand-written servers")
    parser.flag("--no-counters", "do not count system calls")
    parser.option("--from", str, "do not measure; show an earlier --json file", metavar="FILE", dest="from_file")
    parser.option("--html", output_file, "write the report, a self-contained HTML page, to this file", metavar="FILE")


def plan(arguments: argparse.Namespace, build: Build) -> Work:
    who = contenders_of(arguments.models, not arguments.no_peers, engine=arguments.engine)
    page: Callable[[dict[str, Any]], str] | None = None
    if arguments.html:  # before the runs, so that a missing package fails early
        from ..report.page import comparison_page
        page = comparison_page

    def perform(s: Settings) -> tuple[Document, dict[str, Any], str]:
        if arguments.from_file:
            earlier = read_document(arguments.from_file)
            figures = compose(earlier)  # the command that measured has told its failures
            return dataclasses.replace(earlier, results=[]), figures, console_table(earlier, figures)
        document = run_plan("compare", s, build)
        figures = compose(document)
        return document, figures, console_table(document, figures)
    works = arguments.workloads or build.workload_list(QUICK_LIST if arguments.quick else DEFAULT_LIST)
    return Work(perform, {"workloads": works, "contenders": who, "counters": not arguments.no_counters}, page)


EXPERIMENT = Experiment(
    "compare", UsualRuns(3, 1.0, 0.2), UsualRuns(3, 0.4, 0.1), plan, demands="peer_ratios", options=options,
    shared=("--models",), within=True, server=True,
    examples=("--quick", "--workloads echo,cpu:500us --rounds 5 --json results.json --html report.html",
              "--from results.json --html report.html"))
