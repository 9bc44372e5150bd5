# SPDX-License-Identifier: BSL-1.0
"""What merging, the sizes of messages and the number of nodes change on the bus, and what is demanded of it."""
from collections.abc import Sequence

from .bus_tables import ALL_TO_ALL, FLAT_SIZES, Kind, is_range, kind_of, megabytes, merging_text, sizes_text
from .demands import Verdict, at_least, at_most, demand
from .published import PUBLISHED
from .results import Result, Sample
from .statistics import Filter, paired
from .text import significant

FLAT, STEEP, MOST_WRITES = 0.5, 0.1, 0.05
SMALL = "8..128"
LEAST_GAIN = {("tcp", SMALL): 10.0, ("tcp", "8..16384"): 1.1}  # how many times as many messages merging must carry


def of(kind: Kind) -> Filter:
    return lambda run: kind_of(run) == kind


def gains(runs: Sequence[Result], route: str, sizes: str) -> list[Verdict]:
    """Merged beside a write for each message."""
    merged, single = Kind(route, sizes), Kind(route, sizes, False)
    what, least = f"{route}, {sizes_text(sizes)}", LEAST_GAIN.get((route, sizes))
    times = paired(runs, "messages_per_s", of(merged), of(single))
    cost = paired(runs, "sender_cpu_us_per_message", of(merged), of(single))
    if not times or not cost:
        return []
    known = PUBLISHED["bus"]["gains"].get(route, {}).get(sizes)
    theirs = f", published {known}" if known else ""
    found = [("messages_per_s", times, f"merging carries {significant(times.median)} times as many messages{theirs}",
              at_least(least) if least else None),
             ("sender_cpu_us_per_message", cost, f"a message costs the merging sender {significant(cost.median)} of the CPU",
              at_most(1))]
    if sizes == SMALL:
        writes = Sample(tuple(r["writes_per_message"] for r in runs if kind_of(r) == merged))
        found.append(("writes_per_message", writes, f"{significant(writes.median)} writes a message", at_most(MOST_WRITES)))
    return [demand(f"{what}: {text}", figure, bound, metric=metric, route=route, sizes=sizes)
            for metric, figure, text, bound in found]


def flatness(runs: Sequence[Result], route: str) -> list[Verdict]:
    """MB/s of small messages over those of large ones. Merging makes the throughput nearly flat."""
    small, large = (f"{size}..{size}" for size in FLAT_SIZES)
    out = []
    for merging, bound in ((True, at_least(FLAT)), (False, at_most(STEEP))):
        if ratio := paired(runs, "bytes_per_s", of(Kind(route, small, merging)), of(Kind(route, large, merging))):
            known = {size: rate for size, _, rate in PUBLISHED["bus"]["sizes"].get(route, ())} if merging else {}
            theirs = f", published {significant(known[FLAT_SIZES[0]] / known[FLAT_SIZES[1]])}" if known else ""
            text = (f"{route}, {merging_text(merging)}: {sizes_text(small)} carry {significant(ratio.median)} of the MB/s of "
                    f"{sizes_text(large)}{theirs}")
            out.append(demand(text, ratio, bound, metric="bytes_per_s", route=route, merging=merging))
    return out


def segment_verdicts(runs: Sequence[Result], nodes: int) -> list[Verdict]:
    found = [r for r in runs if r["way"] == ALL_TO_ALL]
    if not found:
        return []
    counts = Sample(tuple(r["segments"] for r in found))
    resident = megabytes(Sample(tuple(r["segment_resident_bytes"] for r in found)).median)
    text = f"{nodes} processes, all to all: {counts.median:g} segments, {resident} resident"
    return [demand(text, counts, at_most(nodes), metric="segments", nodes=nodes)]


def conclude(runs: Sequence[Result], kinds: Sequence[Kind], nodes: int) -> list[Verdict]:
    """In the order of `kinds`; that of the runs is random."""
    out = []
    for route, sizes in dict.fromkeys((one.route, one.sizes) for one in kinds if is_range(one.sizes)):
        out += gains(runs, route, sizes)
    for route in dict.fromkeys(one.route for one in kinds):
        out += flatness(runs, route)
    return out + segment_verdicts(runs, nodes)
