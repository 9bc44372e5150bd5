# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench allocators`: kv with several memory allocators, each compared with glibc's in its round."""
import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ..build import Build
from ..demands import Verdict, demand
from ..errors import RunError, UsageError
from ..experiment import Experiment, Plan, matching
from ..machine import read_text
from ..options import Parser, list_of, one_of
from ..plan import Contender, UsualRuns
from ..redis_load import PING, SET, RedisPrograms, ServerCare, measure_redis_load
from ..results import Combination, Document, Result, Sample, summarise
from ..statistics import ratio_text, ratios_to
from ..table import Layout, noise, told_of
from ..text import joined
from ..verdict import CPU, SPEED

ABOUT = "Compares memory allocators, preloaded into the same server"
CLAIMS = "2.18"
OURS, HUGE = "glibc", "glibc-huge-pages"   # the second asks for transparent huge pages, since glibc 2.35
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"
# Debian's package, and names of the library for the dynamic linker, the usual one first.
LIBRARIES = {OURS: ("", ""), HUGE: ("", ""), "tcmalloc": ("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4"),
             "jemalloc": ("libjemalloc2", "libjemalloc.so.2"),
             "mimalloc": ("libmimalloc2.0", "libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.3")}
SAME = 0.9, 1.1, "0.9 to 1.1, as it allocates nothing"
COLUMNS = (CPU, "ratio", "range=its rounds", SPEED, "spread", "p50_us", "p99_us", "server_rss_bytes")


def find_libraries(named: list[str]) -> dict[str, str]:
    """The names for the dynamic linker of the named allocators, or of all. It only warns of a library that it lacks."""
    def is_installed(library: str) -> bool:
        tried = subprocess.run(["env", f"LD_PRELOAD={library}", "true"], capture_output=True, text=True, timeout=10)
        return "cannot be preloaded" not in tried.stderr
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


def ratios_of(results: Sequence[Result]) -> dict[tuple[str, str], Sample | None]:
    """Over glibc in the same model and round."""
    return ratios_to(lambda row: matching(model=row.first["model"], allocator=OURS), results, lambda row: CPU)


def compose(document: Document) -> dict[str, Any]:
    """A request that allocates nothing costs the same with every allocator."""
    known = ratios_of(document.results)
    verdicts: list[Verdict] = [
        demand(f"{row.label} needs {ratio_text(ratio, 'CPU', OURS)}", ratio, SAME if row.workload == PING.name else None,
               metric=CPU, workload=row.workload, model=row.first["model"], allocator=row.first["allocator"], reference=OURS)
        for row in summarise(document.results) if (ratio := known[row.workload, row.label])]
    return {"verdicts": verdicts}


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    layout = Layout(lambda row: COLUMNS, lambda row: row.label)
    return layout.text(summary, told_of(figures["verdicts"]), ratios_of(figures["results"])) + noise(summary, figures)


def options(parser: Parser, build: Build) -> None:
    parser.description = f"{ABOUT}: kv under redis-benchmark.\nkv: PING, which allocates nothing; kv-set: SET of 64 bytes."
    works = {PING.name: PING, SET.name: SET}
    parser.option("--workload", list_of(lambda name: works[one_of(*works)(name)]),
                  "comma-separated: kv, kv-set (default: both)", default=[PING, SET])
    parser.option("--allocators", list_of(one_of(*LIBRARIES)), f"comma-separated: {', '.join(list(LIBRARIES)[1:])} "
                  "(default: all that are installed); glibc is always included", default=[])


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    programs, libraries = RedisPrograms.find(build, arguments.kv, with_server=False), find_libraries(arguments.allocators)
    care = ServerCare(lambda about: ["env", f"LD_PRELOAD={libraries[about['allocator']]}",
                                     *["GLIBC_TUNABLES=glibc.malloc.hugetlb=1"] * (about["allocator"] == HUGE)],
                      lambda about, pid: require_allocator(about["allocator"], read_text(f"/proc/{pid}/maps")))
    works = [work.but(connections=arguments.connections or work.connections) for work in arguments.workload]
    who = [Contender(model=model, allocator=name) for model in arguments.models for name in libraries]
    return Plan({"workloads": works, "counters": False, "contenders": who}, measure_redis_load(programs, care))


EXPERIMENT = Experiment(
    "allocators", UsualRuns(5, 0.4, 0.1), UsualRuns(3, 0.2, 0.05), plan, compose, table, options=options,
    shared=("--models", "--connections"), programs=("kv",),
    examples=("--json allocators.json", "--models 4 --workload kv-set --rounds 9"),
    notes=("ratio: the CPU for a request over that with glibc in the same model and round.",))
