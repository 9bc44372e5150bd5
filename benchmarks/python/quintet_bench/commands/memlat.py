# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench memlat`: rounds over all levels of memory, and over pairs of CPUs."""
import argparse
import functools
import glob
import itertools
import os
import re
from collections.abc import Sequence
from typing import Any

from ..build import Build
from ..child import probe
from ..demands import at_least, demand
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


def compose(document: Document) -> dict[str, Any]:
    """All rounds of a name together. A load from each level takes longer than one from the level below it."""
    sizes = {r["name"]: r["bytes"] for r in document.results}
    samples = {name: Sample(tuple(r["ns"] for r in document.results if r["name"] == name)) for name in sizes}
    found = [{"what": "load" if sizes[name] else "pass", "name": name, "bytes": sizes[name], "median_ns": number(s.median),
              "min_ns": number(s.low), "max_ns": number(s.high), "rounds": list(map(number, s.values))}
             for name, s in samples.items()]
    verdicts = []
    for below, above in itertools.pairwise(name for name, size in sizes.items() if size):
        ratio = Sample(tuple(a / b for a, b in zip(samples[above].values, samples[below].values)))
        verdicts.append(demand(f"{above}: {ratio.median:.2f} times as long as {below}", ratio, at_least(1), metric="ns",
                               name=above, reference=below))
    return {"results": found, "verdicts": verdicts}


def table(_: Sequence[Result], document: dict[str, Any]) -> str:
    results = document["results"]
    rows = [[r["name"], size_text(r["bytes"]), f"{r['median_ns']:.2f} ns", f"{r['min_ns']:.2f} to {r['max_ns']:.2f}"]
            for r in results]
    out = ("a load that waits for the previous one, and one line's way from a CPU to another\n" +
           aligned([["", "working set", "median", "rounds from"], *rows]))
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
    # What is measured, by name: bytes of the working set, or None where a cache line goes to and fro, and the probe of it.
    latencies: dict[str, tuple[int | None, list[str]]] = {
        name: (size, ["memory", "--cpus", str(first), "--bytes", str(size)]) for name, size in sets.items()}
    latencies |= {f"CPU {first} to CPU {other}": (None, ["ping-pong", "--cpus", f"{first},{other}"])
                  for other in others[:MOST_PAIRS]}

    def measure(s: Settings, name: str) -> Result:
        size, probed = latencies[name]
        found = probe(s.program, probed, s.duration_s)
        return {"name": name, "bytes": size, "ns": found["ns_per_load" if size else "ns_one_way"]}
    return Probes(lambda s: [(name, functools.partial(measure, s, name)) for name in latencies],
                  lambda r: f"{r['ns']:.2f} ns", more={"not_known": unknown + NOT_KNOWN})


EXPERIMENT = Experiment(
    "memlat", UsualRuns(5, 0.2), UsualRuns(3, 0.05), plan, compose, table, options=options,
    examples=("", "--cpus 0,4,8 --rounds 9 --json memlat.json"),
    notes=("Loads go through a random cycle of cache lines, and each waits for the previous one. A line's way is one way.",))
