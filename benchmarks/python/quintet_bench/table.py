# SPDX-License-Identifier: BSL-1.0
"""Tables of combinations, and the sentences below them."""
import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from .results import Combination, Result, Sample
from .text import grouped, mebibytes, micros, percent, significant
from .verdict import CPU, SPEED

Format = Callable[[float], str]
Columns = Mapping[str, tuple[str, Format]]      # a column's title, and how it shows a figure, by the figure's key
Ratios = Mapping[Any, Sample | None]    # by workload and label, for the columns "ratio" and "range"; None: the reference
# Of medians. Behind "=" a command may give a column another title.
SHOWN: Columns = {
    SPEED: ("requests/s", grouped), "mb_per_s": ("MB/s", significant), CPU: ("CPU/req", micros),
    "client_cpu_us_per_request": ("client CPU", micros), "server_threads": ("threads", grouped),
    "server_rss_bytes": ("memory", mebibytes), "p50_us": ("p50", micros), "p90_us": ("p90", micros), "p99_us": ("p99", micros),
    "p999_us": ("p99.9", micros), "max_us": ("max", micros), "instructions_per_request": ("instructions", grouped),
    "syscalls_per_request": ("syscalls", significant), "futex_per_request": ("futex", significant),
    "server_user_us_per_request": ("user", micros), "migrations_per_request": ("migrations", significant),
    "context_switches_per_request": ("switches", significant), "receives_per_request": ("receives", significant),
    "heartbeat_p50_us": ("beat p50", micros), "heartbeat_p99_us": ("beat p99", micros),
    "heartbeat_max_us": ("beat max", micros),
    "accepted_locally": ("local", percent), "accept_balance": ("balance", "{:.2f}".format),
    "accept_wakes_per_connection": ("wakes", "{:.2f}".format), "bytes_per_connection": ("user space", grouped),
    "segment_bytes_per_connection": ("segment", grouped), "page_table_bytes_per_connection": ("page tables", grouped),
    "slab_bytes_per_connection": ("kernel objects", grouped), "mode_ms": ("most in", lambda ms: f"{ms:.0f} to {ms + 1:.0f} ms")}


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


def cell(combination: Combination, key: str) -> str:
    """The median as text; "-" if nothing was measured."""
    value = combination.median(key)
    return "-" if value is None else SHOWN[key][1](value)


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


def figure_rows(columns: Columns, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
    """The titles, and the figures of each row behind its name; "-" for one that it lacks."""
    return [["", *(title for title, _ in columns.values())],
            *([name, *("-" if row.get(key) is None else form(row[key]) for key, (_, form) in columns.items())]
              for name, row in rows)]


def aligned(rows: Sequence[Sequence[str]], left: Container[int] = (0,)) -> str:
    """Columns of text as wide as they need, to the right except those in `left`."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    cells = [[text.ljust(widths[i]) if i in left else text.rjust(widths[i]) for i, text in enumerate(row)] for row in rows]
    return "".join(f"  {'  '.join(row).rstrip()}\n" for row in cells)


def ratio_cells(ratio: Sample | None) -> dict[str, str]:
    several = ratio and len(ratio.values) > 1
    return {"ratio": f"{ratio.median:.2f}" if ratio else "1",
            "range": f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio and several else ""}


@dataclasses.dataclass(frozen=True)
class Layout:
    """Shows combinations: for each group a title, a line with the columns' names, and a line for each combination."""
    columns: Callable[[Combination], Sequence[str]]     # keys, by the first of a group
    name: Callable[[Combination], str]
    group: Callable[[Combination], Any] = lambda row: row.workload
    order: Callable[[Combination], Any] = lambda row: 0
    title: Callable[[Sequence[Combination]], str] = lambda rows: title_line(rows[0])
    texts: Callable[[Combination], dict[str, str]] = lambda row: {}     # of columns that are no medians
    after: Callable[[Combination], str] = remarks
    head: str = ""                      # of the names

    def grid(self, rows: Sequence[Combination], ratios: Ratios | None = None) -> list[list[str]]:
        """The titles, and the cells of each combination of a group."""
        keys, titles = [], [self.head]
        for key, renamed, title in (column.partition("=") for column in self.columns(rows[0])):
            keys.append(key)
            titles.append(title if renamed else SHOWN[key][0] if key in SHOWN else key)

        def cells(row: Combination) -> list[str]:
            ready = {"spread": percent(row.samples[SPEED].spread)} if SPEED in row.samples else {}
            ready |= self.texts(row) if ratios is None else ratio_cells(ratios[row.workload, row.label])
            return [ready[key] if key in ready else cell(row, key) if key in SHOWN else "-" for key in keys]
        return [titles, *([self.name(row), *(cells(row) if row.rounds else [""] * len(keys))] for row in rows)]

    def text(self, summary: Sequence[Combination], told: Callable[[Sequence[Combination]], str] = lambda rows: "",
             ratios: Ratios | None = None) -> str:
        """`told`: what stands below a group."""
        out, groups = "", dict[Any, list[Combination]]()
        for row in sorted(summary, key=self.order):
            groups.setdefault(self.group(row), []).append(row)
        for rows in groups.values():
            head, *lines = aligned(self.grid(rows, ratios)).splitlines()
            out += f"{self.title(rows)}\n{head}\n"
            for row, line in zip(rows, lines):
                out += line + (f"\n{self.after(row)}" if row.rounds else f"  failed: {row.error or 'no figures'}\n")
            out += told(rows)
        return out


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
