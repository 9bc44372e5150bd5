# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench scaling`: the efficiency of more loops, for an echo, an HTTP server and the example kv."""
import argparse
import functools
from collections.abc import Sequence
from typing import Any

from ..build import Build
from ..demands import Verdict, at_least, demand
from ..errors import UsageError
from ..experiment import Experiment, Plan, matching
from ..foreign import example_program
from ..machine import allowed_cpus, cpu_text
from ..options import Parser, list_of, number_in, one_of
from ..plan import Contender, Run, Settings, UsualRuns, place
from ..published import PUBLISHED
from ..redis_load import PING, RedisPrograms, measure_redis_load
from ..results import Combination, Document, Result, Sample, summarise
from ..runner import Measure, Observer, load_command, measure_load, run_load
from ..statistics import paired
from ..table import Layout, arrows, published
from ..text import percent
from ..verdict import CPU, SPEED
from ..web import serving_hello

ABOUT = "Measures how efficient more loops are: echo, http_hello and kv"
CLAIMS = "5.11"
SERVERS = {"echo": "echo", "short": "http_hello", PING.name: "kv"}     # by their workloads
COLUMNS = (SPEED, "spread", CPU, "p50_us", "p99_us")


def measure_on_cpus(others: dict[str, Measure], result: Result, s: Settings, run: Run) -> None:
    """The server has a CPU for each loop. `others`: what measures the workloads that are no echo."""
    server, client = place(s, run.work)
    result |= {"server_cpus": cpu_text(server[-result["loops"]:]), "client_cpus": cpu_text(client)}
    others.get(run.work.name, measure_load)(result, s, run)


def measure_hello(program: str, result: Result, s: Settings, run: Run) -> None:
    with serving_hello(program, result) as (server, address):
        run_load(result, [*load_command(s, run, result, address), "--http"], server, run.expected_s(s), Observer())


def efficiencies(results: Sequence[Result], apart: bool) -> list[Verdict]:
    """From the first number of loops to each other one, by requests/s if the client has CPUs of its own and is fast enough,
    else by CPU for a request."""
    out, bound = [], {row.workload for row in summarise(results) if row.client_bound}
    counts = sorted({r["loops"] for r in results})
    for workload in dict.fromkeys(r["workload"] for r in results):
        for few, many in ((counts[0], count) for count in counts[1:]):
            metric, below, above = (SPEED, few, many) if apart and workload not in bound else (CPU, many, few)
            ratio = paired(results, metric, matching(loops=above), matching(loops=below), workload)
            if not ratio:
                continue
            share = Sample(tuple(value * few / many for value in ratio.values)) if metric == SPEED else ratio
            how = ("requests/s" if metric == SPEED else "CPU for a request, since the client "
                   + ("was the bottleneck" if apart else "has no CPUs of its own"))
            rounds = f" (rounds from {percent(share.low)} to {percent(share.high)})" if len(share.values) > 1 else ""
            server = SERVERS[workload]
            out.append(demand(f"{server}, from {few} to {many} loops: efficiency {percent(share.median)}{rounds}, by {how}",
                              share, at_least(1, "linear, at least 100 %"), metric=metric, server=server)
                       | {"from": few, "to": many})
    return out


def compose(document: Document) -> dict[str, Any]:
    seastar = PUBLISHED["shards"]
    return {"efficiency": efficiencies(document.results, document.settings["client_apart"]),
            "published": [seastar["published"], seastar["efficiency"], seastar["two_cpus"]]}


LAYOUT = Layout(lambda row: COLUMNS, lambda row: f"{SERVERS[row.workload]}, {row.first['loops']} loop(s)")


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    return LAYOUT.text(summary) + arrows(figures["efficiency"]) + published(figures["published"]) + figures["noise"] + "\n"


def options(parser: Parser, build: Build) -> None:
    parser.option("--servers", list_of(one_of(*SERVERS.values())),
                  f"comma-separated: {', '.join(SERVERS.values())} (default: all)", default=list(SERVERS.values()))
    parser.option("--loops", list_of(number_in(1, 1024)), "comma-separated numbers of event loops (default: 1,2)",
                  dest="loop_counts", default=[1, 2])


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    cpus, most, others = len(allowed_cpus()), max(arguments.loop_counts), dict[str, Measure]()
    if most > cpus:
        raise UsageError(f"--loops: {most} loops need a CPU each, and there are {cpus}")
    if "http_hello" in arguments.servers:
        others["short"] = functools.partial(measure_hello, example_program(build, "http_hello", arguments.http_hello))
    if "kv" in arguments.servers:
        others[PING.name] = measure_redis_load(RedisPrograms.find(build, arguments.kv, with_server=False))
    workloads = {server: PING if server == "kv" else build.workload(name) for name, server in SERVERS.items()}
    works = [workloads[server].but(threads=loops) for server in arguments.servers for loops in arguments.loop_counts]
    apart = cpus >= 2 * most            # then the client has half of the CPUs
    return Plan({"workloads": works, "shared_cpus": not apart, "counters": False,
                 "contenders": [Contender(model=arguments.model)]}, functools.partial(measure_on_cpus, others),
                about={"client_apart": apart})


EXPERIMENT = Experiment(
    "scaling", UsualRuns(5, 0.5, 0.1), UsualRuns(3, 0.2, 0.1), plan, compose, table, "efficiency", options,
    shared=("--model=sharded",), programs=("http_hello", "kv"), within=True,
    examples=("--json scaling.json", "--servers echo --loops 1,2,4,8 --rounds 9"))
