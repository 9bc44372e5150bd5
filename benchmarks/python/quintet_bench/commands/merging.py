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
from ..errors import RunError
from ..machine import Environment, cpu_text
from ..options import Parser, number_in, parse_duration, parse_range
from ..plan import Settings, place
from ..probe import add_round_options, measure_rounds, probe
from ..results import Result, Sample, write_results
from ..runner import PATIENCE_S
from ..text import grouped, mebibytes, micros, percent, significant

ABOUT = "Compares merged writes with one write for each message, on one connection"
ROUNDS, DURATIONS, SIZES, LARGEST = (5, 3), ("1s", "200ms"), ["8..128", "8..16384"], 65536
LABELS = {True: "merged", False: "a write for each message"}
COLUMNS = (("messages/s", 13, "messages_per_s", grouped), ("MB/s", 9, "bytes_per_s", lambda v: significant(v / 1e6)),
           ("writes/msg", 11, "writes_per_message", significant), ("CPU/message", 13, "sender_cpu_us_per_message", micros),
           ("its CPU", 8, "sender_cpu", percent), ("receiver", 10, "receiver_cpu", percent),
           ("memory", 10, "sender_rss_bytes", mebibytes))


def measure(a: argparse.Namespace, build: Build, cpus: list[str], sizes: str, merging: bool) -> Result:
    """Starts a sender, receives from it, and ends it. `cpus`: of the sender and of the receiver."""
    with tempfile.NamedTemporaryFile(suffix=".json") as counters:
        command = [a.program or build.program, "serve", "--model", a.model, "--engine", a.engine, "--workload", "ask",
                   "--pieces", sizes, "--pin", cpus[0], "--loops", "1", "--json", counters.name, "--exit-with-parent"]
        command += ["--static-output", str(a.static_output)] if a.static_output else []
        with Child("the server", command + ([] if merging else ["--no-merging"])) as sender:
            address = sender.await_line("listening on ", time.monotonic() + PATIENCE_S)
            found = probe(build.program, ["receive", address, "--server-pid", str(sender.pid), "--sizes", sizes,
                                          "--cpus", cpus[1]], a.duration)
            sender.kill(signal.SIGTERM)
            if sender.wait(time.monotonic() + PATIENCE_S) != 0:
                raise RunError(f"after SIGTERM, the server {sender.ending()}")
        whole = json.load(open(counters.name, encoding="utf-8"))
    found["writes_per_message"] = whole["sends"] / (whole["bytes_sent"] / found["mean_message_bytes"])
    return {"sizes": sizes, "merging": merging} | {key: found[key] for _, _, key, _ in COLUMNS}


def merging_table(results: list[Result], about: str) -> str:
    out = ""
    for sizes in dict.fromkeys(r["sizes"] for r in results):
        titles = "".join(f"{title:>{width}}" for title, width, _, _ in COLUMNS)
        out += f"{sizes.replace('..', ' to ')} B, one connection, {about}\n{'':28}{titles}\n"
        rows = [[r for r in results if (r["sizes"], r["merging"]) == (sizes, merging)] for merging in LABELS]
        for runs in filter(None, rows):
            cells = (f"{form(statistics.median(r[key] for r in runs)):>{width}}" for _, width, key, form in COLUMNS)
            out += f"  {LABELS[runs[0]['merging']]:<26}{''.join(cells)}\n"
        # Round by round, because a disturbance affects both runs of a round.
        if ratios := [one["messages_per_s"] / other["messages_per_s"] for one, other in zip(*rows)]:
            times, low, high = map(significant, (Sample(tuple(ratios)).median, min(ratios), max(ratios)))
            out += f"  -> merged: {times} times as many messages (rounds from {low} to {high})\n\n"
    return out


def add_options(parser: Parser, build: Build) -> None:
    add_round_options(parser, ROUNDS, DURATIONS)
    parser.option("--model", build.model, "model of the sender (default: single_reactor)", default="single_reactor")
    parser.option("--engine", build.engine, f"I/O engine of the sender: {', '.join(build.engines)} (default: automatic)",
                  default="automatic")
    parser.option("--sizes", lambda text: [parse_range(text, LARGEST)], "MIN..MAX bytes of a message (default: 8..128, then "
                  "8..16384)", default=SIZES)
    parser.option("--static-output", number_in(0), "bytes of send buffers that the loop allocates in advance (default: 0)",
                  default=0)
    parser.option("--program", str, "path of the quintet-bench that sends (default: this one)", metavar="FILE")
    parser.examples("quintet-bench merging --sizes 8..128",
                    "quintet-bench merging --model reactor_pool --rounds 9 --json merging.json")


def run(arguments: argparse.Namespace, build: Build) -> int:
    a, machine, results = arguments, Environment(build), []
    a.rounds, a.duration = a.rounds or ROUNDS[a.quick], a.duration or parse_duration(DURATIONS[a.quick])
    cpus = [cpu_text(some) for some in place(Settings(build.program), build.workload("echo"))]

    def task(sizes: str, merging: bool, number: int) -> str:
        results.append(measure(a, build, cpus, sizes, merging) | {"round": number})
        return f"{grouped(results[-1]['messages_per_s'])} messages/s"
    whole = measure_rounds(a.rounds, a.duration, [(f"{sizes} B {LABELS[merging]}", functools.partial(task, sizes, merging))
                                                  for sizes in a.sizes for merging in LABELS])
    settings: dict[str, Any] = {key: getattr(a, key) for key in ("model", "engine", "static_output", "rounds")}
    settings |= {"duration_s": a.duration, "interrupted": not whole}
    table = merging_table(results, f"{a.model} (sender on CPU {cpus[0]}, receiver on CPU {cpus[1]})")
    write_results(table, {"quintet": build.version, "command": "merging", "environment": machine.finish(),
                          "settings": settings, "results": results}, a.json)
    return 0 if whole else 130
