# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench allocators`: the same server with several memory allocators, each compared with glibc's in its round."""
from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from .. import valgrind
from ..build import Build
from ..columns import SPREAD, Column, rows_text
from ..errors import RunError, UsageError
from ..machine import read_text
from ..measuring import UsualRuns, add_measuring_options, exit_status, run_plan, settings_of
from ..options import Parser, number_in, one_of, parse_range
from ..plan import Contender, Run, Settings
from ..redis_load import PING, SET, RedisPrograms, ServerCare, measure_redis_load, run_benchmark, running_server
from ..results import Combination, Document, Result, Sample, summarise, workload_names, write_results
from ..runner import Measure
from ..statistics import paired_ratio, ratio_json, ratio_text
from ..table import title_line
from ..text import grouped, joined, mebibytes, micros
from ..verdict import CPU, SPEED, cost_of, noise_sentence

ABOUT = "Compares memory allocators, preloaded into the same server"
DEFAULT, QUICK = UsualRuns(5, 0.4, 0.1), UsualRuns(3, 0.2, 0.05)
OURS = "glibc"
# Debian's package, and names of the library for the dynamic linker, the usual one first.
LIBRARIES = {OURS: ("", ""), "tcmalloc": ("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4"),
             "jemalloc": ("libjemalloc2", "libjemalloc.so.2"),
             "mimalloc": ("libmimalloc2.0", "libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.3")}
ENOUGH_ROUNDS = 5                       # all ratios are on the same side by chance in one case of 16; of three rounds in 4
FEW, MANY = 2000, 8000                  # requests of a counted run
BY_TIME = "loop_per_thread_pool"        # its loops give requests to workers by how long they take, so counts do not repeat
COUNTED: tuple[Column, ...] = (("instructions", 14, "instructions_per_request", grouped), ("ratio", 8, "ratio", str))
TIMED: tuple[Column, ...] = (
    ("CPU/req", 10, CPU, micros), ("ratio", 7, "ratio", str), ("its rounds", 14, "range", str),
    ("requests/s", 12, SPEED, grouped), SPREAD, ("p50", 9, "p50_us", micros), ("p99", 9, "p99_us", micros),
    ("memory", 10, "server_rss_bytes", mebibytes))
Block = list[tuple[Combination, Sample | None]]     # an allocator, and its cost over glibc's


def preloading(library: str) -> list[str]:
    """Words before a command line, so that it runs with this library only."""
    return ["env", f"LD_PRELOAD={library}"]


def find_libraries(named: list[str]) -> dict[str, str]:
    """The names for the dynamic linker of the named allocators, or of all. It only warns of a library that it lacks."""
    out = {}
    for name in (name for name in LIBRARIES if not named or name in (OURS, *named)):
        package, *libraries = LIBRARIES[name]
        for library in libraries:
            tried = subprocess.run([*preloading(library), "true"], capture_output=True, text=True, timeout=10)
            if "cannot be preloaded" not in tried.stderr:
                out[name] = library
                break
        else:
            absence = f"{name}: {libraries[0]} is not installed; apt-get install {package}"
            if named:
                raise UsageError(absence)
            print(absence, file=sys.stderr)
    return out


def require_allocator(name: str, maps: str) -> None:
    """Raises RunError unless the server with this /proc/PID/maps has exactly this allocator."""
    files = [os.path.basename(line.split(None, 5)[5]) for line in maps.splitlines() if "/" in line]
    found = [other for other in LIBRARIES if any(file.startswith(f"lib{other}") for file in files)]
    if not maps:
        raise RunError("cannot read the server's /proc/PID/maps, so its allocator is unknown")
    if set(found) - {name}:
        raise RunError(f"the server already uses {joined(found)}, so {name} cannot be measured")
    if name not in (OURS, *found):
        raise RunError(f"{name} was not preloaded: it is not in the server's /proc/PID/maps")


def measure_instructions(programs: RedisPrograms, care: ServerCare) -> Measure:
    """Counts with callgrind, as the slope between two runs of different length."""
    def count(about: Result, requests: int) -> float:
        with tempfile.NamedTemporaryFile(suffix=".callgrind") as log:
            words = ["valgrind", "--fair-sched=yes", f"--log-file={log.name}", *valgrind.CALLGRIND]  # it passes the library on
            watched = ServerCare(lambda about: care.prefix(about) + words, care.inspect)
            with running_server(programs, about, watched) as (server, port):
                run_benchmark(programs, about, port, requests)
                server.kill(signal.SIGTERM)
                if server.wait(time.monotonic() + valgrind.PATIENCE_S) != 0:
                    raise RunError(f"the server {server.ending()}")
            return valgrind.collected_instructions(read_text(log.name))

    def measure(result: Result, s: Settings, run: Run) -> None:
        result["server_cpus"] = result["client_cpus"] = str(valgrind.cpu())
        slope = (count(result, MANY) - count(result, FEW)) / (MANY - FEW)
        result |= {"requests": FEW + MANY, "failed": 0, "instructions_per_request": slope}
    return measure


