# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench bus`: processes that send messages over the bus, merged and not, beside what libatbus and tbus published."""
import argparse
import functools
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..build import Build
from ..child import probe
from ..demands import Verdict, at_least, at_most, demand
from ..errors import UsageError
from ..experiment import Experiment, Probes, compared, matching, of_one
from ..machine import allowed_cpus, cpu_text
from ..options import Parser, list_of, number_in, one_of, parse_range
from ..plan import Settings, UsualRuns
from ..published import PUBLISHED
from ..results import Document, Result, Sample, number
from ..statistics import Filter
from ..table import Columns, aligned, arrows, figure_rows
from ..text import grouped, micros, percent, significant

ABOUT = "Measures the bus between processes: merged messages and single ones, sizes, memory, shared segments"
CLAIMS = "1.15 1.16 1.17 1.18 1.19 1.20"
ROUTES, SMALLEST, LARGEST = ("shm", "unix", "tcp"), 8, 65536
SIZES = ["8..128", "8..16384", *(f"{128 << i}..{128 << i}" for i in range(9))]
SIDES = ("cpu", "cpu_us_per_message", "rss_bytes", "switches_per_message")
ALL_TO_ALL, TO_ONE, RELAYED = "all to all", "to one", "through a relay"
FLAT_SIZES = (128, 16384)               # whose throughputs are compared
FLAT, STEEP = 0.5, 0.1                  # MB/s of small messages over those of large ones, merged and single
MOST_WRITES = 0.05
STATIC = 8 << 20                        # bytes of static send buffers of a process
SMALL = "8..128"
PUBLISHED_WAYS = {"shm": TO_ONE, "tcp": RELAYED}        # by route, of the messages of one size
LEAST_GAIN = {("tcp", SMALL): 10.0, ("tcp", "8..16384"): 1.1}  # how many times as many messages merging must carry


class Kind(NamedTuple):
    """What the runs that one row sums up have in common."""
    route: str
    sizes: str                          # "MIN..MAX"
    merging: bool = True
    way: str = TO_ONE
    static: bool = False                # send buffers that are made at the start

    @property
    def runs(self) -> Filter:
        return matching(**self._asdict())

    @property
    def label(self) -> str:
        words = (sizes_text(self.sizes), form_text(self.merging, self.static), self.way * (self.way != TO_ONE))
        return f"{self.route}, {', '.join(filter(None, words))}"


def megabytes(size: float) -> str:
    return f"{significant(size / 1e6)} MB"


COLUMNS: Columns = {
    "messages_per_s": ("messages/s", grouped), "bytes_per_s": ("MB/s", lambda v: significant(v / 1e6)),
    "sender_cpu": ("sender", percent), "receiver_cpu": ("receiver", percent),
    "sender_rss_bytes": ("its memory", megabytes), "receiver_rss_bytes": ("receiver's", megabytes),
    "sender_cpu_us_per_message": ("sender/msg", micros), "receiver_cpu_us_per_message": ("receiver/msg", micros),
    "writes_per_message": ("writes/msg", significant)}
SEGMENTS: Columns = {
    "segments": ("segments", grouped), "segment_bytes": ("mapped", megabytes),
    "segment_resident_bytes": ("resident", megabytes), "sender_rss_bytes": ("memory of each", megabytes),
    "messages_per_s": ("messages/s", grouped)}


def sizes_text(sizes: str) -> str:
    low, _, high = sizes.partition("..")
    return f"{grouped(int(low))} B" if high in ("", low) else f"{grouped(int(low))} to {grouped(int(high))} B"


def least(sizes: str) -> int:
    return int(sizes.partition("..")[0])


def is_range(sizes: str) -> bool:
    return len(set(sizes.split(".."))) > 1


def form_text(merging: bool, static: bool = False) -> str:
    return ("merged" if merging else "a write for each") + ", static" * static


def summary_of(runs: Sequence[Result], kinds: Iterable[Kind]) -> list[Result]:
    """A row for each kind: medians, and the messages/s of each round."""
    out = []
    for kind in kinds:
        mine = list(filter(kind.runs, runs))
        if not mine:
            continue
        keys = dict.fromkeys((*COLUMNS, "checked")) | (dict.fromkeys(SEGMENTS) if kind.way == ALL_TO_ALL else {})
        medians = {key: number(float(f"{statistics.median(r[key] for r in mine):.4g}")) for key in keys}
        out.append({**kind._asdict(), **medians, "cpus_shared": mine[0]["cpus_shared"],
                    "rounds": [number(round(r["messages_per_s"])) for r in mine]})
    return out


def range_tables(rows: Sequence[Result], senders: int) -> str:
    """Ranges of sizes: ours, and the published figures in the same columns."""
    out, found = "", [r for r in rows if r["way"] == TO_ONE and is_range(r["sizes"])]
    for route, sizes in dict.fromkeys((r["route"], r["sizes"]) for r in found):
        these = matching(route=route, sizes=sizes)
        lines = [(form_text(r["merging"], r["static"]), r) for r in found if these(r)]
        lines += [(f"published, {one['label']}", one) for one in PUBLISHED["bus"]["merging"] if these(one)]
        out += (f"{route}, {sizes_text(sizes)}, {senders} sender{'s' * (senders > 1)}\n"
                f"{aligned(figure_rows(COLUMNS, lines))}\n")
    return out


