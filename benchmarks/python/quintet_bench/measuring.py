# SPDX-License-Identifier: BSL-1.0
"""What commands that measure in rounds share: their options, the loop over the runs, and the end."""
import argparse
import dataclasses
import functools
import math
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .build import Build
from .errors import UsageError
from .machine import Environment, others_share
from .options import Parser, number_in, output_file, run_duration
from .plan import Run, Settings, UsualRuns, expected_s, fit_within, make_plan
from .child import STARTING_S
from .progress import perform_all
from .results import Document, Result
from .runner import Measure, measure_load, perform
from .text import grouped, shown, words
from .verdict import FOREIGN

COUNTS = ("syscalls_per_request", "futex_per_request", "accept_wakes_per_connection")


def add_measuring_options(parser: Parser, usual: UsualRuns, quick: UsualRuns, *, within: bool = False) -> None:
    def defaults(index: int, unit: str) -> str:
        a, b = f"{usual[index]:g}{unit}", f"{quick[index]:g}{unit}"
        return f"(default: {a})" if a == b else f"(default: {a}; {b} with --quick)"
    if usual.rounds:
        parser.flag("--quick", "short runs, for a first look")
        parser.option("--rounds", number_in(1, 1000), f"runs of each combination {defaults(0, '')}")
    if usual.duration_s:
        parser.option("--duration", run_duration, f"measured time of a run {defaults(1, 's')}", dest="duration_s")
        parser.option("--program", str, "path of the quintet-bench that serves and loads (default: this one)", metavar="FILE")
    if usual.warm_up_s:
        parser.option("--warm-up", run_duration, f"load before the measured time {defaults(2, 's')}", dest="warm_up_s")
        parser.option("--seed", number_in(0), "seed of the random order of runs (default: random)")
    if within:
        parser.option("--within", run_duration, "instead of --duration: all runs together take about this long")
    parser.option("--json", output_file, "write all results to this file; -: standard output", metavar="FILE",
                  dest="json_file")


def settings_of(arguments: argparse.Namespace, build: Build, usual: UsualRuns, quick: UsualRuns, **more: Any) -> Settings:
    """The options whose names are fields of Settings, and `more` fields, such as workloads and contenders."""
    fields = {field.name for field in dataclasses.fields(Settings)}
    given = {name: value for name, value in vars(arguments).items() if name in fields and value is not None}
    unless_told: dict[str, Any] = {"program": build.program, "seed": random.randrange(1_000_000)}
    unless_told |= (quick if given.get("quick") else usual)._asdict()
    s = Settings(**(unless_told | given | more))
    if limit_s := vars(arguments).get("within"):
        if "duration_s" in given:
            raise UsageError("--within and --duration exclude each other")
        fit_within(s, limit_s)
    return s


def _outcome(run: Run, result: Result) -> str:
    """The figure that the run was for."""
    if result["error"]:
        return f"failed: {result['error']}"
    keys = (*["syscalls_per_request"] * run.counting, "requests_per_s", "instructions_per_request", "bytes_per_connection")
    key = next((key for key in keys if result[key] is not None), "requests_per_s")
    return f"{shown(key, result[key])} {words(key)}" + (f", {grouped(result['failed'])} failed" if result["failed"] else "")


def run_probes(command: str, s: Settings, build: Build, kinds: Sequence[tuple[str, Callable[[], Result]]],
               tell: Callable[[Result], str], *, repeat: bool = True, **settings: Any) -> Document:
    """Performs each of the kinds, a label and what measures it, once in each round; in random order if the seed is a setting.
    The results say what other programs used of the CPUs meanwhile. Ctrl-C keeps the results so far."""
    machine, results, order, tasks = Environment(build), list[Result](), random.Random(s.seed), []

    def task(number: int, measure: Callable[[], Result]) -> str:
        others = others_share()
        results.append(measure() | {"round": number, FOREIGN: round(others(), 3)})
        return tell(results[-1])
    for number in range(1, s.rounds + 1 if repeat else 2):
        which = f", round {number}" if repeat else ""
        tasks += [(label + which, s.duration_s + STARTING_S, functools.partial(task, number, measure))
                  for label, measure in (order.sample(kinds, len(kinds)) if "seed" in settings else kinds)]
    interrupted = not perform_all(tasks)
    settings |= {"rounds": s.rounds, "duration_s": s.duration_s, "interrupted": interrupted}
    return Document(command, build.version, machine.finish(), settings, results, interrupted)


def run_plan(command: str, s: Settings, build: Build, measure: Measure = measure_load) -> Document:
    """Performs all runs, one after the other. Ctrl-C ends them and keeps the results so far. The counts of the counting pass
    are copied to every round of their combination; a failed pass leaves None."""
    counters = ("left out" if not s.counters else f"not measured: {build.call_counter}" if build.call_counter else
                "one separate pass for each combination, the same in all its rounds")
    if s.counters and build.call_counter:
        print(f"System calls are not counted: {build.call_counter}.", file=sys.stderr)
        s.counters = False
    plan, done = make_plan(s), list[tuple[Run, Result]]()
    print(f"{len(plan)} runs, about {math.ceil(expected_s(s, plan))} s; order by seed {s.seed}. "
          "Ctrl-C ends early and keeps the results so far.", file=sys.stderr, flush=True)

    def task(run: Run) -> str:
        result = perform(s, run, measure)
        if not run.counting:
            done.append((run, result))
        for earlier, counted in done if run.counting else ():
            if (earlier.work, earlier.who) == (run.work, run.who) and not counted["error"]:
                counted.update({key: result[key] for key in COUNTS})
        return _outcome(run, result)
    machine = Environment(build)
    interrupted = not perform_all([(run.label, run.expected_s(s), functools.partial(task, run)) for run in plan])
    done.sort(key=lambda one: (one[0].round, s.workloads.index(one[0].work), s.contenders.index(one[0].who)))
    settings = {"rounds": s.rounds, "duration_s": s.duration_s, "warm_up_s": s.warm_up_s, "seed": s.seed, "quick": s.quick,
                "interrupted": interrupted, "counters": counters}
    return Document(command, build.version, machine.finish(), settings, [result for _, result in done], interrupted)