def blocks_of(document: Document) -> dict[tuple[str, str], Block]:
    """The allocators of each workload and model."""
    out: dict[tuple[str, str], Block] = {}
    for row in summarise(document.results):
        model, name = row.first["model"], row.first["allocator"]
        ratio = paired_ratio(document.results, row.workload, cost_of(row).key,
                             lambda r: (r["model"], r["allocator"]) == (model, name),
                             lambda r: (r["model"], r["allocator"]) == (model, OURS))
        out.setdefault((row.workload, model), []).append((row, ratio if name != OURS else None))
    return out


def sentence(model: str, block: Block) -> str:
    told, level, few, counted = list[str](), list[str](), False, cost_of(block[0][0]).counted
    for row, ratio in ((row, ratio) for row, ratio in block if ratio):
        few = len(ratio.values) < ENOUGH_ROUNDS
        # Instruction counts repeat almost exactly, so a small tolerance is enough.
        if abs(ratio.median - 1) >= 0.005 if counted else not few and not ratio.low <= 1 <= ratio.high:
            told.append(f"{row.first['allocator']} needs {ratio_text(ratio, cost_of(row).word, OURS)}")
        else:
            level.append(row.first["allocator"])
    if level:
        told.append(joined([*level, OURS]) + (" need as many instructions" if counted else " cannot be told apart by CPU" +
                                              " in so few rounds" * few))
    return f"{model}: {'; '.join(told) or 'nothing to compare'}."


def table(document: Document) -> str:
    out, blocks, summary = "", blocks_of(document), summarise(document.results)
    for work in workload_names(summary):
        mine = {model: block for (name, model), block in blocks.items() if name == work}
        out += title_line(next(iter(mine.values()))[0][0]) + "\n"
        for model, block in mine.items():
            ratios = {row.label: ratio for row, ratio in block}

            def texts(row: Combination) -> dict[str, str]:
                ratio = ratios[row.label]
                return {"ratio": f"{ratio.median:.2f}" if ratio else "1" if row.first["allocator"] == OURS else "-",
                        "range": f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio and len(ratio.values) > 1 else ""}
            out += rows_text([row for row, _ in block], COUNTED if cost_of(block[0][0]).counted else TIMED, texts, 24,
                             lambda row: f"    {row.first['allocator']}", title=f"  {model:<22}")
        out += "".join(f"  -> {sentence(*item)}\n" for item in mine.items()) + "\n"
    return out + (noise_sentence(summary) + "\n" if any(SPEED in row.samples for row in summary) else "")


def compose(document: Document) -> dict[str, Any]:
    blocks = blocks_of(document).items()
    return document.figures() | {
        "ratios": [ratio_json({"workload": work, "model": model, "allocator": row.first["allocator"], "reference": OURS},
                              cost_of(row).key, ratio) for (work, model), block in blocks for row, ratio in block if ratio],
        "verdicts": [{"workload": work, "model": model, "sentence": sentence(model, block)} for (work, model), block in blocks]}


def add_options(parser: Parser, build: Build) -> None:
    parser.description = f"{ABOUT}: kv under redis-benchmark.\nkv: PING, which allocates nothing; kv-set: SET of 64 bytes."
    works = {PING.name: PING, SET.name: SET}
    parser.option("--workload", lambda text: [works[one_of(*works)(name)] for name in text.split(",")],
                  "comma-separated: kv, kv-set (default: both)", default=[PING, SET])
    parser.option("--models", build.model_list, "comma-separated names or numbers (default: all five)", default=build.models)
    parser.option("--allocators", lambda text: [one_of(*LIBRARIES)(name) for name in text.split(",")], "comma-separated: "
                  "tcmalloc, jemalloc, mimalloc (default: all that are installed); glibc is always included", default=[])
    parser.option("--count", one_of("instructions"), "count user-space instructions of each server with callgrind and one "
                  "connection, instead of time")
    parser.option("--connections", number_in(1, 10_000), "concurrent connections (default: 100)", default=100)
    parser.option("--loops", number_in(1, 1024), "loops of models 4 and 5 (default: the server's CPUs)")
    parser.option("--workers", parse_range, "MIN..MAX workers of models 3 and 5 (default: 1..4)", default="1..4")
    parser.flag("--shared-cpus", "server and client share all CPUs, so that the server's threads run at the same time")
    add_measuring_options(parser, DEFAULT, QUICK)
    parser.option("--kv", str, "path of the example kv (default: that of this build)", metavar="FILE")
    parser.examples("quintet-bench allocators --json allocators.json",
                    "quintet-bench allocators --models 4 --workload kv-set --shared-cpus --rounds 9",
                    "quintet-bench allocators --count instructions")


def run(arguments: argparse.Namespace, build: Build) -> int:
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
    s = settings_of(arguments, build, DEFAULT, QUICK, counters=False, shared_cpus=arguments.shared_cpus,
                    contenders=[Contender(model=model, allocator=name) for model in models for name in libraries],
                    workloads=[work.but(connections=1 if counting else arguments.connections) for work in arguments.workload])
    s.rounds = 1 if counting else s.rounds
    care = ServerCare(lambda about: preloading(libraries[about["allocator"]]),
                      lambda about, pid: require_allocator(about["allocator"], read_text(f"/proc/{pid}/maps")))
    measure = measure_instructions(programs, care) if counting else measure_redis_load(programs, care)
    document = run_plan("allocators", s, build, measure)
    write_results(table(document), compose(document), s.json_file)
    return exit_status(document)
