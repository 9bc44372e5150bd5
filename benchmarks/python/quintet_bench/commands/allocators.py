# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench allocators`: the same server with several memory allocators, each compared with glibc's in its round."""
import argparse
import contextlib
import functools
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from .. import valgrind
from ..build import Build
from ..demands import Verdict, demand
from ..errors import RunError, UsageError
from ..experiment import Experiment, Plan, matching
from ..machine import read_text
from ..options import Parser, list_of, number_in, one_of
from ..plan import Contender, Run, Settings, UsualRuns
from ..redis_load import PING, SET, RedisPrograms, ServerCare, measure_redis_load, run_benchmark, running_server
from ..results import Combination, Document, Result, Sample, summarise, workload_names
from ..runner import Measure
from ..statistics import paired_ratio, ratio_text
from ..table import SPREAD, Column, Layout, noise, told_of
from ..text import grouped, joined, mebibytes, micros
from ..verdict import CPU, SPEED, cost_of

ABOUT = "Compares memory allocators, preloaded into the same server"
CLAIMS = "2.18"
OURS, HUGE = "glibc", "glibc-huge-pages"   # the second asks for transparent huge pages, since glibc 2.35
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"
# Debian's package, and names of the library for the dynamic linker, the usual one first.
LIBRARIES = {OURS: ("", ""), HUGE: ("", ""), "tcmalloc": ("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4"),
             "jemalloc": ("libjemalloc2", "libjemalloc.so.2"),
             "mimalloc": ("libmimalloc2.0", "libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.3")}
SAME = 0.9, 1.1, "0.9 to 1.1, as it allocates nothing"
ENOUGH_ROUNDS = 5                       # all ratios are on the same side by chance in one case of 16; of three rounds in 4
TURN, FEW_MANY = 4000, (1, 3)           # requests of a counted turn, and turns of a short and a long run
BY_TIME = "loop_per_thread_pool"        # its loops give requests to workers by how long they take, so counts do not repeat
COUNTED: tuple[Column, ...] = (("instructions", 14, "instructions_per_request", grouped), ("ratio", 8, "ratio", str))
TIMED: tuple[Column, ...] = (
    ("CPU/req", 10, CPU, micros), ("ratio", 7, "ratio", str), ("its rounds", 14, "range", str),
    ("requests/s", 12, SPEED, grouped), SPREAD, ("p50", 9, "p50_us", micros), ("p99", 9, "p99_us", micros),
    ("memory", 10, "server_rss_bytes", mebibytes))
Standing = tuple[Combination, Sample | None]    # an allocator, and its cost over that of glibc in the same model and round


def is_installed(library: str) -> bool:
    tried = subprocess.run(["env", f"LD_PRELOAD={library}", "true"], capture_output=True, text=True, timeout=10)
    return "cannot be preloaded" not in tried.stderr


def find_libraries(named: list[str]) -> dict[str, str]:
    """The names for the dynamic linker of the named allocators, or of all. It only warns of a library that it lacks."""
    out = {}
    for name in [OURS, *named] if named else LIBRARIES:
        package, *libraries = LIBRARIES[name]
        if name == HUGE and "[never]" in (read_text(HUGE_PAGES) or "[never]"):
            absence = f"{name}: this kernel has no transparent huge pages ({HUGE_PAGES})"
        elif installed := list(filter(is_installed, libraries)):
            out[name] = installed[0]
            continue
        else:
            absence = f"{name}: {libraries[0]} is not installed; apt-get install {package}"
        if named:
            raise UsageError(absence)
        print(absence, file=sys.stderr)
    return out


def require_allocator(name: str, maps: str) -> None:
    """Raises RunError unless the server with this /proc/PID/maps has exactly this allocator."""
    found = [other for other in LIBRARIES if re.search(rf"/lib{other}[^/]*$", maps, re.MULTILINE)] or [OURS]
    if not maps or found != [OURS if name == HUGE else name]:
        raise RunError(f"{name} was not preloaded: the server's allocator is {joined(found) if maps else 'unknown'}")


def preload(name: str, libraries: dict[str, str]) -> list[str]:
    """The words before a server's command line that give it this allocator."""
    return ["env", f"LD_PRELOAD={libraries[name]}"] + ["GLIBC_TUNABLES=glibc.malloc.hugetlb=1"] * (name == HUGE)


