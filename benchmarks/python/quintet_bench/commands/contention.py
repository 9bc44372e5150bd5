# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench contention`: threads that share one io_context of Boost.Asio, or one server, beside threads that have
one each."""
import argparse
import functools
from collections.abc import Sequence
from typing import Any

from ..build import Build
from ..demands import Verdict, at_least
from ..errors import UsageError
from ..experiment import Experiment, Plan, compared, matching, times
from ..machine import allowed_cpus
from ..options import Parser, list_of, number_in, one_of
from ..plan import Contender, UsualRuns
from ..published import PUBLISHED
from ..redis_load import SET, RedisPrograms, measure_kv_servers
from ..results import Combination, Document
from ..runner import Measure, measure_load
from ..table import Layout, arrows, failure_remarks
from ..verdict import CPU, SPEED

ABOUT = "Compares threads that share an io_context, or a server, with threads that have one each"
CLAIMS = "2.12 5.4"
NAMES = {"asio-shared": "one io_context", "asio-separate": "an io_context each",
         "kv-shared": "one kv", "kv-separate": "a kv each"}
METRICS = {"requests_per_s": "requests/s", "p999_us": "p99.9", "server_cpu_us_per_request": "CPU a request"}
COLUMNS = (SPEED, "spread", "p50_us", "p999_us", CPU, "futex_per_request", "syscalls_per_request")


def compose(document: Document) -> dict[str, Any]:
    """The ratios are separate / shared, in each round that has both."""
    results, ratios = document.results, list[Verdict]()
    kind = str(results[0]["peer"]).partition("-")[0] if results else "asio"
    most = max((r["loops"] for r in results), default=0)        # there the threads contend most
    for threads in sorted({r["loops"] for r in results}):
        shared, separate = (matching(peer=f"{kind}-{how}", loops=threads) for how in ("shared", "separate"))
        for metric, word in METRICS.items():
            has = times(f"{threads} threads: {NAMES[f'{kind}-separate']} has", word, NAMES[f"{kind}-shared"])
            judge = kind == "asio" and metric == SPEED and 1 < threads == most
            ratios += compared(results, results[0]["workload"], metric, separate, shared, has, at_least(1) if judge else None,
                               threads=threads)
    return {"ratios": ratios, "published": PUBLISHED["contention"][kind]}


LAYOUT = Layout(lambda row: COLUMNS, lambda row: f"{row.first['loops']:>4} thread(s)  {NAMES[row.first['peer']]}",
                order=lambda row: (row.first["loops"], not row.first["peer"].endswith("-shared")), after=failure_remarks)


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    return (LAYOUT.text(summary) + arrows(figures["ratios"])
            + f"\nPublished: {figures['published']['sentence']}.\n{figures['noise']}\n")


def options(parser: Parser, build: Build) -> None:
    parser.option("--of", one_of("io_context", "kv"), "io_context: of Boost.Asio; kv: one example kv with so many loops, or as "
                  "many kv with one loop, each on a CPU of its own (default: io_context)", default="io_context")
    parser.option("--threads", list_of(number_in(1, 1024)),
                  "comma-separated numbers of threads (default: 1,2,4,8,16,40; 2,40 with --quick; of kv the number of CPUs)")


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    cpus, kv = len(allowed_cpus()), arguments.of == "kv"
    counts = arguments.threads or ((cpus,) if kv else (2, 40) if arguments.quick else (1, 2, 4, 8, 16, 40))
    if kv and max(counts) > cpus:
        raise UsageError(f"--threads: {max(counts)} servers need a CPU each, and there are {cpus}")
    base = SET if kv else build.workload("echo")
    measure: Measure = measure_load
    if kv:
        measure = functools.partial(measure_kv_servers, RedisPrograms.find(build, arguments.kv, with_server=False))
    works = [base.but(threads=threads, connections=arguments.connections or base.connections) for threads in counts]
    who = [Contender(peer=peer) for peer in NAMES if peer.startswith("kv") == kv]
    return Plan({"workloads": works, "contenders": who, "shared_cpus": True, "counters": not kv}, measure)


EXPERIMENT = Experiment(
    "contention", UsualRuns(5, 0.5, 0.1), UsualRuns(3, 0.2, 0.1), plan, compose, table, "ratios", options,
    shared=("--connections",), programs=("kv",), within=True,
    examples=("--json contention.json", "--threads 2,40 --connections 1000 --rounds 9",
              "--of kv --rounds 9"))
