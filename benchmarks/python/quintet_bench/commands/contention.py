# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench contention`: threads that share one io_context of Boost.Asio beside threads that have one each."""
import argparse
from typing import Any

from ..build import Build
from ..columns import SPREAD, Column, rows_text
from ..measuring import UsualRuns, add_measuring_options, exit_status, run_plan, settings_of
from ..options import Parser, number_in
from ..plan import Contender
from ..results import Combination, Document, Result, Sample, summarise, write_results
from ..statistics import paired_ratio, ratio_json, ratio_text
from ..table import failure_remarks, title_line
from ..text import grouped, micros, significant
from ..verdict import noise_sentence

ABOUT = "Compares threads that share one io_context with threads that have one each"
PEERS = {"asio-shared": "one io_context", "asio-separate": "an io_context each"}
PUBLISHED = {"shared_requests_per_s": 350_000, "separate_requests_per_s": 900_000}
DEFAULT, QUICK = UsualRuns(5, 0.5, 0.1), UsualRuns(3, 0.2, 0.1)
COLUMNS: tuple[Column, ...] = (
    ("requests/s", 11, "requests_per_s", grouped), SPREAD, ("p50", 10, "p50_us", micros), ("p99.9", 10, "p999_us", micros),
    ("CPU/req", 10, "server_cpu_us_per_request", micros), ("futex", 9, "futex_per_request", significant),
    ("syscalls", 10, "syscalls_per_request", significant))


def by_threads(results: list[Result]) -> list[Combination]:
    return sorted(summarise(results), key=lambda row: (row.first["loops"], row.first["peer"] != "asio-shared"))


def gain(results: list[Result], threads: int, metric: str) -> Sample | None:
    """Separate / shared, in each round that has both."""
    shared, separate = ((lambda r, peer=peer: r["peer"] == peer and r["loops"] == threads) for peer in PEERS)
    return paired_ratio(results, results[0]["workload"], metric, separate, shared)


def contention_table(results: list[Result]) -> str:
    def after(row: Combination) -> str:
        threads = row.first["loops"]
        speed, tail = (gain(results, threads, metric) for metric in ("requests_per_s", "p999_us"))
        if row.first["peer"] == "asio-shared" or not speed or not tail:
            return failure_remarks(row)
        return (f"{failure_remarks(row)}  -> {threads}: an io_context each has "
                f"{ratio_text(speed, 'requests/s', 'one io_context')}, {ratio_text(tail, 'p99.9', 'it')}\n")
    summary, (shared, separate) = by_threads(results), PUBLISHED.values()
    rows = rows_text(summary, COLUMNS, lambda row: {}, 42,
                     lambda row: f"  {row.first['loops']:>4} thread(s)     {PEERS[row.first['peer']]}", after)
    return (f"{title_line(summary[0])}\n{rows}\nPublished (MongoDB's servers, number of cores not known): one io_context for "
            f"many threads about {grouped(shared)} requests/s, many io_contexts {grouped(separate)} and more: "
            f"{separate / shared:.2f} times.\n{noise_sentence(summary)}\n") if summary else ""


def compose(document: Document) -> dict[str, Any]:
    ratios = [ratio_json({"threads": threads}, metric, ratio)
              for threads in sorted({r["loops"] for r in document.results}) for metric in ("requests_per_s", "p999_us")
              if (ratio := gain(document.results, threads, metric))]
    return document.figures() | {"ratios": ratios, "published": PUBLISHED}


def add_options(parser: Parser, build: Build) -> None:
    parser.option("--threads", lambda text: list(dict.fromkeys(map(number_in(1, 1024), text.split(",")))),
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
    write_results(contention_table(document.results), compose(document), s.json_file)
    return exit_status(document)
