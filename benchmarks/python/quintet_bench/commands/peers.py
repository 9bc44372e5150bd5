# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench peers`: the same echo over other libraries; kv beside redis-server; instructions for each request."""
import argparse
import functools
import sys
import time
from collections.abc import Sequence
from typing import Any

from .. import valgrind
from ..build import Build, Workload
from ..child import Child
from ..demands import Bound, Verdict, at_most, demand
from ..errors import UsageError
from ..experiment import Experiment, Plan, matching
from ..options import Parser, list_of, one_of
from ..plan import Contender, Run, Settings, UsualRuns
from ..redis_load import PING, PIPELINE, RedisPrograms, measure_redis_load
from ..results import Combination, Document, Result, Sample, summarise
from ..runner import PATIENCE_S, server_command
from ..statistics import ratio_text, ratios_to
from ..table import Layout, noise, told_of
from ..verdict import CPU, SPEED, cost_of

ABOUT = "Compares Quintet's echo server with other libraries' and hand-written ones"
CLAIMS = "5.13"
DEFAULT_LIST, QUICK_LIST, COUNTED_LIST = "echo,large,pipeline,latency", "echo,large", "echo,latency"
THREADED = ("blocking", "asio-shared", "asio-separate", "tokio-echo")  # only if named: the others have a single loop
MOST = {False: 1.25, True: 5.0}         # over the reference: CPU for a request, and counted instructions, of which it has few
EPOLL, REDIS = Contender(peer="epoll"), Contender(peer="redis")

COUNTED = ("instructions_per_request", "ratio")
COLUMNS = (CPU, "ratio", "range=its rounds", "syscalls_per_request", SPEED, "spread", "p50_us", "p99_us")


def reference_in(workload: str) -> Contender:
    return REDIS if workload.startswith("kv") else EPOLL


def ratios_of(results: Sequence[Result]) -> dict[tuple[str, str], Sample | None]:
    return ratios_to(lambda row: matching(peer=reference_in(row.workload).peer), results, lambda row: cost_of(row).key)


def needs(row: Combination, ratio: Sample, bound: Bound | None, **about: Any) -> Verdict:
    """The cost of a server, beside the reference."""
    cost = cost_of(row)
    return demand(f"{row.label} needs {ratio_text(ratio, cost.word, reference_in(row.workload).label)}", ratio, bound,
                  metric=cost.key, workload=row.workload, **about)


LAYOUT = Layout(lambda row: COUNTED if cost_of(row).counted else COLUMNS, lambda row: row.label)


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    """A block for each workload: a line for each server, then the demands."""
    return LAYOUT.text(summary, told_of(figures["demands"]), ratios_of(figures["results"])) + noise(summary, figures)


def measure_instructions(result: Result, s: Settings, run: Run) -> None:
    """All requests of a turn arrive before the server wakes."""
    serve = functools.partial(valgrind.serving_echo, server_command(s, run, result), run.work)
    result["server_cpus"] = result["client_cpus"] = str(valgrind.cpu())
    (count,), requests = valgrind.difference(valgrind.CALLGRIND, lambda log: (valgrind.collected_instructions(log),),
                                             valgrind.bounded_turns(run.work), serve)
    result |= {"requests": requests, "failed": 0, "instructions_per_request": count / requests}


def _usable(program: str, engine: str) -> bool:
    """The kernel may refuse io_uring; `serve` then uses epoll."""
    with Child(engine, [program, "serve", "--port", "0", "--engine", engine, "--exit-with-parent"]) as server:
        used = server.await_line("engine ", time.monotonic() + PATIENCE_S)
    if used != engine:
        print(f"{engine}: the kernel refuses it", file=sys.stderr)
    return used == engine


