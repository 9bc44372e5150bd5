# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench bus`: processes that send messages over the bus, merged and not, beside what libatbus and tbus published."""
import argparse
import functools
from collections.abc import Sequence
from typing import Any

from ..build import Build
from ..bus_tables import ALL_TO_ALL, FLAT_SIZES, Kind, bus_text, is_range, summary_of
from ..bus_verdicts import conclude
from ..errors import UsageError
from ..experiment import Experiment, Probes
from ..machine import allowed_cpus, cpu_text
from ..options import Parser, list_of, number_in, one_of, parse_range
from ..plan import Settings, UsualRuns
from ..probe import probe
from ..results import Document, Result
from ..text import grouped, significant

ABOUT = "Measures the bus between processes: merged messages and single ones, sizes, memory, shared segments"
CLAIMS = "1.15 1.16 1.17 1.18 1.19 1.20"
ROUTES, SMALLEST, LARGEST = ("shm", "unix", "tcp"), 8, 65536
SIZES = ["8..128", "8..16384", *(f"{128 << i}..{128 << i}" for i in range(9))]
SIDES = ("cpu", "cpu_us_per_message", "rss_bytes", "switches_per_message")


def parse_sizes(text: str) -> str:
    sizes = parse_range(text, LARGEST)
    if int(sizes.partition("..")[0]) < SMALLEST:
        raise UsageError(f'"{text}" has messages of fewer than {SMALLEST} bytes, which have no room for their number')
    return sizes


def kinds_of(routes: Sequence[str], sizes: Sequence[str]) -> list[Kind]:
    """Ranges, and the sizes that show how flat the throughput is, are also measured without merging."""
    flat = {f"{size}..{size}" for size in FLAT_SIZES}
    return [Kind(route, size, merging) for route in routes for size in sizes for merging in (True, False)
            if merging or is_range(size) or size in flat]


def measure(s: Settings, senders: int, nodes: int, kind: Kind) -> Result:
    """One run. The probe fails if a message was wrong, lost or doubled."""
    who = ["--all-to-all", str(nodes)] if kind.way == ALL_TO_ALL else ["--senders", str(senders)]
    found = probe(s.program, ["bus", "--route", kind.route, "--sizes", kind.sizes, "--seed", str(s.seed), *who,
                              *["--no-merging"] * (not kind.merging)], s.duration_s)
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


def planned(settings: dict[str, Any]) -> list[Kind]:
    all_to_all = settings["nodes"] and "shm" in settings["routes"]
    return kinds_of(settings["routes"], settings["sizes"]) + [Kind("shm", "8..128", True, ALL_TO_ALL)] * bool(all_to_all)


def compose(document: Document) -> dict[str, Any]:
    runs, kinds = document.results, planned(document.settings)
    return {"results": summary_of(runs, kinds), "verdicts": conclude(runs, kinds, document.settings["nodes"]), "runs": runs}


def plan(arguments: argparse.Namespace, build: Build) -> Probes:
    a = arguments
    if a.nodes == 1:
        raise UsageError("--nodes: one process has nobody to send to; it must be 0 or from 2 to 16")
    about = {"routes": a.route, "sizes": a.sizes, "senders": a.senders, "nodes": a.nodes, "placement": placement(a.senders)}
    return Probes(lambda s: [(kind.label, functools.partial(measure, s, a.senders, a.nodes, kind)) for kind in planned(about)],
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
