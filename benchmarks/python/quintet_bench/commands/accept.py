# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench accept`: accept strategies under short connections, beside a hand-written loop or nginx."""
import argparse
import contextlib
import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from ..build import Build, Workload
from ..child import Child
from ..demands import Verdict, at_most, demand
from ..errors import RunError, UsageError
from ..experiment import Experiment, Plan, compared, times
from ..foreign import example_program, require_files
from ..machine import allowed_cpus
from ..options import Parser, list_of, number_in, one_of
from ..plan import Contender, Run, Settings, UsualRuns
from ..published import PUBLISHED
from ..results import Combination, Document, Result, label_of, summarise
from ..runner import Measure, await_listening, counted_server, server_command
from ..statistics import Filter
from ..study.perf_tool import perf_output
from ..table import Layout, arrows, published, title_line
from ..text import percent
from ..verdict import CPU, SPEED
from ..web import load_short, require_installed, serving_hello, serving_nginx

ABOUT = "Compares accept strategies under short connections"
CLAIMS = "2.1 2.4 2.5 2.8 2.9 2.11 4.10"
EVENTS = "sched:sched_wakeup,syscalls:sys_*_accept*,syscalls:sys_*_epoll_*wait*"
EVENT = re.compile(r"^ *(\d+) +(?:sched|syscalls):(?:sys_)?(\w+): (.*)$", re.MULTILINE)


def count_events(trace: str, threads: set[str]) -> tuple[int, int]:
    """Returns accepted connections, and wake-ups to accept, from the lines of `perf script`. A wake-up in epoll_wait that finds
    nothing there counts, too: the kernel lets the thread sleep again, which no system call shows."""
    accepted = wakes = 0
    woken, returned = set[str](), set[str]()
    waiting = {thread for thread, event, _ in EVENT.findall(trace) if "epoll" in event} & threads
    for thread, event, text in EVENT.findall(trace):
        if event == "sched_wakeup":     # of another thread
            if (found := re.search(r"pid=(\d+) prio=", text)) and found[1] in waiting:
                wakes += found[1] in woken
                woken.add(found[1])
        elif thread in threads and "epoll" in event:
            (waiting.add if event.startswith("enter") else waiting.discard)(thread)
            (returned.add if thread in woken and thread not in waiting else returned.discard)(thread)
            woken.discard(thread)
        elif thread in threads and event.startswith("enter"):
            wakes += thread in returned
            returned.discard(thread)
        elif thread in threads:
            accepted += int(text, 16) < 1 << 63
    return accepted, wakes