def measure_instructions(programs: RedisPrograms, care: ServerCare) -> Measure:
    """Counts with callgrind."""
    @contextlib.contextmanager
    def serving(about: Result, words: list[str]) -> Iterator[valgrind.Served]:
        watched = ServerCare(lambda about: care.prefix(about) + words, care.inspect)    # valgrind passes the library on
        with running_server(programs, about, watched) as (server, port):
            def turn() -> int:
                run_benchmark(programs, about, port, TURN)
                return TURN
            yield server, turn

    def measure(result: Result, s: Settings, run: Run) -> None:
        valgrind.count_instructions(result, FEW_MANY, functools.partial(serving, result))
    return measure


def with_ratios(results: list[Result]) -> list[Standing]:
    def ratio(row: Combination) -> Sample | None:
        model, name = row.first["model"], row.first["allocator"]
        return None if name == OURS else paired_ratio(
            results, row.workload, cost_of(row).key, matching(model=model, allocator=name),
            matching(model=model, allocator=OURS))
    return [(row, ratio(row)) for row in summarise(results)]


def sentence(row: Combination, ratio: Sample) -> str:
    few = not cost_of(row).counted and len(ratio.values) < ENOUGH_ROUNDS
    return f"{row.label} needs {ratio_text(ratio, cost_of(row).word, OURS)}{'; too few rounds to tell them apart' * few}."


LAYOUT = Layout(lambda row: COUNTED if cost_of(row).counted else TIMED, 35, lambda row: f"  {row.label}")


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    ratios = {(row.workload, row.label): ratio for row, ratio in with_ratios(figures["results"])}
    known = {one["workload"] for one in figures["verdicts"]}
    nothing = [{"workload": name, "sentence": "Nothing to compare."} for name in workload_names(summary) if name not in known]
    return LAYOUT.text(summary, told_of(figures["verdicts"], nothing), ratios) + noise(summary, figures)


def verdicts(found: list[Standing]) -> list[Verdict]:
    """A request that allocates nothing costs the same with every allocator."""
    return [demand(sentence(row, ratio), ratio, SAME if row.workload == PING.name else None, metric=cost_of(row).key,
                   workload=row.workload, model=row.first["model"], allocator=row.first["allocator"], reference=OURS)
            for row, ratio in found if ratio]


def compose(document: Document) -> dict[str, Any]:
    return {"verdicts": verdicts(with_ratios(document.results))}


def options(parser: Parser, build: Build) -> None:
    parser.description = f"{ABOUT}: kv under redis-benchmark.\nkv: PING, which allocates nothing; kv-set: SET of 64 bytes."
    works = {PING.name: PING, SET.name: SET}
    parser.option("--workload", list_of(lambda name: works[one_of(*works)(name)]),
                  "comma-separated: kv, kv-set (default: both)", default=[PING, SET])
    parser.option("--allocators", list_of(one_of(*LIBRARIES)), f"comma-separated: {', '.join(list(LIBRARIES)[1:])} "
                  "(default: all that are installed); glibc is always included", default=[])
    parser.option("--connections", number_in(1, 10_000), "concurrent connections (default: 100)", default=100)
    parser.flag("--shared-cpus", "server and client share all CPUs, so that the server's threads run at the same time")


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    counting, models = arguments.count is not None, arguments.models
    if counting and valgrind.obstacle():
        raise UsageError(f"--count: {valgrind.obstacle()}")
    if counting and BY_TIME in models:
        models = [model for model in models if model != BY_TIME]
        why = f"--count: the instruction counts of {BY_TIME} do not repeat, since offloading depends on time"
        if not models:
            raise UsageError(why)
        print(f"{why}; it is skipped.", file=sys.stderr)
    programs, libraries = RedisPrograms.find(build, arguments.kv, with_server=False), find_libraries(arguments.allocators)
    care = ServerCare(lambda about: preload(about["allocator"], libraries),
                      lambda about, pid: require_allocator(about["allocator"], read_text(f"/proc/{pid}/maps")))
    works = [work.but(connections=1 if counting else arguments.connections) for work in arguments.workload]
    return Plan({"workloads": works, "counters": False, "shared_cpus": arguments.shared_cpus,
                 "contenders": [Contender(model=model, allocator=name) for model in models for name in libraries],
                 **({"rounds": 1} if counting else {})},
                measure_instructions(programs, care) if counting else measure_redis_load(programs, care))


EXPERIMENT = Experiment(
    "allocators", UsualRuns(5, 0.4, 0.1), UsualRuns(3, 0.2, 0.05), plan, compose, table, options=options,
    shared=("--models", "--count", "--loops", "--workers"), programs=("kv",),
    examples=("--json allocators.json", "--models 4 --workload kv-set --shared-cpus --rounds 9", "--count instructions"),
    notes=("ratio: the CPU for a request over that with glibc in the same model and round. --count leaves out model 5.",))
