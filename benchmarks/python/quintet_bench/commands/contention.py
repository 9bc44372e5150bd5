# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench contention`: threads that share one io_context of Boost.Asio, or one server, beside threads that have
one each."""
import argparse
import functools
from typing import Any

from ..build import Build
from ..columns import SPREAD, Column, rows_text
from ..demands import at_least, demand, exit_status, tempered
from ..errors import UsageError
from ..foreign import add_example_options
from ..machine import allowed_cpus
from ..measuring import UsualRuns, add_measuring_options, run_plan, settings_of
from ..options import Parser, list_of, number_in, one_of
from ..plan import Contender
from ..published import PUBLISHED
from ..redis_load import SET, RedisPrograms, measure_kv_servers
from ..results import Document, Result, read_json, summarise, write_results
from ..runner import Measure, measure_load
from ..statistics import paired_ratio, ratio_text
from ..table import failure_remarks, title_line
from ..text import grouped, micros, significant
from ..verdict import SPEED

ABOUT = "Compares threads that share an io_context, or a server, with threads that have one each"
NAMES = {"asio-shared": "one io_context", "asio-separate": "an io_context each",
         "kv-shared": "one kv", "kv-separate": "a kv each"}
METRICS = {"requests_per_s": "requests/s", "p999_us": "p99.9", "server_cpu_us_per_request": "CPU a request"}
DEFAULT, QUICK = UsualRuns(5, 0.5, 0.1), UsualRuns(3, 0.2, 0.1)
COLUMNS: tuple[Column, ...] = (
    ("requests/s", 11, "requests_per_s", grouped), SPREAD, ("p50", 10, "p50_us", micros), ("p99.9", 10, "p999_us", micros),
    ("CPU/req", 10, "server_cpu_us_per_request", micros), ("futex", 9, "futex_per_request", significant),
    ("syscalls", 10, "syscalls_per_request", significant))


def foreseen(path: str) -> list[dict[str, Any]]:
    """What a --json file of `forecast` says about one io_context and about one each on 24 cores, which need not be here."""
    rows = [row for shape in read_json(path).get("shapes", ()) if shape["name"] == "io_context" for row in shape["rows"]]
    if not rows:
        raise UsageError(f"--forecast: {path} has no such forecast; quintet-bench forecast --json FILE writes one")
    return [row | {"sentence": f"forecast, not measured: {row['threads']} threads on {row['cores']} cores: an io_context each "
                   f"has {row['ratio']:.2f} times the requests/s of one io_context"} for row in rows if row["cores"] == 24]


def compose(document: Document) -> dict[str, Any]:
    """The ratios are separate / shared, in each round that has both."""
    results, ratios = document.results, []
    kind = str(results[0]["peer"]).partition("-")[0] if results else "asio"
    most = max((r["loops"] for r in results), default=0)        # there the threads contend most
    for threads in sorted({r["loops"] for r in results}):
        shared, separate = ((lambda r, peer=f"{kind}-{how}": r["peer"] == peer and r["loops"] == threads)
                            for how in ("shared", "separate"))
        for metric, word in METRICS.items():
            if ratio := paired_ratio(results, results[0]["workload"], metric, separate, shared):
                told = ratio_text(ratio, word, NAMES[f"{kind}-shared"])
                judge = kind == "asio" and metric == SPEED and 1 < threads == most
                ratios.append(demand(f"{threads} threads: {NAMES[f'{kind}-separate']} has {told}", ratio,
                                     at_least(1) if judge else None, metric=metric, threads=threads))
    return document.figures() | {"ratios": tempered(ratios, results), "published": PUBLISHED["contention"][kind]}


def contention_table(results: list[Result], figures: dict[str, Any]) -> str:
    summary = sorted(summarise(results), key=lambda row: (row.first["loops"], not row.first["peer"].endswith("-shared")))
    if not summary:
        return ""
    told = "".join(f"  -> {row['sentence']}\n" for row in (*figures["ratios"], *figures.get("forecast", ())))
    rows = rows_text(summary, COLUMNS, lambda row: {}, 42,
                     lambda row: f"  {row.first['loops']:>4} thread(s)     {NAMES[row.first['peer']]}", failure_remarks)
    return f"{title_line(summary[0])}\n{rows}{told}\nPublished: {figures['published']['sentence']}.\n{figures['noise']}\n"


def add_options(parser: Parser, build: Build) -> None:
    parser.option("--of", one_of("io_context", "kv"), "io_context: of Boost.Asio; kv: one example kv with so many loops, or as "
                  "many kv with one loop, each on a CPU of its own (default: io_context)", default="io_context")
    parser.option("--threads", list_of(number_in(1, 1024)),
                  "comma-separated numbers of threads (default: 1,2,4,8,16,40; 2,40 with --quick; of kv the number of CPUs)")
    parser.option("--connections", number_in(1, 20_000), "concurrent connections (default: 100)")
    add_measuring_options(parser, DEFAULT, QUICK, within=True)
    add_example_options(parser, "kv")
    parser.option("--forecast", str, "add what this --json file of quintet-bench forecast says about 24 cores", metavar="FILE")
    parser.examples("quintet-bench contention --json contention.json",
                    "quintet-bench contention --forecast forecast.json",
                    "quintet-bench contention --threads 2,40 --connections 1000 --rounds 9",
                    "quintet-bench contention --of kv --rounds 9")


def run(arguments: argparse.Namespace, build: Build) -> int:
    cpus, kv = len(allowed_cpus()), arguments.of == "kv"
    counts = arguments.threads or ((cpus,) if kv else (2, 40) if arguments.quick else (1, 2, 4, 8, 16, 40))
    if kv and arguments.forecast:
        raise UsageError("--forecast: it knows io_context only, not kv")
    if kv and max(counts) > cpus:
        raise UsageError(f"--threads: {max(counts)} servers need a CPU each, and there are {cpus}")
    forecast = foreseen(arguments.forecast) if arguments.forecast else []
    base = SET if kv else build.workload("echo")
    measure: Measure = measure_load
    if kv:
        measure = functools.partial(measure_kv_servers, RedisPrograms.find(build, arguments.kv, with_server=False))
    works = [base.but(threads=threads, connections=arguments.connections or base.connections) for threads in counts]
    s = settings_of(arguments, build, DEFAULT, QUICK, workloads=works, shared_cpus=True,
                    contenders=[Contender(peer=peer) for peer in NAMES if peer.startswith("kv") == kv])
    s.counters = s.counters and not kv
    document = run_plan("contention", s, build, measure)
    figures = compose(document) | {"forecast": forecast}
    write_results(contention_table(document.results, figures), figures, s.json_file)
    return exit_status(document, figures["ratios"])
