# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench contention`: threads that share one io_context of Boost.Asio beside threads that have one each."""
import argparse
from typing import Any

from ..build import Build
from ..columns import SPREAD, Column, rows_text
from ..measuring import UsualRuns, add_measuring_options, exit_status, run_plan, settings_of
from ..options import Parser, list_of, number_in
from ..plan import Contender
from ..results import Document, Result, summarise, write_results
from ..statistics import paired_ratio, ratio_json, ratio_text
from ..table import failure_remarks, title_line
from ..text import grouped, micros, significant

ABOUT = "Compares threads that share one io_context with threads that have one each"
PEERS = {"asio-shared": "one io_context", "asio-separate": "an io_context each"}
PUBLISHED = {"shared_requests_per_s": 350_000, "separate_requests_per_s": 900_000}
DEFAULT, QUICK = UsualRuns(5, 0.5, 0.1), UsualRuns(3, 0.2, 0.1)
COLUMNS: tuple[Column, ...] = (
    ("requests/s", 11, "requests_per_s", grouped), SPREAD, ("p50", 10, "p50_us", micros), ("p99.9", 10, "p999_us", micros),
    ("CPU/req", 10, "server_cpu_us_per_request", micros), ("futex", 9, "futex_per_request", significant),
    ("syscalls", 10, "syscalls_per_request", significant))


def compose(document: Document) -> dict[str, Any]:
    """The ratios are separate / shared, in each round that has both."""
    results, ratios = document.results, []
    for threads in sorted({r["loops"] for r in results}):
        shared, separate = ((lambda r, peer=peer: r["peer"] == peer and r["loops"] == threads) for peer in PEERS)
        for metric, word in (("requests_per_s", "requests/s"), ("p999_us", "p99.9")):
            if ratio := paired_ratio(results, results[0]["workload"], metric, separate, shared):
                sentence = f"{threads} threads: an io_context each has {ratio_text(ratio, word, 'one io_context')}"
                ratios.append(ratio_json({"threads": threads}, metric, ratio) | {"sentence": sentence})
    return document.figures() | {"ratios": ratios, "published": PUBLISHED}


def contention_table(results: list[Result], figures: dict[str, Any]) -> str:
    summary = sorted(summarise(results), key=lambda row: (row.first["loops"], row.first["peer"] != "asio-shared"))
    if not summary:
        return ""
    (shared, separate), told = PUBLISHED.values(), "".join(f"  -> {ratio['sentence']}\n" for ratio in figures["ratios"])
    rows = rows_text(summary, COLUMNS, lambda row: {}, 42,
                     lambda row: f"  {row.first['loops']:>4} thread(s)     {PEERS[row.first['peer']]}", failure_remarks)
    return (f"{title_line(summary[0])}\n{rows}{told}\nPublished (MongoDB's servers, number of cores not known): one io_context "
            f"for many threads about {grouped(shared)} requests/s, many io_contexts {grouped(separate)} and more: "
            f"{separate / shared:.2f} times.\n{figures['noise']}\n")


def add_options(parser: Parser, build: Build) -> None:
    parser.option("--threads", list_of(number_in(1, 1024)),
                  "comma-separated numbers of threads (default: 1,2,4,8,40; 2,40 with --quick)")
    parser.option("--connections", number_in(1, 20_000), "concurrent connections (default: 100)")
    add_measuring_options(parser, DEFAULT, QUICK, within=True)
    parser.examples("quintet-bench contention --json contention.json",
                    "quintet-bench contention --threads 2,40 --connections 1000 --rounds 9")


def run(arguments: argparse.Namespace, build: Build) -> int:
    echo = build.workload("echo")
    works = [echo.but(threads=threads, connections=arguments.connections or echo.connections)
             for threads in arguments.threads or ((2, 40) if arguments.quick else (1, 2, 4, 8, 40))]
    s = settings_of(arguments, build, DEFAULT, QUICK, workloads=works, shared_cpus=True,
                    contenders=[Contender(peer=peer) for peer in PEERS])
    document = run_plan("contention", s, build)
    figures = compose(document)
    write_results(contention_table(document.results, figures), figures, s.json_file)
    return exit_status(document)
