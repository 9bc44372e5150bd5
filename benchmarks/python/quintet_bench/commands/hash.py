# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench hash`: rounds over the checksums that a message can carry, and over sizes of messages."""
import argparse
import functools
from typing import Any

from ..build import Build
from ..columns import aligned
from ..machine import Environment, allowed_cpus
from ..measuring import UsualRuns, add_measuring_options, settings_of
from ..options import Parser, list_of, one_of, size_in
from ..probe import STARTING_S, probe
from ..progress import perform_all
from ..results import Result, Sample, write_results
from ..statistics import ratio_json, ratio_text
from ..text import grouped, percent, significant
from .memlat import size_text

ABOUT = "Measures checksums of messages: CRC by map, table and instruction, murmur3, XXH3"
PUBLISHED = {"map-crc32": 35e6, "crc32": 498e6, "murmur3": 3906e6, "crc32c": 10970e6}     # bytes/s of 16 KiB
KINDS = ("map-crc32", "map-crc64", "crc32", "crc64", "murmur3", "crc32c", "xxh3")
KEYS = ("kind", "bytes", "bytes_per_s", "ns_per_hash", "error")
SIZES, DEFAULT, QUICK = [64, 256, 1024, 4096, 16384], UsualRuns(5, 0.1), UsualRuns(3, 0.05)


def speeds(results: list[Result], size: int) -> dict[str, Sample]:
    """Bytes a second of each kind that has figures, in the order of the rounds."""
    found: dict[str, list[float]] = {}
    for r in results:
        if r["bytes"] == size and not r["error"]:
            found.setdefault(r["kind"], []).append(r["bytes_per_s"])
    return {kind: Sample(tuple(values)) for kind, values in found.items()}


def conclude(results: list[Result]) -> list[dict[str, Any]]:
    """The ratios of the fastest kind to the next one, in each round that has both: of the smallest and the largest size."""
    sizes, out = [r["bytes"] for r in results], []
    for size in sorted({min(sizes), max(sizes)} if sizes else ()):
        ranked = sorted(speeds(results, size).items(), key=lambda item: -item[1].median)
        for (fastest, first), (following, second) in zip(ranked[:1], ranked[1:]):
            ratio = Sample(tuple(a / b for a, b in zip(first.values, second.values)))
            sentence = f"fastest at {size_text(size)}: {fastest}, with {ratio_text(ratio, 'speed', following)}"
            out.append(ratio_json({"bytes": size, "fastest": fastest, "next": following}, "bytes_per_s", ratio)
                       | {"sentence": sentence})
    return out


def hash_table(results: list[Result], about: str) -> str:
    kinds, sizes = (list(dict.fromkeys(r[key] for r in results)) for key in ("kind", "bytes"))
    found = {size: speeds(results, size) for size in sizes}
    if not any(found.values()):
        return ""
    rows = [[kind, *(significant(of[kind].median / 1e6) if kind in of else "-" for of in found.values()),
             grouped(PUBLISHED[kind] / 1e6) if kind in PUBLISHED else "-"] for kind in kinds]
    absent = {r["kind"]: r["error"] for r in results if r["error"]}
    costs = (f"{kind} {significant(min(sizes) / sample.median * 1e9)}" for kind, sample in found[min(sizes)].items())
    spread, where = max((sample.spread, f"{kind} at {size_text(size)}") for size, of in found.items()
                        for kind, sample in of.items())
    return "".join((
        f"MB/s of a checksum, {about}\n", aligned([["", *map(size_text, sizes), "published"], *rows]),
        *(f"  {kind}: {why}\n" for kind, why in absent.items()),
        "Published: 16 KiB on another machine with 2 CPUs, an order of magnitude.\n\n",
        f"ns for a message of {size_text(min(sizes))}: {', '.join(costs)}\n",
        *(f"  -> {ratio['sentence']}\n" for ratio in conclude(results)),
        f"Rounds differ by at most {percent(spread)} ({where}).\n"))


def add_options(parser: Parser, build: Build) -> None:
    parser.option("--kinds", list_of(one_of(*KINDS)), f"comma-separated (default: {','.join(KINDS)})", default=KINDS)
    parser.option("--sizes", list_of(size_in(1, 1 << 20)), "comma-separated bytes of a message (default: 64,256,1k,4k,16k)",
                  default=SIZES)
    add_measuring_options(parser, DEFAULT, QUICK)
    parser.examples("quintet-bench hash", "quintet-bench hash --kinds crc32c,xxh3 --sizes 64,1400,64k --json hash.json")


def run(arguments: argparse.Namespace, build: Build) -> int:
    s, machine, results = settings_of(arguments, build, DEFAULT, QUICK), Environment(build), list[Result]()
    cpu = allowed_cpus()[-1]            # interrupts and other programs tend to run on CPU 0

    def measure(number: int, size: int, kind: str) -> str:
        found = probe(s.program, ["hash", "--kind", kind, "--bytes", str(size), "--cpus", str(cpu)], s.duration_s)
        results.append(dict.fromkeys(KEYS) | found | {"round": number})
        return results[-1]["error"] or f"{significant(found['bytes_per_s'] / 1e6)} MB/s"
    complete = perform_all([(f"{kind} of {size_text(size)}, round {number}", s.duration_s + STARTING_S,
                             functools.partial(measure, number, size, kind))
                            for number in range(1, s.rounds + 1) for size in arguments.sizes for kind in arguments.kinds])
    settings = {"cpu": cpu, "rounds": s.rounds, "duration_s": s.duration_s, "interrupted": not complete}
    write_results(hash_table(results, f"medians of {s.rounds} rounds on CPU {cpu}"),
                  {"quintet": build.version, "command": "hash", "environment": machine.finish(), "settings": settings,
                   "ratios": conclude(results), "published": PUBLISHED, "results": results}, s.json_file)
    return 0 if complete else 130