def size_table(rows: Sequence[Result]) -> str:
    """One row for each size, merged; the routes and their published figures side by side. Published TCP was forwarded once."""
    found = [r for r in rows if r["way"] != ALL_TO_ALL and r["merging"] and not is_range(r["sizes"])]
    columns: list[tuple[str, dict[int, list[float]]]] = []     # messages/s and bytes/s by size
    for route, way in dict.fromkeys((r["route"], r["way"]) for r in found):
        columns.append((f"{route}{', relayed' * (way == RELAYED)}, messages/s", {
            least(r["sizes"]): [r["messages_per_s"], r["bytes_per_s"]] for r in filter(matching(route=route, way=way), found)}))
        if PUBLISHED_WAYS.get(route) == way:
            columns.append(("published", {size: speeds for size, *speeds in PUBLISHED["bus"]["sizes"][route]}))
    lines = [["bytes", *(head for name, _ in columns for head in (name, "MB/s"))]]
    for size in sorted({least(r["sizes"]) for r in found}):
        speeds = [column.get(size) for _, column in columns]
        lines.append([grouped(size), *(text for both in speeds for text in (
            (grouped(both[0]), significant(both[1] / 1e6)) if both else ("-", "-")))])
    return f"messages of one size, merged\n{aligned(lines)}\n" if found else ""


def bus_text(document: dict[str, Any]) -> str:
    """What the command prints."""
    rows, settings = document["results"], document["settings"]
    if not rows:
        return ""
    out = range_tables(rows, settings["senders"]) + size_table(rows)
    if segments := [(r["route"], r) for r in rows if r["way"] == ALL_TO_ALL]:
        out += f"{settings['nodes']} processes, all to all\n{aligned(figure_rows(SEGMENTS, segments))}\n"
    crowd = "; where there are more processes than CPUs, they share them" * any(r["cpus_shared"] for r in rows)
    return (f"{out}{arrows(document['verdicts'])}\n{settings['placement']}{crowd}. "
            f"Published: {PUBLISHED['bus']['sentence']}.\n")


def gains(runs: Sequence[Result], route: str, sizes: str) -> list[Verdict]:
    """Merged beside a write for each message."""
    merged, single = Kind(route, sizes).runs, Kind(route, sizes, False).runs
    what, gain = f"{route}, {sizes_text(sizes)}", LEAST_GAIN.get((route, sizes))
    known = PUBLISHED["bus"]["gains"].get(route, {}).get(sizes)
    theirs = f", published {known}" if known else ""
    about = {"route": route, "sizes": sizes}
    out = compared(runs, None, "messages_per_s", merged, single, lambda times: (
        f"{what}: merging carries {significant(times.median)} times as many messages{theirs}"),
        at_least(gain) if gain else None, **about)
    out += compared(runs, None, "sender_cpu_us_per_message", merged, single, lambda cost: (
        f"{what}: a message costs the merging sender {significant(cost.median)} of the CPU"), at_most(1), **about)
    if out and sizes == SMALL:
        out += of_one(runs, None, "writes_per_message", merged, lambda writes: (
            f"{what}: {significant(writes.median)} writes a message"), at_most(MOST_WRITES), **about)
    return out


def flatness(runs: Sequence[Result], route: str) -> list[Verdict]:
    """MB/s of small messages over those of large ones. Merging makes the throughput nearly flat."""
    small, large = (f"{size}..{size}" for size in FLAT_SIZES)
    known = {size: rate for size, _, rate in PUBLISHED["bus"]["sizes"].get(route, ())}
    theirs = f", published {significant(known[FLAT_SIZES[0]] / known[FLAT_SIZES[1]])}" if known else ""
    out = list[Verdict]()
    for merging, bound in ((True, at_least(FLAT)), (False, at_most(STEEP))):
        one, other = (Kind(route, size, merging).runs for size in (small, large))
        out += compared(runs, None, "bytes_per_s", one, other, lambda ratio: (
            f"{route}, {form_text(merging)}: {sizes_text(small)} carry {significant(ratio.median)} of the MB/s of "
            f"{sizes_text(large)}{theirs * merging}"), bound, route=route, merging=merging)
    return out


def conclude(runs: Sequence[Result], kinds: Sequence[Kind], nodes: int) -> list[Verdict]:
    """In the order of `kinds`; that of the runs is random."""
    out = []
    for route, sizes in dict.fromkeys((one.route, one.sizes) for one in kinds if is_range(one.sizes)):
        out += gains(runs, route, sizes)
    for route in dict.fromkeys(one.route for one in kinds):
        out += flatness(runs, route)
    if found := [r for r in runs if r["way"] == ALL_TO_ALL]:
        counts, resident = (Sample(tuple(r[key] for r in found)) for key in ("segments", "segment_resident_bytes"))
        text = f"{nodes} processes, all to all: {counts.median:g} segments, {megabytes(resident.median)} resident"
        out.append(demand(text, counts, at_most(nodes), metric="segments", nodes=nodes))
    return out


