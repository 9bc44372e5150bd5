# SPDX-License-Identifier: BSL-1.0
"""Tables of combinations, and the sentences below them."""
import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from .results import Combination, Result, Sample
from .text import grouped, percent
from .verdict import SPEED

Format = Callable[[float], str]
Column = tuple[str, int, str, Format]   # title, width, key and format
SPREAD: Column = ("spread", 8, "spread", str)


def shape_text(result: Result) -> str:
    """"echo: 100 connections x 8 B, 4 in flight each"."""
    out, connections = str(result["workload"]), result["connections"]
    if connections and result["message_bytes"]:
        out += f": {grouped(connections)} connection{'' if connections == 1 else 's'} x {grouped(result['message_bytes'])} B"
    if (result["pipeline"] or 1) > 1:
        out += f", {grouped(result['pipeline'])} in flight each"
    return out


def placement_text(result: Result) -> str:
    """" (server on CPU 1, client on CPU 0)", or ""."""
    return f" (server on CPU {result['server_cpus']}, client on CPU {result['client_cpus']})" if result["server_cpus"] else ""


def title_line(combination: Combination) -> str:
    return shape_text(combination.first) + placement_text(combination.first)


def cell(combination: Combination, key: str, format: Format) -> str:
    """The median as text; "-" if nothing was measured."""
    value = combination.median(key)
    return "-" if value is None else format(value)


def failure_remarks(combination: Combination) -> str:
    """Lines about failures in the combination's rounds; mostly none."""
    c, out, lost = combination, "", combination.samples.get("failed")
    if c.failures:
        out += f"    {c.failures} of {c.rounds + c.failures} runs failed: {c.error or 'no figures'}\n"
    if lost and lost.high > 0:
        out += f"    up to {grouped(lost.high)} requests a run were not answered right\n"
    return out


def remarks(combination: Combination) -> str:
    """The failure remarks, and one if the client limited the figures."""
    bound = "    the client was the bottleneck: the server could do more\n"
    return failure_remarks(combination) + (bound if combination.client_bound else "")


def rows_text(rows: Iterable[Combination], columns: Sequence[Column], texts: Callable[[Combination], dict[str, str]],
              width: int, name: Callable[[Combination], str], after: Callable[[Combination], str] = remarks,
              title: str = "") -> str:
    """A line for each combination. `texts` gives those that are no medians, by key; `width` belongs to the name."""
    out = f"{title:>{width}}" + "".join(f"{title:>{wide}}" for title, wide, _, _ in columns) + "\n"
    for row in rows:
        spread = {"spread": percent(row.samples[SPEED].spread)} if SPEED in row.samples else {}
        ready = spread | texts(row)
        cells = "".join(f"{ready[key] if key in ready else cell(row, key, form):>{wide}}" for _, wide, key, form in columns)
        text = f"{cells.rstrip()}\n{after(row)}" if row.rounds else f"  failed: {row.error or 'no figures'}\n"
        out += f"{name(row):<{width}}{text}"
    return out


def ratio_texts(ratio: Sample | None, absent: str) -> dict[str, str]:
    """The texts of the columns "ratio" and "range"."""
    return {"ratio": f"{ratio.median:.2f}" if ratio else absent,
            "range": f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio and len(ratio.values) > 1 else ""}


def aligned(rows: Sequence[Sequence[str]], left: Container[int] = (0,)) -> str:
    """Columns of text as wide as they need, to the right except those in `left`."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    cells = [[text.ljust(widths[i]) if i in left else text.rjust(widths[i]) for i, text in enumerate(row)] for row in rows]
    return "".join(f"  {'  '.join(row).rstrip()}\n" for row in cells)


@dataclasses.dataclass(frozen=True)
class Layout:
    """Shows combinations: for each group a title, a line with the columns' names, and a line for each combination."""
    columns: Callable[[Combination], Sequence[Column]]  # by the first of a group
    width: int                          # of the name
    name: Callable[[Combination], str]
    group: Callable[[Combination], Any] = lambda row: row.workload
    title: Callable[[Sequence[Combination]], str] = lambda rows: title_line(rows[0])
    texts: Callable[[Combination], dict[str, str]] = lambda row: {}     # of columns that are no medians
    after: Callable[[Combination], str] = remarks
    head: str = ""                      # of the names

    def text(self, summary: Sequence[Combination], told: Callable[[Sequence[Combination]], str] = lambda rows: "",
             ratios: Mapping[Any, Sample | None] | None = None) -> str:
        """`told`: what stands below a group. `ratios`: by workload and label, for the columns "ratio" and "range"."""
        def texts(row: Combination) -> dict[str, str]:
            return self.texts(row) if ratios is None else ratio_texts(ratios[row.workload, row.label], "1")
        groups: dict[Any, list[Combination]] = {}
        for row in summary:
            groups.setdefault(self.group(row), []).append(row)
        return "".join(f"{self.title(rows)}\n" + rows_text(rows, self.columns(rows[0]), texts, self.width, self.name,
                                                           self.after, self.head) + told(rows) for rows in groups.values())


def arrows(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """The sentences of verdicts, below a table."""
    return "".join(f"  -> {one['sentence'].removesuffix('.')}.\n" for one in verdicts)


def told_of(*some: Sequence[Mapping[str, Any]]) -> Callable[[Sequence[Combination]], str]:
    """The sentences of those verdicts that are on the workload of a group."""
    return lambda rows: arrows(one for verdicts in some for one in verdicts if one["workload"] == rows[0].workload) + "\n"


def noise(summary: Sequence[Combination], figures: Mapping[str, Any]) -> str:
    """Nothing if nothing was timed."""
    return f"{figures['noise']}\n" if any(SPEED in row.samples for row in summary) else ""


def published(lines: Iterable[str]) -> str:
    return "".join(f"  published, not measured: {line}.\n" for line in lines)