def _contenders(arguments: argparse.Namespace, build: Build, program: str) -> list[Contender]:
    """The reference, ours with each engine, ours in coroutines, and the peers."""
    names = arguments.peers
    uring = not arguments.count and "uring" in build.engines and _usable(program, "uring")  # valgrind does not support it
    if not names:
        usual = [name for name in build.peers if name not in THREADED and (uring or name != "asio-uring")]
        names = [name for name in usual if name not in build.missing_peers]
        missing = [f"{name}: {build.missing_peers[name]}\n" for name in usual if name in build.missing_peers]
        print("".join(missing), end="", file=sys.stderr)
    ours = [Contender(model=arguments.model, engine=name) for name in build.engines
            if name != "automatic" and (uring or name != "uring")]
    ours.append(Contender(model=arguments.model, engine="epoll", handler="coroutine"))
    return list(dict.fromkeys([EPOLL, *ours, *(Contender(peer=name) for name in names)]))


def options(parser: Parser, build: Build) -> None:
    def workload(name: str) -> Workload:
        work = PING if name == "kv" else build.workload(name)
        if work.kind != "echo":
            raise UsageError(f'the peers only echo; "{name}" does more')
        return work

    def peer(name: str) -> str:
        if name in build.missing_peers:
            raise UsageError(f"{name}: {build.missing_peers[name]}")
        return one_of(*build.peers)(name)
    parser.option("--workloads", list_of(workload), f"comma-separated (default: {DEFAULT_LIST}; {QUICK_LIST} with --quick); "
                  "kv: the example kv beside redis-server, under redis-benchmark")
    parser.option("--peers", list_of(peer), f"comma-separated: {', '.join(build.peers)} (default: all with one thread); epoll, "
                  "the reference, is always included")
    parser.option("--count", one_of("instructions"), "instructions: count those of each server in user space with callgrind, "
                  "instead of time")
    parser.flag("--no-counters", "do not count system calls")


def compose(document: Document) -> dict[str, Any]:
    """Demanded is something of ours with epoll and a callback."""
    ratios, demands, known = list[Verdict](), list[Verdict](), ratios_of(document.results)
    for row in summarise(document.results):
        if ratio := known[row.workload, row.label]:
            about = {key: row.first[key] for key in ("model", "engine", "handler", "peer")}
            ratios.append(needs(row, ratio, None, **about, reference=reference_in(row.workload).peer))
            if not row.is_peer and about["handler"] in ("callback", None) and about["engine"] not in ("asio", "uring"):
                demands.append(needs(row, ratio, at_most(MOST[cost_of(row).counted])))
    return {"ratios": ratios, "demands": demands}


def plan(arguments: argparse.Namespace, build: Build) -> list[Plan]:
    usual = COUNTED_LIST if arguments.count else QUICK_LIST if arguments.quick else DEFAULT_LIST
    works = [work.but(connections=arguments.connections or work.connections)
             for work in arguments.workloads or build.workload_list(usual)]
    echoes = [work for work in works if work.name != PING.name]
    kv = [work.but(connections=arguments.connections or 100) for work in (PING, PIPELINE)] if len(echoes) < len(works) else []
    obstacle = "instructions are counted of echoes only, not of kv" if kv else valgrind.obstacle()
    if arguments.count and obstacle:
        raise UsageError(f"--count: {obstacle}")
    settings: dict[str, Any] = {"one_cpu": True, "counters": not arguments.no_counters and not arguments.count}
    settings |= {"rounds": 1} if arguments.count else {}
    redis = RedisPrograms.find(build, arguments.kv) if kv else None
    out = []
    if echoes:
        who = _contenders(arguments, build, arguments.program or build.program)
        timed = Plan({"workloads": echoes, "contenders": who, **settings})
        out.append(timed._replace(measure=measure_instructions) if arguments.count else timed)
    if redis:
        out.append(Plan({"workloads": kv, "contenders": [REDIS, Contender(model=arguments.model)],
                         **settings, "counters": False}, measure_redis_load(redis)))    # its client cannot count them
    return out


EXPERIMENT = Experiment(
    "peers", UsualRuns(5, 0.5, 0.1), UsualRuns(3, 0.2, 0.1), plan, compose, table, "demands", options,
    shared=("--model", "--connections"), programs=("kv",),
    examples=("--json peers.json", "--workloads pipeline --peers asio,libuv", "--count instructions", "--workloads kv"))
