# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench study`: its options, then servers, table and JSON."""
from __future__ import annotations

import argparse
import os
from typing import Any

from ..build import Build, Workload
from ..errors import RunError, UsageError
from ..experiment import Experiment, Work
from ..foreign import example_program
from ..machine import Environment, allowed_cpus, parse_cpus
from ..measuring import run_plan
from ..options import Parser, number_in, one_of
from ..plan import Settings, UsualRuns, contenders_of
from ..results import Document
from ..study import kv, sharing
from ..study.passes import FIXED, Study, machine_caches
from ..study.perf_tool import obstacle
from ..study.report import PUBLISHED, changes, read_study, study_table, subject_json

ABOUT = "Shows what a server under load does to the machine: system calls, context switches, caches, locks"
CLAIMS = "5.8 5.9"
OF_SERVERS, OF_SHARING = ("workload", "models", "against", "cache_sizes", "kv"), ("layout", "increments", "cpus")


def options(parser: Parser, build: Build) -> None:
    def workload(text: str) -> Workload:
        if text.startswith("kv"):
            return kv.WORKLOADS[one_of(*kv.WORKLOADS)(text)]
        if "," in text:
            raise UsageError("a study has one workload; give only one")
        return build.workload(text)
    parser.option("--workload", workload, "a workload of compare (default: echo), or kv:uniform or kv:zipf: GETs of keys and "
                  "values that take 4 times the last-level cache")
    parser.option("--models", build.model_list, "comma-separated names or numbers, or all (default: all)")
    parser.option("--against", str, "compare with an earlier --json file", metavar="FILE")
    parser.option("--cache-sizes", one_of("machine", "fixed"), "caches that cachegrind simulates without hardware counters: "
                  "machine (default); fixed: 32 KiB and 1 MiB, which repeats on other machines and is quicker with kv")
    parser.flag("--false-sharing", "instead of a server, measure two counters in one cache line and in two, and whether the "
                "difference shows")
    parser.option("--layout", one_of(*sharing.LAYOUTS), "only adjacent or padded, for use under another tool")
    parser.option("--increments", number_in(100_000, 1_000_000_000),
                  "of each counter (default: 10000000; 2000000 with --quick)")
    parser.option("--cpus", parse_cpus, "CPUs of the two threads (default: the first two allowed)")


def _servers(arguments: argparse.Namespace, build: Build) -> Work:
    try:
        earlier = read_study(arguments.against) if arguments.against else []
    except ValueError as error:
        raise UsageError(f"--against: {error}") from error
    work = arguments.workload or build.workload("echo")
    machine = machine_caches() if arguments.cache_sizes != "fixed" else None
    sizes = machine or FIXED
    load = (kv.KvLoad(example_program(build, "kv", arguments.kv), sizes["LL"][0]) if work.name in kv.WORKLOADS else None)

    def perform(s: Settings) -> tuple[Document, dict[str, Any], str]:
        study = Study(s, build, sizes, load)
        document = run_plan("study", s, build, study.measure)
        study.complete(document)
        if not document.interrupted:
            study.run_passes(document)
        subjects = list(study.subjects.values())
        sources: dict[str, Any] = {"source": "machine" if machine else "fixed"}
        figures = {"cache_sizes": sources | sizes, "published": PUBLISHED, "change": changes(subjects),
                   "study": list(map(subject_json, subjects)), "not_measured": study.not_measured}
        return document, figures, study_table(document, subjects, study.not_measured, earlier)
    return Work(perform, {"workloads": [work], "contenders": contenders_of(arguments.models or build.models, False,
                                                                           engine=arguments.engine)})


def _false_sharing(arguments: argparse.Namespace, build: Build) -> Work:
    cpus = arguments.cpus or allowed_cpus()
    if len(cpus) < 2:
        raise RunError("false sharing cannot be shown: threads that take turns on one CPU never contend for a cache line")

    def perform(s: Settings) -> tuple[Document, dict[str, Any], str]:
        increments = arguments.increments or (2_000_000 if s.quick else 10_000_000)
        command = [s.program, "probe", "false-sharing", "--increments", str(increments), "--cpus", ",".join(map(str, cpus[:2]))]
        if arguments.layout:
            os.execv(s.program, [*command, "--layout", arguments.layout])
        machine, problem = Environment(build), obstacle(hardware=True)
        rounds, interrupted = sharing.measure(command, increments, s.rounds, not problem)
        found = sharing.compose(cpus[:2], increments, rounds, problem)
        document = Document("study", build.version, machine.finish(), {"rounds": s.rounds, "interrupted": interrupted}, [],
                            interrupted)
        return document, {"false_sharing": found}, sharing.table(found)
    return Work(perform)


def plan(arguments: argparse.Namespace, build: Build) -> Work:
    for name in OF_SERVERS if arguments.false_sharing else OF_SHARING:
        if getattr(arguments, name) is not None:
            how = "excludes" if arguments.false_sharing else "needs"
            raise UsageError(f"--{name.replace('_', '-')} {how} --false-sharing")
    return _false_sharing(arguments, build) if arguments.false_sharing else _servers(arguments, build)


EXPERIMENT = Experiment(
    "study", UsualRuns(3, 1.0, 0.2), UsualRuns(1, 0.3, 0.1), plan, demands="change", options=options, programs=("kv",),
    server=True, examples=("", "--workload kv:zipf --models 1,4,5 --quick",
                           "--models 3,5 --workload cpu:200us --json today.json --against yesterday.json", "--false-sharing"),
    notes=("Under another tool: perf c2c record quintet-bench study --false-sharing --layout adjacent",))
