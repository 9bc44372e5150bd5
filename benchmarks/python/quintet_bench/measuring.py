# SPDX-License-Identifier: BSL-1.0
"""What commands with a plan of runs share: their options, the loop over the runs, and the end."""
from __future__ import annotations

import argparse
import math
import random
import sys
from typing import Any, NamedTuple

from .build import Build
from .machine import Environment
from .options import Parser, number_in, one_of, output_file, parse_range, run_duration
from .plan import Run, Settings, expected_s, fit_within, make_plan
from .progress import Progress
from .results import Document, Result, combination_key, label_of
from .runner import Measure, measure_load, perform
from .text import grouped, significant

COUNTS = ("syscalls_per_request", "futex_per_request", "accept_wakes_per_connection")


class UsualRuns(NamedTuple):
    """A command's defaults, in seconds."""
    rounds: int
    duration_s: float
    warm_up_s: float


def add_measuring_options(parser: Parser, usual: UsualRuns, quick: UsualRuns, *, within: bool = False,
                          html: bool = False) -> None:
    def defaults(index: int, unit: str) -> str:
        a, b = f"{usual[index]:g}{unit}", f"{quick[index]:g}{unit}"
        return f"(default: {a})" if a == b else f"(default: {a}; {b} with --quick)"
    parser.flag("--quick", "short runs, for a first look")
    parser.option("--rounds", number_in(1, 1000), f"runs of each combination {defaults(0, '')}")
    parser.option("--duration", run_duration, f"measured time of a run {defaults(1, 's')}")
    parser.option("--warm-up", run_duration, f"load before the measured time {defaults(2, 's')}")
    if within:
        parser.option("--within", run_duration, "instead of --duration: all runs together take about this long")
    parser.option("--seed", number_in(0), "seed of the random order of runs (default: random)")
    add_output_options(parser, html=html)
    parser.option("--program", str, "path of the quintet-bench that serves and loads (default: this one)", metavar="FILE")


def add_output_options(parser: Parser, *, html: bool = False) -> None:
    parser.option("--json", output_file, "write all results to this file; -: standard output", metavar="FILE")
    if html:
        parser.option("--html", output_file, "write the report, a self-contained HTML page, to this file", metavar="FILE")


def add_server_options(parser: Parser, build: Build) -> None:
    parser.option("--loops", number_in(1, 1024), "loops of models 4 and 5 (default: the server's CPUs)")
    parser.option("--workers", parse_range, "MIN..MAX workers of models 3 and 5 (default: 1..4)", default="1..4")
    parser.option("--offload", one_of(*build.offload), "batches that models 3 and 5 hand off to workers: "
                  f"{', '.join(build.offload)} (default: automatic, which is adaptive in model 5)", default="automatic")
    parser.option("--engine", build.engine, f"I/O engine: {', '.join(build.engines)} (default: automatic, which is epoll "
                  "unless QUINTET_ENGINE names another)", default="automatic")


def settings_of(arguments: argparse.Namespace, build: Build, usual: UsualRuns, quick: UsualRuns, **more: Any) -> Settings:
    """Makes the settings from the options above. `more`: other fields of Settings, such as workloads and contenders."""
    unless_told = quick if arguments.quick else usual
    s = Settings(program=arguments.program or build.program, quick=arguments.quick,
                 rounds=arguments.rounds or unless_told.rounds, duration_s=arguments.duration or unless_told.duration_s,
                 warm_up_s=arguments.warm_up or unless_told.warm_up_s, json_file=arguments.json,
                 html_file=getattr(arguments, "html", None),
                 seed=random.randrange(1_000_000) if arguments.seed is None else arguments.seed)
    for name in ("loops", "workers", "offload"):
        if hasattr(arguments, name):
            setattr(s, name, getattr(arguments, name))
    for name, value in more.items():
        setattr(s, name, value)
    if getattr(arguments, "within", None):
        if arguments.duration:
            from .errors import UsageError
            raise UsageError("--within and --duration exclude each other")
        fit_within(s, arguments.within)
    return s


def _outcome(run: Run, result: Result) -> str:
    if result["error"]:
        return f"failed: {result['error']}"
    if result["instructions_per_request"]:
        return f"{grouped(result['instructions_per_request'])} instructions a request"
    if run.counting:
        return f"{significant(result['syscalls_per_request'] or 0)} system calls a request"
    lost = f", {grouped(result['failed'])} failed" if result["failed"] else ""
    return f"{grouped(result['requests_per_s'] or 0)} requests/s{lost}"


def _take_counts(results: list[Result], counted: Result) -> None:
    """Copies the counts of the counting pass to every round of its combination. A failed pass leaves None."""
    for result in results:
        if combination_key(result) == combination_key(counted) and not result["error"]:
            result.update({key: counted[key] for key in COUNTS})


def _order(s: Settings, result: Result) -> tuple[int, ...]:
    works = [(w.name, w.connections, w.message_bytes, w.pipeline) for w in s.workloads]
    shape = (result["workload"], result["connections"], result["message_bytes"], result["pipeline"])
    labels = [who.label for who in s.contenders]
    label = label_of(result)
    return (result["round"], works.index(shape) if shape in works else 0, labels.index(label) if label in labels else 0)


def run_plan(command: str, s: Settings, build: Build, measure: Measure = measure_load) -> Document:
    """Performs all runs, one after the other. Ctrl-C ends them and keeps the results so far."""
    obstacle = build.call_counter if s.counters else None
    told = s.counters
    if obstacle:
        print(f"System calls are not counted: {obstacle}.", file=sys.stderr)
        s.counters = False
    plan = make_plan(s)
    print(f"{len(plan)} runs, about {math.ceil(expected_s(s, plan))} s; order by seed {s.seed}. "
          "Ctrl-C ends early and keeps the results so far.", file=sys.stderr, flush=True)
    machine, progress = Environment(build), Progress(len(plan), expected_s(s, plan))
    results: list[Result] = []
    interrupted = False
    try:
        for run in plan:
            progress.begin(run.label)
            result = perform(s, run, measure)
            progress.done(run.label, _outcome(run, result), run.expected_s(s))
            if run.counting:
                _take_counts(results, result)
            else:
                results.append(result)
    except KeyboardInterrupt:
        interrupted = True
    progress.clear()
    if interrupted:
        print("Interrupted: these are the results so far.", file=sys.stderr)
    results.sort(key=lambda result: _order(s, result))
    counters = ("left out" if not told else f"not measured: {obstacle}" if obstacle else
                "one separate pass for each combination, the same in all its rounds")
    settings = {"rounds": s.rounds, "duration_s": s.duration_s, "warm_up_s": s.warm_up_s, "seed": s.seed, "quick": s.quick,
                "interrupted": interrupted, "counters": counters}
    return Document(command, build.version, machine.finish(), settings, results, interrupted)


def exit_status(document: Document) -> int:
    """Tells which runs failed or lost requests. 130: interrupted, 1: failures, 0: none."""
    if document.interrupted:
        return 130
    failures = [r for r in document.results if r["error"] or r["failed"]]
    for r in failures:
        why = r["error"] or f"{grouped(r['failed'])} requests failed"
        print(f"failed: {r['workload']} {label_of(r)} round {r['round']}: {why}", file=sys.stderr)
    return 1 if failures else 0
