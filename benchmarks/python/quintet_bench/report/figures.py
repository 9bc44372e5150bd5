# SPDX-License-Identifier: BSL-1.0
"""What the templates show: numbers, rows of a summary, and the geometry of curves. Places across are percentages, so that a
plot is as wide as the page allows and its text keeps its size."""
from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..results import METRICS, NAMES, PLACES, label_of
from ..text import grouped, mebibytes, micros, percent, significant

MODELS = ("thread_per_connection", "single_reactor", "reactor_pool", "loop_per_thread", "loop_per_thread_pool")
Row = dict[str, Any]  # a member of "summary"
SHOWN: tuple[tuple[str, Callable[[Any], str]], ...] = (  # how to show a number, by its key
    (r"_us(_|$)", micros), (r"(rss|memory)_bytes$", mebibytes), (r"fraction|_rate$|locally$|error$", percent), (r"^seed$", str),
    (r"requests_per_s$|bytes_per_connection|instructions", grouped))
UNITS = {"percent": " %", "ns": " ns", "ms": " ms", "s": " s", "mib": " MiB"}  # by the last word of the key


def shown(key: str, value: Any) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return "–" if value is None else value if isinstance(value, str) else json.dumps(value)
    show = next((show for pattern, show in SHOWN if re.search(pattern, key)), grouped if value % 1 == 0 else significant)
    return show(value) + ("" if key.endswith("per_s") else UNITS.get(key.rpartition("_")[2], ""))


def tint_of(model: str | None) -> str:
    """The class that has the model's colour, and the name of its mark."""
    return f"m{MODELS.index(model) + 1}" if model in MODELS else "peer"


def complete(row: Row) -> Row:
    """Returns the row with all keys that templates use, whatever its command wrote."""
    out: Row = {**dict.fromkeys((*NAMES, *METRICS, *PLACES, "error", "bottleneck")), "rounds": 1, "failed_rounds": 0, **row}
    spans = row.get("range") or {}
    out["range"] = {key: spans.get(key) or [out[key], out[key]] for key in METRICS if out[key] is not None}
    return out | {"label": label_of(out), "tint": tint_of(out["model"]), "toggle": "", "spread": row.get("spread") or {}}


def tip(row: Row, key: str) -> str:
    """What a mark shows when the pointer is on it."""
    rounds = f"{row['rounds']} rounds: {' to '.join(shown(key, value) for value in row['range'][key])}"
    return f"{shown(key, row[key])}; {rounds if row['rounds'] > 1 else 'one round'}"


# The place is an index of Curves.places, or between two. The legend hides the class `toggle`.
Point = NamedTuple("Point", [("place", float), ("value", float), ("range", list[float]), ("tip", str)])
Line = NamedTuple("Line", [("label", str), ("tint", str), ("dash", str), ("toggle", str), ("points", list[Point])])


class Curves:
    """Lines over named places, on a logarithmic scale."""
    height = 250                        # of the area, in pixels

    def __init__(self, key: str, places: list[str], lines: list[Line]) -> None:
        self.key, self.places = key, places
        self.lines = [line._replace(points=[p for p in line.points if p.range[0] > 0]) for line in lines]
        values = [value for line in self.lines for p in line.points for value in p.range]
        self.low, self.high = (min(values) / 1.3, max(values) * 1.3) if values else (0, 0)

    def x(self, place: float) -> float:
        return round((place + 0.5) / len(self.places) * 100, 2)

    def y(self, value: float) -> float:
        return round(self.height * math.log(self.high / value) / math.log(self.high / self.low), 1)

    def ticks(self) -> list[float]:
        ratio = self.high / self.low
        steps: list[float] = [1] if ratio > 3000 else [1, 2, 5] if ratio > 8 else [1, 1.5, 2, 3, 4, 5, 7]
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)))
        return [tick for decade in decades for step in steps if self.low <= (tick := step * 10.0 ** decade) <= self.high]

    def path(self, points: list[Point]) -> str:
        return " ".join(f"{self.x(p.place)},{self.y(p.value)}" for p in points)


def percentiles(rows: list[Row], points: dict[str, str]) -> Curves:
    """A line for each row over percentiles, side by side. `points`: metric and title."""
    rows = [row for row in rows if any(key in row["range"] for key in points)]
    lines = []
    for i, row in enumerate(rows):
        aside = (i - (len(rows) - 1) / 2) * 0.08
        marks = [Point(k + aside, row[key], row["range"][key], f"{row['label']}, {name}: {tip(row, key)}")
                 for k, (key, name) in enumerate(points.items()) if key in row["range"]]
        dash = "" if not row["peer"] else "5 3" if row["peer"] == "epoll" else "1.5 3"
        lines.append(Line(row["label"], row["tint"], dash, row["toggle"], marks))
    return Curves(next(iter(points)), list(points.values()), lines)
