# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench merging`: messages on one connection, as fast as possible: merged writes beside a write for each."""
import argparse
import functools
import json
import signal
import statistics
import tempfile
import time
from typing import Any

from ..build import Build
from ..child import Child
from ..columns import aligned
from ..errors import RunError
from ..machine import Environment, cpu_text, read_text
from ..measuring import UsualRuns, add_measuring_options, settings_of
from ..options import Parser, number_in, parse_range
from ..plan import Settings, place
from ..probe import STARTING_S, probe
from ..progress import perform_all
from ..results import METRICS, Result, Sample, write_results
from ..runner import PATIENCE_S, Observer, run_load
from ..statistics import ratio_text
from ..table import Format
from ..text import grouped, mebibytes, micros, percent, significant

ABOUT = "Compares merged writes with one write for each message, on one connection"
DEFAULT, QUICK, SIZES, LARGEST = UsualRuns(5, 1), UsualRuns(3, 0.2), ["8..128", "8..16384"], 65536
LABELS = {True: "merged", False: "a write for each message"}
Columns = dict[str, tuple[str, Format]]  # the first one is compared
COLUMNS: Columns = {
    "messages_per_s": ("messages/s", grouped), "bytes_per_s": ("MB/s", lambda v: significant(v / 1e6)),
    "writes_per_message": ("writes/msg", significant), "sender_cpu_us_per_message": ("CPU/message", micros),
    "sender_cpu": ("its CPU", percent), "receiver_cpu": ("receiver", percent), "sender_rss_bytes": ("memory", mebibytes)}
LATENCY_COLUMNS: Columns = {"p50_us": ("p50", micros), "p99_us": ("p99", micros), "requests_per_s": ("messages/s", grouped),
                            "server_cpu_us_per_request": ("CPU/message", micros)}


def measure(sender_command: list[str], s: Settings, cpus: list[str], sizes: str, merging: bool) -> Result:
    """Starts a sender, receives from it, and ends it. `cpus`: of the sender and of the receiver."""
    with tempfile.NamedTemporaryFile(suffix=".json") as counters:
        command = [*sender_command, "--pieces", sizes, "--pin", cpus[0], "--json", counters.name]
        with Child("the server", command + ["--no-merging"] * (not merging)) as sender:
            address = sender.await_line("listening on ", time.monotonic() + PATIENCE_S)
            found = probe(s.program, ["receive", address, "--server-pid", str(sender.pid), "--sizes", sizes,
                                      "--cpus", cpus[1]], s.duration_s)
            sender.kill(signal.SIGTERM)
            if sender.wait(time.monotonic() + PATIENCE_S) != 0:
                raise RunError(f"after SIGTERM, the server {sender.ending()}")
        total = json.loads(read_text(counters.name))
    found["writes_per_message"] = total["sends"] / (total["bytes_sent"] / found["mean_message_bytes"])
    return {"sizes": sizes, "merging": merging} | {key: found[key] for key in COLUMNS}


def measure_latency(sender_command: list[str], s: Settings, cpus: list[str], sizes: str, merging: bool) -> Result:
    """Measures one message at a time, which would have to wait for others if merging depended on a timer."""
    result: Result = dict.fromkeys(METRICS)
    with Child("the server", [*sender_command, "--pin", cpus[0]] + ["--no-merging"] * (not merging)) as sender:
        address = sender.await_line("listening on ", time.monotonic() + PATIENCE_S)
        command = [s.program, "load", address, "--workload", "ask", "--connections", "1", "--size", sizes, "--pin", cpus[1],
                   "--duration", f"{s.duration_s:.3f}", "--warm-up", f"{STARTING_S:.3f}"]
        run_load(result, command, sender, s.duration_s, Observer())
    if result["failed"]:
        raise RunError(f"{result['failed']} requests failed")
    return {"sizes": sizes, "merging": merging} | {key: result[key] for key in LATENCY_COLUMNS}


def merging_table(results: list[Result], about: str, columns: Columns = COLUMNS) -> str:
    out = ""
    for sizes in dict.fromkeys(r["sizes"] for r in results):
        runs = {merging: [r for r in results if (r["sizes"], r["merging"]) == (sizes, merging)] for merging in LABELS}
        rows = [["", *(title for title, _ in columns.values())]]
        rows += [[LABELS[merging], *(form(statistics.median(r[key] for r in mine)) for key, (_, form) in columns.items())]
                 for merging, mine in runs.items() if mine]
        out += f"{sizes.replace('..', ' to ')} B, one connection, {about}\n{aligned(rows)}"
        # Round by round, because a disturbance affects both runs of a round.
        compared = next(iter(columns))
        if ratios := [one[compared] / other[compared] for one, other in zip(*runs.values())]:
            times, low, high = map(significant, (statistics.median(ratios), min(ratios), max(ratios)))
            told = (f"{times} times as many messages (rounds from {low} to {high})" if columns is COLUMNS else
                    ratio_text(Sample(tuple(ratios)), columns[compared][0], LABELS[False]))
            out += f"  -> merged: {told}\n\n"
    return out


def add_options(parser: Parser, build: Build) -> None:
    add_measuring_options(parser, DEFAULT, QUICK)
    parser.option("--model", build.model, "model of the sender (default: single_reactor)", default="single_reactor")
    parser.option("--engine", build.engine, f"I/O engine of the sender: {', '.join(build.engines)} (default: automatic)",
                  default="automatic")
    parser.option("--sizes", lambda text: [parse_range(text, LARGEST)], "MIN..MAX bytes of a message (default: 8..128, then "
                  "8..16384)", default=SIZES)
    parser.flag("--latency", "instead, one message of 64 B at a time: does it wait for others?")
    parser.option("--static-output", number_in(0), "bytes of send buffers that the loop allocates in advance (default: 0)",
                  default=0)
    parser.examples("quintet-bench merging --sizes 8..128",
                    "quintet-bench merging --model reactor_pool --rounds 9 --json merging.json",
                    "quintet-bench merging --latency")


def run(arguments: argparse.Namespace, build: Build) -> int:
    a, s, machine, results = arguments, settings_of(arguments, build, DEFAULT, QUICK), Environment(build), list[Result]()
    cpus = [cpu_text(some) for some in place(s, build.workload("echo"))]
    sender = [s.program, "serve", "--model", a.model, "--engine", a.engine, "--workload", "ask", "--loops", "1",
              "--static-output", str(a.static_output), "--exit-with-parent"]

    perform, columns = (measure_latency, LATENCY_COLUMNS) if a.latency else (measure, COLUMNS)
    compared, (title, form) = next(iter(columns.items()))

    def task(number: int, sizes: str, merging: bool) -> str:
        results.append(perform(sender, s, cpus, sizes, merging) | {"round": number})
        return f"{title} {form(results[-1][compared])}"
    complete = perform_all([
        (f"{sizes} B {LABELS[merging]}, round {number}", s.duration_s + STARTING_S,
         functools.partial(task, number, sizes, merging))
        for number in range(1, s.rounds + 1) for sizes in (["64"] if a.latency else a.sizes) for merging in LABELS])
    settings: dict[str, Any] = {"model": a.model, "engine": a.engine, "static_output": a.static_output, "rounds": s.rounds,
                                "duration_s": s.duration_s, "interrupted": not complete}
    table = merging_table(results, f"{a.model} (sender on CPU {cpus[0]}, receiver on CPU {cpus[1]})", columns)
    write_results(table, {"quintet": build.version, "command": "merging", "environment": machine.finish(),
                          "settings": settings, "results": results}, s.json_file)
    return 0 if complete else 130
