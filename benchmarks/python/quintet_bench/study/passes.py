# SPDX-License-Identifier: BSL-1.0
"""Rounds of each server under load, then a run of its own for each tool that would disturb them."""
import dataclasses
import functools
import glob
import math
import re
import tempfile
from collections.abc import Callable
from typing import Any

from .. import valgrind
from ..build import Build
from ..errors import RunError
from ..machine import read_text
from ..plan import Run, Settings
from ..progress import perform_all
from ..results import METRICS, Document, Result, label_of
from ..runner import measure_load, perform, server_command
from .kv import TURNS, KvLoad
from .perf_stat import parse, problems
from .perf_tool import (CACHE_EVENTS, COUNTING, Window, hot_functions, lock_waits, obstacle, per_request, perf_output,
                        share_of)
from .report import FIGURES, Subject, cache, new_subject

ENOUGH_FOR_SAMPLES_S = 1.0              # of a profile: some hundred samples
MOST_FUNCTIONS, MOST_LOCKS = 12, 6
SHARES = {"locks_share": re.compile(r"spin_|mutex|rwlock|lll_lock"),
          "futex_share": re.compile(r"futex"),
          "scheduler_share": re.compile(r"sched|task_switch|update_curr|(en|de)queue_(task|entity)|pick_.*(task|entity)|"
                                        r"try_to_wake_up|ttwu|update_load_avg|update_rq_clock")}
Pass = Callable[[Subject, Result, Settings, Run], None]
Sizes = dict[str, tuple[int, int, int]]  # by valgrind's name: bytes, ways, and bytes of a line
FIXED: Sizes = {"I1": (32768, 8, 64), "D1": (32768, 8, 64), "LL": (1 << 20, 16, 64)}  # figures repeat on other machines


def machine_caches(root: str = "/sys/devices/system/cpu/cpu0/cache") -> Sizes | None:
    """Returns this machine's caches, with the number of sets rounded to the power of two that valgrind needs. None if the
    kernel does not tell them all. `root` is for tests."""
    found: Sizes = {}
    for index in glob.glob(f"{root}/index*"):
        level, kind, size, ways, line = (read_text(f"{index}/{name}").strip() for name in (
            "level", "type", "size", "ways_of_associativity", "coherency_line_size"))
        if re.fullmatch(r"\d \d+K [1-9]\d* (16|32|64|128|256)", f"{level} {size} {ways} {line}"):
            way = int(ways) * int(line)
            found[level + kind[:1]] = (2 ** round(math.log2(max(1, int(size[:-1]) * 1024 / way))) * way, int(ways), int(line))
    last = [found[key] for key in sorted(found) if key[0] > "1" and key[1] == "U"]
    return {"I1": found["1I"], "D1": found["1D"], "LL": last[-1]} if {"1I", "1D"} <= found.keys() and last else None


def cachegrind_counts(log: str) -> tuple[int, int]:
    """Returns references and misses of the last-level cache. Earlier totals in the log are those of child processes."""
    found = [re.findall(rf"LL {name}: +([\d,]+)", log) for name in ("refs", "misses")]
    if not all(found):
        raise RunError(f"cachegrind counted nothing: {log.partition(chr(10))[0]}")
    return int(found[0][-1].replace(",", "")), int(found[1][-1].replace(",", ""))


