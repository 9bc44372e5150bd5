# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench memlat`: rounds over all levels of memory, and over pairs of CPUs."""
import argparse
import dataclasses
import functools
import os
from typing import Any

from ..build import Build
from ..caches import read_caches, working_sets
from ..machine import Environment, allowed_cpus, parse_cpus
from ..options import Parser, parse_duration
from ..probe import add_round_options, measure_rounds, probe
from ..results import Sample, number, write_results
from ..text import grouped, mebibytes

ABOUT = "Measures the latency of L1, L2, L3 and DRAM, and of a cache line between two CPUs"
ROUNDS, DURATIONS, MOST_PAIRS = (5, 3), ("200ms", "50ms"), 16
NOT_KNOWN = ["whether two CPUs of a virtual machine are two cores, or two threads of one",
             "which part of a load is address translation, if the kernel gave no huge pages",
             "who else uses a cache that the CPU shares with others: less of it may be free than the kernel says"]


@dataclasses.dataclass
class Latency:
    name: str                           # "L1", "CPU 0 to CPU 1"
    probe: list[str]                    # kind and options
    bytes: int | None = None            # of the working set; None: a cache line goes to and fro
    ns: list[float] = dataclasses.field(default_factory=list)

    @property
    def sample(self) -> Sample:
        return Sample(tuple(self.ns))


def make_latencies(cpus: list[int]) -> tuple[list[Latency], list[str]]:
    """Returns what to measure, and what cannot be known."""
    first, caches = cpus[0], read_caches(cpus[0])
    sets, unknown = working_sets(caches, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
    unknown += [] if caches else ["L1, L2, L3: the kernel does not list them"]
    unknown += [] if len(cpus) > 1 else ["how long a cache line takes from one CPU to another: there is one CPU"]
    out = [Latency(name, ["memory", "--cpus", str(first), "--bytes", str(size)], size) for name, size in sets.items()]
    out += [Latency(f"CPU {first} to CPU {other}", ["ping-pong", "--cpus", f"{first},{other}"])
            for other in cpus[1:MOST_PAIRS + 1]]
    return out, unknown + NOT_KNOWN


def size_text(size: int | None) -> str:
    return "one line" if not size else f"{grouped(size / 1024)} KiB" if size < 1 << 20 else mebibytes(size)


def _line(one: Latency) -> str:
    s = one.sample
    return f"  {one.name:<22}{size_text(one.bytes):>12}{s.median:>10.2f} ns{f'{s.low:.2f} to {s.high:.2f}':>20}\n"


def memlat_table(latencies: list[Latency], unknown: list[str]) -> str:
    loads, passes = ([one for one in latencies if one.ns and bool(one.bytes) is load] for load in (True, False))
    out = f"a load that waits for the previous one\n{'working set':>36}{'median':>13}{'rounds from':>20}\n"
    out += "".join(map(_line, loads))
    if len(loads) > 1 and loads[-2].sample.median >= 0.7 * loads[-1].sample.median:
        out += (f"  {loads[-2].name} is hardly faster than {loads[-1].name}: others use it at the same time, or it is "
                "smaller than the kernel says\n")
    out += "a cache line from one CPU to another\n" + "".join(map(_line, passes)) + "\nNot known:\n"
    return out + "".join(f"  {text}\n" for text in unknown)


def compose(latencies: list[Latency], unknown: list[str]) -> dict[str, Any]:
    return {"results": [{"what": "load" if one.bytes else "pass", "name": one.name, "bytes": one.bytes,
                         "median_ns": number(one.sample.median), "min_ns": number(one.sample.low),
                         "max_ns": number(one.sample.high), "rounds": [number(ns) for ns in one.ns]}
                        for one in latencies if one.ns], "not_known": unknown}


def add_options(parser: Parser, build: Build) -> None:
    add_round_options(parser, ROUNDS, DURATIONS)
    parser.option("--cpus", parse_cpus, "loads run on the first CPU; cache lines go from it to each of the others "
                  f"(default: all allowed CPUs, at most {MOST_PAIRS + 1})")
    parser.examples("quintet-bench memlat", "quintet-bench memlat --cpus 0,4,8 --rounds 9 --json memlat.json")


def run(arguments: argparse.Namespace, build: Build) -> int:
    machine, duration_s = Environment(build), arguments.duration or parse_duration(DURATIONS[arguments.quick])
    latencies, unknown = make_latencies(arguments.cpus or allowed_cpus())

    def measure(one: Latency, _: int) -> str:
        found = probe(build.program, one.probe, duration_s)
        one.ns.append(found["ns_per_load" if one.bytes else "ns_one_way"])
        return f"{one.ns[-1]:.2f} ns"
    whole = measure_rounds(arguments.rounds or ROUNDS[arguments.quick], duration_s,
                           [(one.name, functools.partial(measure, one)) for one in latencies])
    about = {"quintet": build.version, "command": "memlat", "environment": machine.finish(), "interrupted": not whole}
    write_results(memlat_table(latencies, unknown), about | compose(latencies, unknown), arguments.json)
    return 0 if whole else 130
