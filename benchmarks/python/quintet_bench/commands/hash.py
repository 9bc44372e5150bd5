# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench hash`: rounds over the checksums that a message can carry: alone over sizes of messages, and in messages
over shared memory."""
import argparse
import functools
import itertools
import statistics
from typing import Any

from .. import published
from ..build import Build
from ..child import probe
from ..demands import Verdict, at_least, at_most
from ..experiment import Experiment, Probes, compared, matching, of_one
from ..machine import allowed_cpus
from ..options import Parser, list_of, one_of, size_in
from ..plan import Settings, UsualRuns
from ..results import Document, Result, Sample
from ..statistics import samples_by
from ..table import aligned, arrows
from ..text import grouped, percent, significant
from .memlat import size_text

ABOUT = "Measures checksums of messages: CRC by map, table and instruction, murmur3, XXH3"
CLAIMS = "1.7"
PUBLISHED = published.PUBLISHED["hash"]     # bytes/s of 16 KiB
KINDS = ("map-crc32", "map-crc64", "crc32", "crc64", "murmur3", "crc32c", "xxh3")
KEYS = ("kind", "bytes", "bytes_per_s", "ns_per_hash", "error", "carried")
SIZES = [64, 256, 1024, 4096, 16384]
CARRIED = 16384                             # bytes of a message over shared memory
NONE, SLOW, OURS = "none", "map-crc32", "xxh3"
SHARES = {"sender_share": "sender's CPU in it", "receiver_share": "receiver's CPU in it"}
LEAST_S = 0.3                               # of a run over shared memory


def speeds(results: list[Result], size: int) -> dict[str, Sample]:
    """Bytes a second of each kind that has figures."""
    return samples_by(filter(matching(bytes=size), results), "kind", "bytes_per_s")


def split(results: list[Result]) -> tuple[list[Result], list[Result]]:
    """The checksums alone, and those in messages over shared memory."""
    return [r for r in results if not r.get("carried")], [r for r in results if r.get("carried")]


def limits(results: list[Result]) -> list[Verdict]:
    """In messages over shared memory the slowest checksum takes the CPU, and the library's own hardly any."""
    shared = [r | {"checksum_share": statistics.mean(r[key] for key in SHARES)} for r in results]
    out = list[Verdict]()
    for kind, bound, theirs in ((SLOW, at_least(0.8), ", published 90 %"), (OURS, at_most(0.4), "")):
        out += of_one(shared, None, "checksum_share", matching(kind=kind), lambda share: (
            f"shared memory: {kind} has {percent(share.median)} of the CPU{theirs}"), bound, kind_of_hash=kind)
    return out + compared(results, None, "bytes_per_s", matching(kind=SLOW), matching(kind=NONE), lambda ratio: (
        f"shared memory: {SLOW} leaves {significant(ratio.median)} of the MB/s"), at_most(0.2), kind_of_hash=SLOW,
        reference=NONE)


def order(results: list[Result]) -> list[Verdict]:
    """Each published checksum is faster than the one below it, of the largest size."""
    size, out = max((r["bytes"] for r in results), default=0), list[Verdict]()
    found = speeds(results, size)
    for slow, fast in itertools.pairwise(kind for kind in PUBLISHED if kind in found):
        out += compared(results, None, "bytes_per_s", matching(bytes=size, kind=fast), matching(bytes=size, kind=slow),
                        lambda ratio: (f"{fast}: {significant(ratio.median)} times the speed of {slow}, published "
                                       f"{significant(PUBLISHED[fast] / PUBLISHED[slow])}"), at_least(1), kind_of_hash=fast,
                        reference=slow)
    return out


def compose(document: Document) -> dict[str, Any]:
    alone, carried = split(document.results)
    return {"verdicts": order(alone) + limits(carried), "published": PUBLISHED}


def carried_table(results: list[Result]) -> str:
    rows = [["", "messages/s", "MB/s", *SHARES.values()]]
    for kind in dict.fromkeys(r["kind"] for r in results):
        rate, *shares = (statistics.median(r[key] for r in results if r["kind"] == kind) for key in ("bytes_per_s", *SHARES))
        rows.append([kind, grouped(rate / CARRIED), significant(rate / 1e6), *map(percent, shares)])
    title = f"messages of {size_text(CARRIED)} over shared memory, whose checksum the sender makes and the receiver checks\n"
    return f"\n{title}{aligned(rows)}" if results else ""