def _trace(command: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        perf_output("record", "-q", "-a", "-e", EVENTS, "-o", f"{folder}/data", "--", *command)
        return perf_output("script", "-i", f"{folder}/data", "-F", "tid,event,trace")


@functools.cache
def wakes_obstacle() -> str | None:
    """Says why wake-ups cannot be counted here; None: they can."""
    try:
        _trace(["true"])
        return None
    except (RunError, OSError, subprocess.SubprocessError) as error:
        return str(error)


USUAL = Contender().accept
COLUMNS = (f"{SPEED}=connections/s", "spread", f"{CPU}=CPU/conn", "user", "p50_us", "p99_us", "accepted_locally",
           "accept_balance", "accept_wakes_per_connection", "syscalls_per_request")
# What a strategy should keep: the largest value, its name, and the strategy that promises it, or else all (doc/accepting.md).
BOUNDS = {"accept_balance": (1.1, "busiest loop / average", USUAL),
          "accept_wakes_per_connection": (1.05, "threads woken for a connection", "")}


def take_accept_figures(result: Result, counted: dict[str, Any]) -> None:
    """Takes accepted_locally and accept_balance from the output of `serve --json`."""
    accepted, locally, each = (counted.get(key) for key in ("accepted", "accepted_locally", "opened_by_each"))
    if not accepted:
        raise RunError("the server has accepted no connection")
    if not each or locally is None:
        raise RunError("the server has no counters of its loops")
    result["accept_balance"] = max(each) * len(each) / sum(each)
    if result["accept"] != USUAL:  # the main loop is not pinned
        result["accepted_locally"] = locally / accepted


def measure_accept(closing: str, result: Result, s: Settings, run: Run) -> None:
    command, counted = server_command(s, run, result), dict[str, Any]()
    with contextlib.ExitStack() as ends:
        if run.who.peer:
            server = ends.enter_context(Child("the server", command))
        else:
            server, counted = ends.enter_context(counted_server([*command, "--pin-loops"]))
        address = await_listening(server, result)
        load_short(result, s, run, server, address, "--close", closing)
        if run.counting and not wakes_obstacle():   # at a rate at which every connection finds all threads asleep, even traced
            load = [s.program, "load", address, "--workload", "short", "--rate", "200", "--duration", "1", "--warm-up", "0.1",
                    "--pin", result["client_cpus"]]
            threads = set(os.listdir(f"/proc/{server.pid}/task"))
            accepted, woken = count_events(_trace(load), threads)
            result["accept_wakes_per_connection"] = woken / accepted if accepted else None
    if not run.who.peer:
        take_accept_figures(result, counted)


def measure_http(nginx: str, http_hello: str, result: Result, s: Settings, run: Run) -> None:
    serving = serving_nginx(nginx, result) if run.who.peer else serving_hello(http_hello, result)
    with serving as (server, address):
        load_short(result, s, run, server, address, "--http")


def _name(result: Result) -> str:
    return label_of(result) if result["peer"] else result["accept"] or USUAL


def _is(name: str) -> Filter:
    return lambda result: _name(result) == name


def ratios(results: list[Result]) -> list[Verdict]:
    """Each strategy beside the usual one, and beside the peer. Nothing is demanded of them."""
    peer = next((_name(result) for result in results if result["peer"]), "")
    out = list[Verdict]()
    for name, loops in dict.fromkeys((_name(result), result["loops"]) for result in results if not result["peer"]):
        mine = [r for r in results if r["loops"] == loops]
        # The hand-written loop has one thread, so its throughput is not comparable with several.
        for metric, reference in ((SPEED, USUAL), (SPEED, "nginx"), (CPU, peer)):
            what = "connections" if metric == SPEED else "CPU a connection"
            if name != reference:
                out += compared(mine, "short", metric, _is(name), _is(reference),
                                times(f"{name}, {loops} loop(s):", what, reference), accept=name, loops=loops,
                                reference=reference)
    return out


def bounds(summary: Sequence[Combination]) -> list[dict[str, Any]]:
    """What each strategy keeps. Only what it promises is demanded."""
    out = []
    for row in summary:
        for key, (most, about, promises) in BOUNDS.items():
            if not (figure := row.samples.get(key)) or row.is_peer or (key == "accept_balance" and row.first["loops"] == 1):
                continue
            strategy = _name(row.first)
            promised = promises in (strategy, "")
            text = f"{strategy}, {row.first['loops']} loop(s): {about} {figure.median:.2f}"
            out.append(demand(text, figure, at_most(most) if promised else None, metric=key, accept=strategy,
                              loops=row.first["loops"], most=most, promised=promised))
    return out


def user_share(row: Combination) -> dict[str, str]:
    cpu, user = row.median(CPU), row.median("server_user_us_per_request")
    return {"user": percent(user / cpu) if user and cpu else "-"}


LAYOUT = Layout(lambda row: COLUMNS, lambda row: _name(row.first), group=lambda row: row.first["loops"],
                title=lambda rows: f"{title_line(rows[0])}, {rows[0].first['loops']} loop(s)", texts=user_share)


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    """A line for each accept strategy, then their ratios."""
    text, softirq = LAYOUT.text(summary), summary[0].median("machine_softirq_fraction")
    if softirq is not None:
        text += f"  softirq, of the whole machine and whoever caused it: {percent(softirq)} of the time of its CPUs.\n"
    nginx = any(row.first["peer"] == "nginx" for row in summary)
    return (text + arrows([*figures["ratios"], *figures["bounds"]])
            + published([PUBLISHED["accept"]["published"]] * nginx) + figures["noise"] + "\n")


def compose(document: Document) -> dict[str, Any]:
    return {"ratios": ratios(document.results), "bounds": bounds(summarise(document.results)),
            "published": PUBLISHED["accept"]["systems"]}


def options(parser: Parser, build: Build) -> None:
    parser.option("--preset", one_of("short", "fastsocket"), "short: 100 concurrent connections; fastsocket: 500 for each CPU, "
                  "as its authors measured (default: short)", default="short")
    parser.option("--strategies", lambda text: build.accept if text == "all" else list_of(one_of(*build.accept))(text),
                  f"comma-separated: {', '.join(build.accept)} (default: all)", default="all")
    parser.option("--loops", list_of(number_in(1, 1024)), "comma-separated numbers of event loops (default: one for each "
                  "CPU)", dest="loop_counts")
    parser.option("--close", one_of("fin", "reset"), "how the client ends a connection: fin (from many 127.0.0.x) or reset "
                  "(default: fin)")
    parser.flag("--nginx", "compare the example http_hello with nginx: HTTP without keep-alive, as many workers")
    parser.flag("--no-peers", "leave out the hand-written server, or nginx")
    parser.flag("--no-counters", "do not count system calls and wake-ups")


def _contenders(arguments: argparse.Namespace, build: Build, works: list[Workload]) -> list[Contender]:
    peers = [] if arguments.no_peers else [Contender(peer="nginx" if arguments.nginx else "epoll")]
    ours = [Contender(model=arguments.model, engine=arguments.engine, accept=name) for name in arguments.strategies]
    for who, work in ((who, work) for who in ours for work in works if not who.serves(work)):
        print(f"{who.accept} is skipped: {work.threads} loops need a CPU each, and there are {len(allowed_cpus())}.",
              file=sys.stderr)
    if not any(who.serves(work) for who in ours + peers for work in works):
        raise UsageError("--strategies: nothing is left to measure")
    return ours + peers


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    if arguments.nginx and arguments.close:
        raise UsageError("--close: with --nginx the server closes; leave it out")
    closing = "server" if arguments.nginx else arguments.close or "fin"
    usual = 500 * len(allowed_cpus()) if arguments.preset == "fastsocket" else 100
    works = [build.workload("short").but(connections=arguments.connections or usual, threads=loops)
             for loops in arguments.loop_counts or [len(allowed_cpus())]]
    require_files(works[0].connections)
    who, counters = _contenders(arguments, build, works), not arguments.no_counters and not arguments.nginx
    measure: Measure = functools.partial(measure_accept, closing)
    if arguments.nginx:
        measure = functools.partial(measure_http, require_installed("--nginx", "nginx"),
                                    example_program(build, "http_hello", arguments.http_hello))
    if counters and wakes_obstacle():
        print(f"Wake-ups are not counted: {wakes_obstacle()}.", file=sys.stderr)
    return Plan({"workloads": works, "contenders": who, "shared_cpus": True, "counters": counters}, measure,
                about={"preset": arguments.preset, "close": closing, "http": arguments.nginx,
                       "wakes": counters and not wakes_obstacle()})


EXPERIMENT = Experiment(
    "accept", UsualRuns(5, 1.0, 0.2), UsualRuns(3, 0.3, 0.1), plan, compose, table,
    "bounds", options, shared=("--model=sharded", "--engine", "--connections"), programs=("http_hello",), within=True,
    examples=("--quick", "--strategies reuse_port,exclusive --loops 1,2,4,8",
              "--preset fastsocket --rounds 5 --json accept.json",
              "--preset fastsocket --nginx --json nginx.json"),
    notes=("user: of the server's CPU, the rest is the kernel's. local: received on the CPU of the loop that accepts.",
           "balance: connections of the busiest loop / of the average one. wakes: threads that went to accept."))
