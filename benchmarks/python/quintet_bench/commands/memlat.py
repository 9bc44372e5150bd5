# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench memlat`: rounds over all levels of memory, and over pairs of CPUs."""
import argparse
import functools
import glob
import itertools
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..build import Build
from ..child import probe
from ..demands import Verdict, at_least, demand
from ..experiment import Experiment, Probes
from ..machine import allowed_cpus, parse_cpus, read_text
from ..options import Parser
from ..plan import Settings, UsualRuns
from ..results import Document, Result, Sample, number
from ..table import aligned, arrows
from ..text import grouped, mebibytes

ABOUT = "Measures the latency of L1, L2, L3 and DRAM, and of a cache line between two CPUs"
CLAIMS = "5.15"
MOST_PAIRS = 16
NOT_KNOWN = ["whether two CPUs of a virtual machine are two cores, or two threads of one",
             "which part of a load is address translation, if the kernel gave no huge pages",
             "who else uses a cache that the CPU shares with others: less of it may be free than the kernel says"]


class Latency(NamedTuple):
    name: str                           # "L1", "CPU 0 to CPU 1"
    bytes: int | None                   # of the working set; None: a cache line goes to and fro
    probe: list[str]                    # kind and options


def read_caches(cpu: int, root: str = "/sys/devices/system/cpu") -> list[tuple[int, int]]:
    """Returns level and bytes of each, smallest level first; [] if the kernel lists none."""
    out = []
    for index in glob.glob(f"{root}/cpu{cpu}/cache/index*"):
        kind, level, size = (read_text(f"{index}/{name}").strip() for name in ("type", "level", "size"))
        if kind in ("Data", "Unified") and (found := re.fullmatch(r"(\d+)([KM]?)", size)):
            out.append((int(level), int(found[1]) << {"": 0, "K": 10, "M": 20}[found[2]]))
    return sorted(out)


def working_sets(caches: list[tuple[int, int]], most: int) -> tuple[dict[str, int], list[str]]:
    """Returns bytes by name, and why others are left out: they exceed `most`, or are hardly larger than the cache below.
    A set is half of its cache, to leave room for other data, or a quarter from L3 on, which is shared. DRAM gets four
    times the last cache, at least 64 MiB."""
    wanted = [(f"L{level}", size // (2 if level < 3 else 4)) for level, size in caches]
    below, sets, left_out = [0] + [size for _, size in caches], {}, []
    for (name, size), smaller in zip(wanted + [("DRAM", max(4 * below[-1], 64 << 20))], below):
        if size > most:
            left_out.append(f"{name}: it needs {mebibytes(size)}, and {mebibytes(most)} are available")
        elif size < 2 * smaller:
            left_out.append(f"{name}: it is hardly larger than the cache below it")
        else:
            sets[name] = size
    return sets, left_out


def size_text(size: int | None) -> str:
    if size and size % 1024:
        return f"{grouped(size)} B"
    return "one line" if not size else f"{grouped(size / 1024)} KiB" if size < 1 << 20 else mebibytes(size)


def figures(results: Sequence[Result]) -> list[dict[str, Any]]:
    """As the JSON file has them: all rounds of a name together."""
    names = dict.fromkeys((r["name"], r["bytes"]) for r in results)
    samples = [(name, size, Sample(tuple(r["ns"] for r in results if r["name"] == name))) for name, size in names]
    return [{"what": "load" if size else "pass", "name": name, "bytes": size, "median_ns": number(s.median),
             "min_ns": number(s.low), "max_ns": number(s.high), "rounds": list(map(number, s.values))}
            for name, size, s in samples]


def order(results: list[dict[str, Any]]) -> list[Verdict]:
    """A load from each level takes longer than one from the level below it."""
    loads = [r for r in results if r["what"] == "load"]
    ratios = [(below["name"], above["name"], Sample(tuple(a / b for a, b in zip(above["rounds"], below["rounds"]))))
              for below, above in itertools.pairwise(loads)]
    return [demand(f"{above}: {ratio.median:.2f} times as long as {below}", ratio, at_least(1), metric="ns", name=above,
                   reference=below) for below, above, ratio in ratios]


def compose(document: Document) -> dict[str, Any]:
    found = figures(document.results)
    return {"results": found, "verdicts": order(found)}


def grid(results: Sequence[Result]) -> list[list[str]]:
    rows = ([r["name"], size_text(r["bytes"]), f"{r['median_ns']:.2f} ns", f"{r['min_ns']:.2f} to {r['max_ns']:.2f}"]
            for r in results)
    return [["", "working set", "median", "rounds from"], *rows]


def table(_: Sequence[Result], document: dict[str, Any]) -> str:
    results = document["results"]
    out = "a load that waits for the previous one, and one line's way from a CPU to another\n" + aligned(grid(results))
    loads = [r for r in results if r["what"] == "load"]
    if len(loads) > 1 and loads[-2]["median_ns"] >= 0.7 * loads[-1]["median_ns"]:
        out += (f"  {loads[-2]['name']} is hardly faster than {loads[-1]['name']}: others use it at the same time, or it is "
                "smaller than the kernel says\n")
    return out + arrows(document["verdicts"]) + "\nNot known:\n" + "".join(f"  {text}\n" for text in document["not_known"])


def options(parser: Parser, build: Build) -> None:
    parser.option("--cpus", parse_cpus, "loads run on the first CPU; cache lines go from it to each of the others "
                  f"(default: all allowed CPUs, at most {MOST_PAIRS + 1})")


def plan(arguments: argparse.Namespace, build: Build) -> Probes:
    first, *others = arguments.cpus or allowed_cpus()
    caches = read_caches(first)
    sets, unknown = working_sets(caches, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
    unknown += [] if caches else ["L1, L2, L3: the kernel does not list them"]
    unknown += [] if others else ["how long a cache line takes from one CPU to another: there is one CPU"]
    latencies = [Latency(name, size, ["memory", "--cpus", str(first), "--bytes", str(size)]) for name, size in sets.items()]
    latencies += [Latency(f"CPU {first} to CPU {other}", None, ["ping-pong", "--cpus", f"{first},{other}"])
                  for other in others[:MOST_PAIRS]]

    def measure(s: Settings, one: Latency) -> Result:
        found = probe(s.program, one.probe, s.duration_s)
        return {"name": one.name, "bytes": one.bytes, "ns": found["ns_per_load" if one.bytes else "ns_one_way"]}
    return Probes(lambda s: [(one.name, functools.partial(measure, s, one)) for one in latencies],
                  lambda r: f"{r['ns']:.2f} ns", more={"not_known": unknown + NOT_KNOWN})


EXPERIMENT = Experiment(
    "memlat", UsualRuns(5, 0.2), UsualRuns(3, 0.05), plan, compose, table, options=options,
    examples=("", "--cpus 0,4,8 --rounds 9 --json memlat.json"),
    notes=("Loads go through a random cycle of cache lines, and each waits for the previous one. A line's way is one way.",))