class Study:
    def __init__(self, s: Settings, build: Build, sizes: Sizes, kv: KvLoad | None) -> None:
        self.s, self._sizes, self._kv = s, sizes, kv
        self._load: Any = kv.measure if kv else measure_load
        self.subjects = {who.label: new_subject(s.workloads[0].name, who.label) for who in s.contenders}
        self.not_measured: list[str] = []
        self._no_hardware = obstacle(hardware=True)
        if self._no_hardware:
            self.tell(f"hardware counters: {self._no_hardware}")
            self.tell("false sharing between cores: only hardware counters show it; a simulation has one cache for all threads "
                      "(probe false-sharing plants one)")
        s.counters = not kv
        if kv:
            self.tell("system calls and futex calls: kv's client does not count them; benchmarks/perf/lock counts futex calls")
        elif build.call_counter:
            self.tell(f"system calls and futex calls: {build.call_counter}")

    def tell(self, line: str) -> None:
        """Adds a line: figure, reason, remedy."""
        if line not in self.not_measured:
            self.not_measured.append(line)

    def measure(self, result: Result, s: Settings, run: Run) -> None:
        """Reads /proc and hardware counters in every round, because that disturbs no server."""
        if run.counting:
            measure_load(result, s, run)
            return
        with Window(*(() if self._no_hardware else COUNTING)) as window:
            self._load(result, s, run, window)
        subject, counts = self.subjects[run.who.label], parse(window.text)
        for key, value in per_request(window.before, window.after, result["requests"], result["duration_s"]).items():
            subject["figures"].setdefault(key, []).append(value)
        for problem in problems(counts):
            self.tell(f"hardware counters: {problem}")
        references, misses = (counts.get(event) for event in CACHE_EVENTS)
        if references and misses and references.value and misses.state == "counted":
            subject["cache_source"] = "hardware, user space only" if references.user_only else "hardware"
            subject["caches"].append(cache(
                references.value, misses.value, cpu_s=(result["server_cpu_us_per_request"] or 0) * result["requests"] / 1e6,
                elapsed_s=result["duration_s"], requests=result["requests"], user_only=references.user_only,
                counted_fraction=min(references.running, misses.running), pmus=[pmu for pmu in references.parts if pmu]))

    def _recorded(self, record: list[str], report: list[str], r: Result, s: Settings, run: Run) -> str:
        """Returns what perf reports of a run."""
        with tempfile.TemporaryDirectory() as folder:
            with Window(*record, "-q", "-o", f"{folder}/data") as window:
                self._load(r, s, run, window)
            return perf_output(*report, "-i", f"{folder}/data")

    def _profile(self, subject: Subject, r: Result, s: Settings, run: Run) -> None:
        report = ["report", "--stdio", "--no-children", "-g", "none", "-F", "overhead,sym,dso", "-t", "|"]
        found = hot_functions(self._recorded(["record", "-e", "cpu-clock", "-F", "999"], report, r, s, run))
        subject["functions"] = found[:MOST_FUNCTIONS]
        for key, names in SHARES.items():
            subject["figures"][key] = [share_of(found, names)]
        if not subject["functions"]:
            raise RunError("perf record took no samples in so short a time; give a longer --duration")

    def _watch_locks(self, subject: Subject, r: Result, s: Settings, run: Run) -> None:
        waits = lock_waits(self._recorded(["lock", "record"], ["lock", "contention"], r, s, run))
        for key, figure in (("lock_waits_per_request", "waits"), ("lock_wait_us_per_request", "wait_us")):
            subject["figures"][key] = [sum(wait[figure] for wait in waits) / r["requests"]]
        subject["locks"] = waits[:MOST_LOCKS]

    def _simulate(self, subject: Subject, r: Result, s: Settings, run: Run) -> None:
        r["server_cpus"] = r["client_cpus"] = str(valgrind.cpu())
        tool = ["--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null",
                *(f"--{name}={','.join(map(str, size))}" for name, size in self._sizes.items())]
        serve = (functools.partial(self._kv.serving, r, run) if self._kv else
                 functools.partial(valgrind.serving_echo, server_command(s, run, r), run.work))
        turns = TURNS if self._kv else valgrind.bounded_turns(run.work)
        counts, requests = valgrind.difference(tool, cachegrind_counts, turns, serve)
        references, misses = (max(0, count) for count in counts)
        subject["cache_source"] = "simulated, user space only"
        subject["caches"].append(cache(references, misses, requests=requests, user_only=True))

    def run_passes(self, document: Document) -> None:
        """Performs those that can be done here, and tells about the others."""
        s = dataclasses.replace(self.s, duration_s=max(self.s.duration_s, ENOUGH_FOR_SAMPLES_S))
        no_perf = obstacle(hardware=False)
        no_simulation = ("cachegrind's load only echoes, so not this workload" if s.workloads[0].kind != "echo" else
                         "valgrind knows nothing of io_uring; use another --engine"
                         if any(who.engine == "uring" for who in s.contenders) else valgrind.obstacle())
        simulation = ("simulated caches", self._simulate, self._kv.simulation_s if self._kv else 6.0, no_simulation)
        passes: list[tuple[str, Pass, float, str | None]] = [
            ("hottest functions", self._profile, 1.0, no_perf),
            ("waits for the kernel's locks", self._watch_locks, 1.0, no_perf)]
        # An echo misses as often in each round; with large caches a round takes minutes.
        repeats = s.rounds if self._kv and self._sizes == FIXED else 1
        passes += [simulation] * repeats if self._no_hardware else []

        def task(what: str, function: Pass, run: Run) -> str:
            subject = self.subjects[run.who.label]
            error = perform(s, run, lambda r, s, run: function(subject, r, s, run))["error"]
            if error:
                self.tell(f"{what} of {run.who.label}: {error}")
            return f"failed: {error}" if error else "done"
        tasks = []
        for what, function, extra_s, problem in passes:
            if problem:
                self.tell(f"{what}: {problem}")
            for run in [] if problem else [Run(s.workloads[0], who, 1) for who in s.contenders]:
                tasks.append((f"{run.who.label} ({what})", run.expected_s(s) + extra_s,
                              functools.partial(task, what, function, run)))
        document.interrupted = document.settings["interrupted"] = not perform_all(tasks)

    def complete(self, document: Document) -> None:
        """Copies the figures of the results, and tells which figures the kernel does not provide."""
        good = [result for result in document.results if not result["error"]]
        for key, title, _, _, source in FIGURES:
            for result in good if key in METRICS else ():
                if result[key] is not None:
                    self.subjects[label_of(result)]["figures"].setdefault(key, []).append(result[key])
            known = any(key in subject["figures"] for subject in self.subjects.values())
            if good and not known and source.startswith("/proc"):
                self.tell(f"{title}: this kernel does not tell it in {source}")