def table(results: list[Result], document: dict[str, Any]) -> str:
    alone, carried = split(results)
    kinds, sizes = (list(dict.fromkeys(r[key] for r in alone)) for key in ("kind", "bytes"))
    found = {size: speeds(alone, size) for size in sizes}
    if not any(found.values()):
        return ""
    rows = [[kind, *(significant(of[kind].median / 1e6) if kind in of else "-" for of in found.values()),
             grouped(PUBLISHED[kind] / 1e6) if kind in PUBLISHED else "-"] for kind in kinds]
    absent = {r["kind"]: r["error"] for r in alone if r["error"]}
    costs = (f"{kind} {significant(min(sizes) / sample.median * 1e9)}" for kind, sample in found[min(sizes)].items())
    spread, where = max((sample.spread, f"{kind} at {size_text(size)}") for size, of in found.items()
                        for kind, sample in of.items())
    return "".join((
        "MB/s of a checksum, medians of {rounds} rounds on CPU {cpu}\n".format(**document["settings"]),
        aligned([["", *map(size_text, sizes), "published"], *rows]),
        *(f"  {kind}: {why}\n" for kind, why in absent.items()),
        "Published: 16 KiB on another machine with 2 CPUs, an order of magnitude.\n\n",
        f"ns for a message of {size_text(min(sizes))}: {', '.join(costs)}\n",
        carried_table(carried),
        arrows(document["verdicts"]),
        f"Rounds of a checksum alone differ by at most {percent(spread)} ({where}).\n"))


def options(parser: Parser, build: Build) -> None:
    parser.option("--kinds", list_of(one_of(*KINDS)), f"comma-separated (default: {','.join(KINDS)})", default=KINDS)
    parser.option("--sizes", list_of(size_in(1, 1 << 20)), "comma-separated bytes of a message (default: 64,256,1k,4k,16k)",
                  default=SIZES)


def plan(arguments: argparse.Namespace, build: Build) -> Probes:
    cpu = allowed_cpus()[-1]            # others tend to run on CPU 0

    def measure(s: Settings, size: int, kind: str) -> Result:
        return dict.fromkeys(KEYS) | probe(s.program, ["hash", "--kind", kind, "--bytes", str(size), "--cpus", str(cpu)],
                                           s.duration_s)

    def carry(s: Settings, kind: str) -> Result:
        told = ["--checksum", kind] if kind != NONE else []
        found = probe(s.program, ["bus", "--route", "shm", "--sizes", f"{CARRIED}..{CARRIED}", *told],
                      max(s.duration_s, LEAST_S))
        shares = {key: min(1.0, found[key.removesuffix("_share")]["checksum_share"]) for key in SHARES}
        return dict.fromkeys(KEYS) | shares | {"kind": kind, "bytes": CARRIED, "carried": True,
                                               "bytes_per_s": found["bytes_per_s"]}
    return Probes(lambda s: [*((f"{kind} of {size_text(size)}", functools.partial(measure, s, size, kind))
                               for size in arguments.sizes for kind in arguments.kinds),
                             *((f"{kind} over shared memory", functools.partial(carry, s, kind))
                               for kind in (NONE, *arguments.kinds))],
                  lambda r: r["error"] or f"{significant(r['bytes_per_s'] / 1e6)} MB/s", {"cpu": cpu})


EXPERIMENT = Experiment(
    "hash", UsualRuns(5, 0.1), UsualRuns(3, 0.05), plan, compose, table, options=options,
    examples=("", "--kinds crc32c,xxh3 --sizes 64,1400,64k --json hash.json"),
    notes=("map-*: a std::map as the table; crc32, crc64: an array; crc32c: the CPU's instruction; xxh3: the library's",
           "own. Messages are parts of 16 KiB of random bytes, because a branch predictor learns a short one that",
           "repeats. A checksum over shared memory is carried by `probe bus`, whose two processes share the CPUs there are.",
           "Demanded: map-crc32 has at least 80 % of their CPU and leaves at most 0.2 of the MB/s; xxh3 has at most 40 %."))
