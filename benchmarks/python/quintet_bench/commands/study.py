# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench study`: its options, then servers, table and JSON."""
import argparse
from typing import Any

from ..build import Build, Workload
from ..errors import UsageError
from ..experiment import Experiment, Work
from ..foreign import example_program
from ..measuring import run_plan
from ..options import Parser, one_of
from ..plan import Settings, UsualRuns, contenders_of
from ..results import Document
from ..study import kv
from ..study.perf_tool import obstacle
from ..study.passes import FIXED, Study, machine_caches
from ..study.report import PUBLISHED, changes, study_table

ABOUT = "Shows what a server under load does to the machine: system calls, context switches, caches, locks"
CLAIMS = "5.8 5.9"
USUAL = "kv:zipf"


def options(parser: Parser, build: Build) -> None:
    def workload(text: str) -> Workload:
        if text.startswith("kv"):
            return kv.WORKLOADS[one_of(*kv.WORKLOADS)(text)]
        if "," in text:
            raise UsageError("a study has one workload; give only one")
        try:
            return build.workload(text)
        except UsageError as error:
            raise UsageError(f"{error}, or {' or '.join(kv.WORKLOADS)}") from None
    parser.option("--workload", workload, "a workload of compare, or kv:uniform or kv:zipf: GETs of keys and values that "
                  "take 4 times the last-level cache (default: kv:zipf)")
    parser.option("--models", build.model_list, "comma-separated names or numbers, or all (default: all)")
    parser.option("--cache-sizes", one_of("machine", "fixed"), "caches that cachegrind simulates without hardware counters: "
                  "fixed: 32 KiB and 1 MiB, which repeats on other machines (default of kv); machine: slow with kv")


def plan(arguments: argparse.Namespace, build: Build) -> Work:
    work = arguments.workload or kv.WORKLOADS[USUAL]
    usual = "fixed" if work.name in kv.WORKLOADS and obstacle(hardware=True) else "machine"
    machine = machine_caches() if (arguments.cache_sizes or usual) == "machine" else None
    sizes = machine or FIXED
    load = (kv.KvLoad(example_program(build, "kv", arguments.kv), sizes["LL"][0]) if work.name in kv.WORKLOADS else None)

    def perform(s: Settings) -> tuple[Document, dict[str, Any], str]:
        study = Study(s, build, sizes, load)
        document = run_plan("study", s, build, study.measure)
        if not document.interrupted:
            study.run_passes(document)
        subjects, not_measured = study.subjects(document), list(dict.fromkeys(study.not_measured))
        sources: dict[str, Any] = {"source": "machine" if machine else "fixed"}
        figures = {"cache_sizes": sources | sizes, "published": PUBLISHED, "change": changes(subjects),
                   "study": subjects, "not_measured": not_measured}
        return document, figures, study_table(document, subjects, not_measured)
    return Work(perform, {"workloads": [work], "contenders": contenders_of(arguments.models or build.models, False,
                                                                           engine=arguments.engine)})


EXPERIMENT = Experiment(
    "study", UsualRuns(3, 1.0, 0.2), UsualRuns(1, 0.3, 0.1), plan, demands="change", options=options, programs=("kv",),
    server=True, examples=("", "--models 1,4,5 --quick",
                           "--models 3,5 --workload cpu:200us --json study.json"))
