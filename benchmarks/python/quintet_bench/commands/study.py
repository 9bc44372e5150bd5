# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench study`: rounds of each server under load, then a run of its own for each tool that would disturb them."""
import argparse
import dataclasses
import functools
import glob
import math
import re
import tempfile
from typing import Any

from .. import valgrind
from ..build import Build, Workload
from ..errors import RunError, UsageError
from ..experiment import Experiment, Work
from ..foreign import example_program
from ..machine import read_text
from ..measuring import run_plan
from ..options import Parser, one_of
from ..plan import Run, Settings, UsualRuns, contenders_of
from ..progress import perform_all
from ..results import METRICS, Document, Result
from ..runner import Measure, measure_load, perform, server_command
from ..study import kv
from ..study.perf_stat import parse, problems
from ..study.perf_tool import (CACHE_EVENTS, COUNTING, Window, hot_functions, lock_waits, obstacle, per_request, perf_output,
                               share_of)
from ..study.report import FIGURES, PUBLISHED, Subject, cache, changes, study_table, subject_of

ABOUT = "Shows what a server under load does to the machine: system calls, context switches, caches, locks"
CLAIMS = "5.8 5.9"
USUAL = "kv:zipf"
ENOUGH_FOR_SAMPLES_S = 1.0              # of a profile: some hundred samples
MOST_FUNCTIONS, MOST_LOCKS = 12, 6
SHARES = {"locks_share": re.compile(r"spin_|mutex|rwlock|lll_lock"),
          "futex_share": re.compile(r"futex"),
          "scheduler_share": re.compile(r"sched|task_switch|update_curr|(en|de)queue_(task|entity)|pick_.*(task|entity)|"
                                        r"try_to_wake_up|ttwu|update_load_avg|update_rq_clock")}
Sizes = dict[str, tuple[int, int, int]]  # by valgrind's name: bytes, ways, and bytes of a line
FIXED: Sizes = {"I1": (32768, 8, 64), "D1": (32768, 8, 64), "LL": (1 << 20, 16, 64)}  # figures repeat on other machines


def machine_caches(root: str = "/sys/devices/system/cpu/cpu0/cache") -> Sizes | None:
    """Returns this machine's caches, with the number of sets rounded to the power of two that valgrind needs. None if the
    kernel does not tell them all. `root` is for tests."""
    found: Sizes = {}                   # by level and kind, such as "1I" and "3U"
    for index in glob.glob(f"{root}/index*"):
        text = " ".join(read_text(f"{index}/{name}").strip() for name in (
            "level", "type", "size", "ways_of_associativity", "coherency_line_size"))
        if match := re.fullmatch(r"(\d) ([DIU])\w+ (\d+)K ([1-9]\d*) (16|32|64|128|256)", text):
            size, ways, line = map(int, match.groups()[2:])
            found[match[1] + match[2]] = 2 ** round(math.log2(max(1, size * 1024 / ways / line))) * ways * line, ways, line
    last = max((key for key in found if key > "2" and key[1] == "U"), default="")
    return {"I1": found["1I"], "D1": found["1D"], "LL": found[last]} if {"1I", "1D", last} <= found.keys() else None


def cachegrind_counts(log: str) -> tuple[int, int]:
    """Returns references and misses of the last-level cache. Earlier totals in the log are those of child processes."""
    found = [re.findall(rf"LL {name}: +([\d,]+)", log) for name in ("refs", "misses")]
    if not all(found):
        raise RunError(f"cachegrind counted nothing: {log.partition(chr(10))[0]}")
    return int(found[0][-1].replace(",", "")), int(found[1][-1].replace(",", ""))


