# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench study`: its options, then servers, table and JSON."""
from __future__ import annotations

import argparse
import os
from typing import Any

from ..build import Build, Workload
from ..demands import exit_status
from ..errors import UsageError
from ..foreign import add_example_options, example_program
from ..machine import Environment, allowed_cpus, parse_cpus
from ..measuring import add_measuring_options, add_server_options, run_plan, settings_of
from ..options import Parser, number_in, one_of
from ..plan import UsualRuns, contenders_of
from ..results import Document, write_results
from ..study import kv, sharing
from ..study.passes import FIXED, Study, machine_caches
from ..study.perf_tool import obstacle
from ..study.report import PUBLISHED, changes, read_study, study_table, subject_json

ABOUT = "Shows what a server under load does to the machine: system calls, context switches, caches, locks"
CLAIMS = "5.8 5.9"
DEFAULT, QUICK = UsualRuns(3, 1.0, 0.2), UsualRuns(1, 0.3, 0.1)
OF_SERVERS, OF_SHARING = ("workload", "models", "against", "cache_sizes", "kv"), ("layout", "increments", "cpus")


def add_options(parser: Parser, build: Build) -> None:
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
    add_example_options(parser, "kv")
    add_measuring_options(parser, DEFAULT, QUICK)
    add_server_options(parser, build)
    parser.flag("--false-sharing", "instead of a server, measure two counters in one cache line and in two, and whether the "
                "difference shows")
    parser.option("--layout", one_of(*sharing.LAYOUTS), "only adjacent or padded, for use under another tool")
    parser.option("--increments", number_in(100_000, 1_000_000_000),
                  "of each counter (default: 10000000; 2000000 with --quick)")
    parser.option("--cpus", parse_cpus, "CPUs of the two threads (default: the first two allowed)")
    parser.examples("quintet-bench study", "quintet-bench study --workload kv:zipf --models 1,4,5 --quick",
                    "quintet-bench study --models 3,5 --workload cpu:200us --json today.json --against yesterday.json",
                    "quintet-bench study --false-sharing",
                    "perf c2c record quintet-bench study --false-sharing --layout adjacent")


def _study(arguments: argparse.Namespace, build: Build) -> int:
    try:
        earlier = read_study(arguments.against) if arguments.against else []
    except ValueError as error:
        raise UsageError(f"--against: {error}") from error
    work = arguments.workload or build.workload("echo")
    s = settings_of(arguments, build, DEFAULT, QUICK, workloads=[work],
                    contenders=contenders_of(arguments.models or build.models, False, engine=arguments.engine))
    machine = machine_caches() if arguments.cache_sizes != "fixed" else None
    sizes = machine or FIXED
    load = (kv.KvLoad(example_program(build, "kv", arguments.kv), sizes["LL"][0]) if work.name in kv.WORKLOADS else None)
    study = Study(s, build, sizes, load)
    document = run_plan("study", s, build, study.measure)
    study.complete(document)
    if not document.interrupted:
        study.run_passes(document)
    subjects = list(study.subjects.values())
    sources: dict[str, Any] = {"source": "machine" if machine else "fixed"}
    found = changes(subjects)
    out = document.figures() | {
        "cache_sizes": sources | sizes, "published": PUBLISHED,
        "change": found, "study": list(map(subject_json, subjects)), "not_measured": study.not_measured}
    write_results(study_table(document, subjects, study.not_measured, earlier), out, s.json_file)
    return exit_status(document, found)


def _false_sharing(arguments: argparse.Namespace, build: Build) -> int:
    cpus = arguments.cpus or allowed_cpus()
    if len(cpus) < 2:
        print("False sharing cannot be shown: threads that take turns on one CPU never contend for a cache line.")
        return 0
    s = settings_of(arguments, build, DEFAULT, QUICK)
    increments = arguments.increments or (2_000_000 if s.quick else 10_000_000)
    command = [s.program, "probe", "false-sharing", "--increments", str(increments), "--cpus", ",".join(map(str, cpus[:2]))]
    if arguments.layout:
        os.execv(s.program, [*command, "--layout", arguments.layout])
    machine, problem = Environment(build), obstacle(hardware=True)
    rounds, interrupted = sharing.measure(command, increments, s.rounds, not problem)
    found = sharing.compose(cpus[:2], increments, rounds, problem)
    document = Document("study", build.version, machine.finish(), {"rounds": s.rounds, "interrupted": interrupted}, [],
                        interrupted)
    write_results(sharing.table(found), document.figures() | {"false_sharing": found}, s.json_file)
    return exit_status(document)


def run(arguments: argparse.Namespace, build: Build) -> int:
    for name in OF_SERVERS if arguments.false_sharing else OF_SHARING:
        if getattr(arguments, name) is not None:
            how = "excludes" if arguments.false_sharing else "needs"
            raise UsageError(f"--{name.replace('_', '-')} {how} --false-sharing")
    return _false_sharing(arguments, build) if arguments.false_sharing else _study(arguments, build)
