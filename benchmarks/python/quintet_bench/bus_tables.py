# SPDX-License-Identifier: BSL-1.0
"""The bus: medians of the rounds, and tables in which the published figures stand beside them."""
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .published import PUBLISHED
from .results import Result, number
from .table import Format, aligned
from .text import grouped, micros, percent, significant

ALL_TO_ALL, TO_ONE = "all to all", "to one"
FLAT_SIZES = (128, 16384)               # whose throughputs are compared
Table = tuple[str, list[str], list[list[str]]]  # title, heads and rows


class Kind(NamedTuple):
    """What the runs that one row sums up have in common."""
    route: str
    sizes: str                          # "MIN..MAX"
    merging: bool = True
    way: str = TO_ONE

    @property
    def label(self) -> str:
        words = (sizes_text(self.sizes), merging_text(self.merging), self.way * (self.way == ALL_TO_ALL))
        return f"{self.route}, {', '.join(filter(None, words))}"


def megabytes(size: float) -> str:
    return f"{significant(size / 1e6)} MB"


COLUMNS: dict[str, tuple[str, Format]] = {
    "messages_per_s": ("messages/s", grouped), "bytes_per_s": ("MB/s", lambda v: significant(v / 1e6)),
    "sender_cpu": ("sender", percent), "receiver_cpu": ("receiver", percent),
    "sender_rss_bytes": ("its memory", megabytes), "receiver_rss_bytes": ("receiver's", megabytes),
    "sender_cpu_us_per_message": ("sender/msg", micros), "receiver_cpu_us_per_message": ("receiver/msg", micros),
    "writes_per_message": ("writes/msg", significant)}
SEGMENTS: dict[str, tuple[str, Format]] = {
    "segments": ("segments", grouped), "segment_bytes": ("mapped", megabytes),
    "segment_resident_bytes": ("resident", megabytes), "sender_rss_bytes": ("memory of each", megabytes),
    "messages_per_s": ("messages/s", grouped)}


def sizes_text(sizes: str) -> str:
    low, _, high = sizes.partition("..")
    return f"{grouped(int(low))} B" if low == high else f"{grouped(int(low))} to {grouped(int(high))} B"


def is_range(sizes: str) -> bool:
    return len(set(sizes.split(".."))) > 1


def merging_text(merging: bool) -> str:
    return "merged" if merging else "a write for each"


def kind_of(result: Result) -> Kind:
    return Kind(result["route"], result["sizes"], result["merging"], result["way"])


def summary_of(runs: Sequence[Result], kinds: Iterable[Kind]) -> list[Result]:
    """A row for each kind: medians, and the messages/s of each round."""
    out = []
    for kind in kinds:
        mine = [r for r in runs if kind_of(r) == kind]
        if not mine:
            continue
        keys = dict.fromkeys((*COLUMNS, "checked")) | (dict.fromkeys(SEGMENTS) if kind.way == ALL_TO_ALL else {})
        medians = {key: number(float(f"{statistics.median(r[key] for r in mine):.4g}")) for key in keys}
        out.append({**kind._asdict(), **medians, "cpus_shared": mine[0]["cpus_shared"],
                    "rounds": [number(round(r["messages_per_s"])) for r in mine]})
    return out


def cells(row: dict[str, Any], columns: dict[str, tuple[str, Format]]) -> list[str]:
    return ["-" if row.get(key) is None else form(row[key]) for key, (_, form) in columns.items()]


def range_tables(rows: Sequence[Result], settings: dict[str, Any]) -> list[Table]:
    """Ranges of sizes: ours, and the published figures in the same columns."""
    out = []
    found = [r for r in rows if r["way"] == TO_ONE and is_range(r["sizes"])]
    for route, sizes in dict.fromkeys((r["route"], r["sizes"]) for r in found):
        mine = [[merging_text(r["merging"]), *cells(r, COLUMNS)] for r in found if (r["route"], r["sizes"]) == (route, sizes)]
        theirs = [[f"published, {one['label']}", *cells(one, COLUMNS)] for one in PUBLISHED["bus"]["merging"]
                  if (one["route"], one["sizes"]) == (route, sizes)]
        senders = f"{settings['senders']} sender{'s' * (settings['senders'] > 1)}"
        title = f"{route}, {sizes_text(sizes)}, {senders}"
        out.append((title, ["", *(head for head, _ in COLUMNS.values())], mine + theirs))
    return out


def size_table(rows: Sequence[Result]) -> list[Table]:
    """One row for each size, merged; the routes and their published figures side by side."""
    found = {(r["route"], int(r["sizes"].partition("..")[0])): r for r in rows
             if r["way"] == TO_ONE and r["merging"] and not is_range(r["sizes"])}
    routes = list(dict.fromkeys(route for route, _ in found))
    theirs = {(route, one[0]): one for route, some in PUBLISHED["bus"]["sizes"].items() for one in some}
    heads, out = ["bytes"], []
    for route in routes:
        heads += [f"{route}, messages/s", "MB/s"] + ["published", "MB/s"] * (route in PUBLISHED["bus"]["sizes"])
    for size in sorted({size for _, size in found}):
        line = [grouped(size)]
        for route in routes:
            r, known = found.get((route, size)), theirs.get((route, size))
            line += [grouped(r["messages_per_s"]), significant(r["bytes_per_s"] / 1e6)] if r else ["-", "-"]
            if route in PUBLISHED["bus"]["sizes"]:
                line += [grouped(known[1]), significant(known[2] / 1e6)] if known else ["-", "-"]
        out.append(line)
    return [("messages of one size, merged", heads, out)] if found else []


def segment_table(rows: Sequence[Result], settings: dict[str, Any]) -> list[Table]:
    found = [[r["route"], *cells(r, SEGMENTS)] for r in rows if r["way"] == ALL_TO_ALL]
    return [(f"{settings['nodes']} processes, all to all", ["", *(head for head, _ in SEGMENTS.values())], found)] * bool(found)


def tables_of(document: dict[str, Any]) -> list[Table]:
    rows, settings = document["results"], document["settings"]
    return [*range_tables(rows, settings), *size_table(rows), *segment_table(rows, settings)]


def sentences_of(document: dict[str, Any]) -> list[str]:
    return [one["sentence"] for one in document["verdicts"]]


def bus_text(document: dict[str, Any]) -> str:
    """What the command prints."""
    out = "".join(f"{title}\n{aligned([heads, *rows])}\n" for title, heads, rows in tables_of(document))
    out += "".join(f"  -> {sentence}\n" for sentence in sentences_of(document))
    if not document["results"]:
        return ""
    shared = any(r["cpus_shared"] for r in document["results"])
    crowd = "; where there are more processes than CPUs, they share them" * shared
    return f"{out}\n{document['settings']['placement']}{crowd}. Published: {PUBLISHED['bus']['sentence']}.\n"