class Study:
    """`load`: None measures an echo, or another workload of compare."""

    def __init__(self, s: Settings, build: Build, sizes: Sizes, load: kv.KvLoad | None) -> None:
        self._s, self._build, self._sizes, self._kv = s, build, sizes, load
        self._load: Any = load.measure if load else measure_load
        self._not_measured = list[str]()    # lines: figure, reason, remedy; some more than once
        self._tell = self._not_measured.append
        self._passed = list[Result]()       # of the passes, without the figures of the load, which they disturb
        self._no_hardware = obstacle(hardware=True)
        if self._no_hardware:
            self._tell(f"hardware counters: {self._no_hardware}")
            self._tell("false sharing between cores: only hardware counters show it; a simulation has one cache for all "
                       "threads (probe false-sharing plants one)")
        s.counters = not load
        if load:
            self._tell("system calls and futex calls: kv's client does not count them; benchmarks/perf/lock counts futex calls")
        elif build.call_counter:
            self._tell(f"system calls and futex calls: {build.call_counter}")

    def _measure(self, result: Result, s: Settings, run: Run) -> None:
        """Reads /proc and hardware counters in every round, because that disturbs no server."""
        if run.counting:
            measure_load(result, s, run)
            return
        with Window(*(() if self._no_hardware else COUNTING)) as window:
            self._load(result, s, run, window)
        result |= per_request(window.before, window.after, result["requests"], result["duration_s"])
        counts = parse(window.text)
        for problem in problems(counts):
            self._tell(f"hardware counters: {problem}")
        references, misses = (counts.get(event) for event in CACHE_EVENTS)
        if references and misses and references.value and misses.state == "counted":
            result["cache"] = cache(
                references.value, misses.value, "hardware" + ", user space only" * references.user_only,
                cpu_s=(result["server_cpu_us_per_request"] or 0) * result["requests"] / 1e6,
                elapsed_s=result["duration_s"], requests=result["requests"], user_only=references.user_only,
                counted_fraction=min(references.running, misses.running), pmus=[pmu for pmu in references.parts if pmu])

    def _recorded(self, record: list[str], report: list[str], r: Result, s: Settings, run: Run) -> str:
        """Returns what perf reports of a run."""
        with tempfile.TemporaryDirectory() as folder:
            with Window(*record, "-q", "-o", f"{folder}/data") as window:
                self._load(r, s, run, window)
            return perf_output(*report, "-i", f"{folder}/data")

    def _profile(self, r: Result, s: Settings, run: Run) -> None:
        report = ["report", "--stdio", "--no-children", "-g", "none", "-F", "overhead,sym,dso", "-t", "|"]
        found = hot_functions(self._recorded(["record", "-e", "cpu-clock", "-F", "999"], report, r, s, run))
        if not found:
            raise RunError("perf record took no samples in so short a time; give a longer --duration")
        r |= {"functions": found[:MOST_FUNCTIONS]} | {key: share_of(found, names) for key, names in SHARES.items()}

    def _watch_locks(self, r: Result, s: Settings, run: Run) -> None:
        waits = lock_waits(self._recorded(["lock", "record"], ["lock", "contention"], r, s, run))
        r |= {f"lock_{key}_per_request": sum(wait[key] for wait in waits) / r["requests"] for key in ("waits", "wait_us")}
        r["locks"] = waits[:MOST_LOCKS]

    def _simulate(self, r: Result, s: Settings, run: Run) -> None:
        r["server_cpus"] = r["client_cpus"] = str(valgrind.cpu())
        tool = ["--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null",
                *(f"--{name}={','.join(map(str, size))}" for name, size in self._sizes.items())]
        serve = (functools.partial(self._kv.serving, r, run) if self._kv else
                 functools.partial(valgrind.serving_echo, server_command(s, run, r), run.work))
        turns = kv.TURNS if self._kv else valgrind.bounded_turns(run.work)
        counts, requests = valgrind.difference(tool, cachegrind_counts, turns, serve)
        references, misses = (max(0, count) for count in counts)
        r["cache"] = cache(references, misses, "simulated, user space only", requests=requests, user_only=True)

    def _passes(self, s: Settings) -> list[tuple[str, Measure, float, str | None]]:
        """What each finds, how, the seconds that it takes more than its run, and why it cannot be done here."""
        no_perf = obstacle(hardware=False)
        no_simulation = ("cachegrind's load only echoes, so not this workload" if s.workloads[0].kind != "echo" else
                         "valgrind knows nothing of io_uring; use another --engine"
                         if any(who.engine == "uring" for who in s.contenders) else valgrind.obstacle())
        simulation = "simulated caches", self._simulate, self._kv.simulation_s if self._kv else 6.0, no_simulation
        # An echo misses as often in each round; with large caches a round takes minutes.
        repeats = s.rounds if self._kv and self._sizes is FIXED else 1
        return [("hottest functions", self._profile, 1.0, no_perf),
                ("waits for the kernel's locks", self._watch_locks, 1.0, no_perf),
                *[simulation] * (repeats if self._no_hardware else 0)]

    def _run_passes(self, document: Document) -> None:
        """Performs those that can be done here, and tells about the others."""
        s = dataclasses.replace(self._s, duration_s=max(self._s.duration_s, ENOUGH_FOR_SAMPLES_S))

        def task(what: str, measure: Measure, run: Run) -> str:
            found = perform(s, run, measure)
            self._passed.append({key: value for key, value in found.items() if key not in METRICS})
            if found["error"]:
                self._tell(f"{what} of {run.who.label}: {found['error']}")
            return f"failed: {found['error']}" if found["error"] else "done"
        tasks = []
        for what, measure, extra_s, problem in self._passes(s):
            if problem:
                self._tell(f"{what}: {problem}")
            for run in [] if problem else [Run(s.workloads[0], who, 1) for who in s.contenders]:
                tasks.append((f"{run.who.label} ({what})", run.expected_s(s) + extra_s,
                              functools.partial(task, what, measure, run)))
        document.interrupted = document.settings["interrupted"] = not perform_all(tasks)

    def _subjects(self, document: Document) -> list[Subject]:
        """What is known of each server. Tells which figures the kernel does not provide."""
        good = [result for result in document.results + self._passed if not result["error"]]
        for key, title, _, _, source in FIGURES:
            if good and source.startswith("/proc") and all(result.get(key) is None for result in good):
                self._tell(f"{title}: this kernel does not tell it in {source}")
        return [subject_of(self._s.workloads[0].name, who.label, [r for r in good if r["model"] == who.model])
                for who in self._s.contenders]

    def perform(self) -> tuple[Document, dict[str, Any], str]:
        document = run_plan("study", self._s, self._build, self._measure)
        if not document.interrupted:
            self._run_passes(document)
        subjects, not_measured = self._subjects(document), list(dict.fromkeys(self._not_measured))
        sizes: dict[str, Any] = {"source": "fixed" if self._sizes is FIXED else "machine"} | self._sizes
        figures = {"cache_sizes": sizes, "published": PUBLISHED, "change": changes(subjects), "study": subjects,
                   "not_measured": not_measured}
        return document, figures, study_table(document, subjects, not_measured)


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
    is_kv = work.name in kv.WORKLOADS
    usual = "fixed" if is_kv and obstacle(hardware=True) else "machine"
    sizes = (machine_caches() if (arguments.cache_sizes or usual) == "machine" else None) or FIXED
    load = kv.KvLoad(example_program(build, "kv", arguments.kv), sizes["LL"][0]) if is_kv else None
    contenders = contenders_of(arguments.models or build.models, False, engine=arguments.engine)
    return Work(lambda s: Study(s, build, sizes, load).perform(), {"workloads": [work], "contenders": contenders})


EXPERIMENT = Experiment(
    "study", UsualRuns(3, 1.0, 0.2), UsualRuns(1, 0.3, 0.1), plan, demands="change", options=options, programs=("kv",),
    server=True, examples=("", "--models 1,4,5 --quick",
                           "--models 3,5 --workload cpu:200us --json study.json"))