def parse_sizes(text: str) -> str:
    sizes = parse_range(text, LARGEST)
    if least(sizes) < SMALLEST:
        raise UsageError(f'"{text}" has messages of fewer than {SMALLEST} bytes, which have no room for their number')
    return sizes


def kinds_of(routes: Sequence[str], sizes: Sequence[str], nodes: int = 0) -> list[Kind]:
    """Ranges, and the sizes that show how flat the throughput is, are also measured without merging; over TCP ranges also with
    static buffers, and single sizes also through a relay, as the published ones."""
    flat = {f"{size}..{size}" for size in FLAT_SIZES}
    return [Kind(route, size, merging, static=static) for route in routes for size in sizes for merging in (True, False)
            for static in (False, True)
            if (merging or is_range(size) or size in flat) and (not static or route == "tcp" and is_range(size))] + [
            Kind("tcp", size, way=RELAYED) for size in sizes if "tcp" in routes and not is_range(size)] + [
            Kind("shm", SMALL, way=ALL_TO_ALL)] * bool(nodes and "shm" in routes)


def measure(s: Settings, senders: int, nodes: int, kind: Kind) -> Result:
    """One run. The probe fails if a message was wrong, lost or doubled."""
    who = ["--all-to-all", str(nodes)] if kind.way == ALL_TO_ALL else ["--senders", str(senders)]
    found = probe(s.program, ["bus", "--route", kind.route, "--sizes", kind.sizes, "--seed", str(s.seed), *who,
                              *["--no-merging"] * (not kind.merging), *["--static-output", str(STATIC)] * kind.static,
                              *["--relay"] * (kind.way == RELAYED)],
                  s.duration_s)
    sides = {f"{side}_{key}": found[side][key] for side in ("sender", "receiver") for key in SIDES}
    return {**kind._asdict(), **{key: value for key, value in found.items() if key not in ("sender", "receiver")}, **sides}


def placement(senders: int) -> str:
    cpus = allowed_cpus()
    if len(cpus) == 1:
        return "all on one CPU"
    others = [cpu for cpu in cpus if cpu != cpus[1]][:senders]
    return f"sender{'s' * (senders > 1)} on CPU {cpu_text(others)}, receiver on CPU {cpus[1]}"


def options(parser: Parser, build: Build) -> None:
    parser.option("--route", list_of(one_of(*ROUTES)), f"comma-separated, of {', '.join(ROUTES)} (default: shm,tcp)",
                  default=["shm", "tcp"])
    parser.option("--sizes", list_of(parse_sizes), "comma-separated: bytes of a message, or MIN..MAX, evenly distributed "
                  "(default: 8..128, 8..16384, and 128 to 32768 in powers of two)", default=SIZES)
    parser.option("--senders", number_in(1, 16), "processes that send to one receiver (default: 1)", default=1)
    parser.option("--nodes", number_in(0, 16), "processes that all send to each other over shared memory, for the number of "
                  "segments; 0: none (default: 6)", default=6)
    parser.option("--seed", number_in(0), "seed of sizes, contents and the random order of runs (default: random)")


def compose(document: Document) -> dict[str, Any]:
    runs, s = document.results, document.settings
    kinds = kinds_of(s["routes"], s["sizes"], s["nodes"])
    return {"results": summary_of(runs, kinds), "verdicts": conclude(runs, kinds, s["nodes"]), "runs": runs}


def plan(arguments: argparse.Namespace, build: Build) -> Probes:
    a = arguments
    if a.nodes == 1:
        raise UsageError("--nodes: one process has nobody to send to; it must be 0 or from 2 to 16")
    about = {"routes": a.route, "sizes": a.sizes, "senders": a.senders, "nodes": a.nodes, "placement": placement(a.senders)}
    return Probes(lambda s: [(kind.label, functools.partial(measure, s, a.senders, a.nodes, kind))
                             for kind in kinds_of(a.route, a.sizes, a.nodes)],
                  lambda r: f"{grouped(r['messages_per_s'])} messages/s, {significant(r['bytes_per_s'] / 1e6)} MB/s", about)


EXPERIMENT = Experiment(
    "bus", UsualRuns(5, 0.4), UsualRuns(2, 0.1), plan, compose, lambda results, document: bus_text(document), options=options,
    examples=("--quick", "--route shm --sizes 8..128 --senders 4", "--sizes 128,16384 --nodes 0 --rounds 9 --json bus.json"),
    notes=("A sender of single messages gives the bus one in a turn of its loop, which costs that turn too. writes/msg:",
           "send calls of the senders' loops, which over shm are no system calls. sender, receiver: part of the time on",
           "a CPU, kernel included. segments: memfd segments that the processes have mapped; resident: their memory,",
           "each page once.",
           "Demanded over TCP: merging carries 10 times as many messages of 8..128 bytes, 1.1 times as many of 8..16384,",
           "with at most 0.05 writes for a small one. Of both: 128 bytes carry at least 0.5 of the MB/s of 16 KiB",
           "merged, at most 0.1 single; N nodes that all send to each other have at most N segments."))
