# SPDX-License-Identifier: BSL-1.0
"""Curves over an axis: who leads from where on, where two cross, and whether throughput has the published shape.

Two servers are apart at a value if the ranges of their rounds do not overlap and their medians differ by more than rounds
usually move. Among the many pairs of points in a sweep, chance separates some in all their rounds, but not by more."""
from __future__ import annotations

import dataclasses
import itertools
import statistics
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..results import Combination, Sample
from ..text import grouped

# requests/s over connections, of a hand-written echo of 8 bytes on one epoll loop of a virtual machine (i5-3470, 4 cores)
PUBLISHED = {1: 10_000, 5: 90_000, 10: 190_000, 30: 200_000, 100: 200_000, 300: 150_000, 500: 130_000, 1000: 110_000,
             5000: 90_000}
NEAR_PEAK, FALLEN = 0.9, 0.75           # fractions of the peak


@dataclasses.dataclass(frozen=True)
class Point(Sample):
    client_bound: bool = False          # the client was the bottleneck, so the server may be faster


Curve = dict[float, Point]              # a figure over the values of an axis, in ascending order
Curves = dict[str, Curve]               # by the server's label


def curves_of(summary: Iterable[Combination], field: str, figure: str) -> Curves:
    out: Curves = {}
    for row in sorted(summary, key=lambda row: row.first[field] or 0):
        if figure in row.samples and row.first[field] is not None:
            out.setdefault(row.label, {})[row.first[field]] = Point(row.samples[figure].values, row.client_bound)
    return out


def peak(curve: Curve) -> float:
    """Returns the value with the highest median."""
    return max(curve, key=lambda value: curve[value].median)


def near_peak(curve: Curve) -> float:
    """Returns the first value at which the median is near the peak."""
    return next(value for value, point in curve.items() if point.median >= NEAR_PEAK * curve[peak(curve)].median)


class Meeting(NamedTuple):
    """Two curves at a value that both have."""
    value: float
    gap: float                          # how much less time per request the first needs
    apart: bool

    def zero(self, other: Meeting) -> float:
        """Where the gap changes its sign. Time per request is linear in a request's cost; throughput is not."""
        return self.value + (other.value - self.value) * self.gap / (self.gap - other.gap)

    def same_side(self, other: Meeting) -> bool:
        return (self.gap > 0) == (other.gap > 0)


def _usual_spread(curves: Curves) -> float:
    return statistics.median([point.spread for curve in curves.values() for point in curve.values()] or [0.0])


def _apart(a: Point, b: Point, noise: float) -> bool:
    return not a.overlaps(b) and abs(a.median - b.median) > noise * min(a.median, b.median)


def _meetings(a: Curve, b: Curve, noise: float) -> list[Meeting]:
    return [Meeting(value, 1 / b[value].median - 1 / point.median, _apart(point, b[value], noise))
            for value, point in a.items() if value in b]


def crossings(curves: Curves) -> list[dict[str, Any]]:
    """Returns each change of places between values at which the two are apart. If the curves change places several times
    between those, they are indistinguishable there, and the middle counts."""
    noise, out = _usual_spread(curves), []
    for (a, first), (b, second) in itertools.combinations(curves.items(), 2):
        met = _meetings(first, second, noise)
        for i, j in itertools.pairwise(i for i, m in enumerate(met) if m.apart):
            zeros = [m.zero(n) for m, n in itertools.pairwise(met[i:j + 1]) if not m.same_side(n)]
            if not met[i].same_side(met[j]):
                before, after = (a, b) if met[j].gap < 0 else (b, a)
                out.append({"at": (zeros[0] + zeros[-1]) / 2, "before": before, "after": after,
                            "apart_at": [met[i].value, met[j].value]})
    return sorted(out, key=lambda crossing: crossing["at"])


def leads(curves: Curves) -> list[dict[str, Any]]:
    """Returns the leader from each place on, with the servers that are apart from it at no value of its stretch. The lead
    changes where a curve is apart from the leader and above it. A failed run does not end a lead."""
    noise = _usual_spread(curves)
    out: list[dict[str, Any]] = []
    since: list[float] = []             # the measured values at which the leaders took the lead
    for value in sorted({value for curve in curves.values() for value in curve}):
        leader = curves[out[-1]["server"]] if out else {}
        now = leader.get(value)
        ahead = [label for label, curve in curves.items() if (point := curve.get(value)) and
                 (point.median > now.median and _apart(point, now, noise) if now else not out)]
        if ahead:
            best = max(ahead, key=lambda label: curves[label][value].median)
            zeros = [m.zero(n) for m, n in itertools.pairwise(_meetings(leader, curves[best], noise))
                     if since[-1] <= m.value < value and m.gap > 0 >= n.gap]
            out.append({"from": zeros[-1] if zeros else value, "server": best})
            since.append(value)
    for lead, start, end in zip(out, since, [*since[1:], float("inf")]):
        met = {label: [m.apart for m in _meetings(curves[lead["server"]], curve, noise) if start <= m.value < end]
               for label, curve in curves.items() if label != lead["server"]}
        lead["as_good"] = [label for label, aparts in met.items() if aparts and not any(aparts)]
    return out


def shape(curve: Curve) -> dict[str, tuple[str | None, str]]:
    """Does throughput over connections rise and fall as published? At least 90 % of the peak at 10 to 30 connections, less
    with fewer than 10, and at most 75 % with 5,000. Returns verdict and sentence; None: no measured value can tell."""
    top, first, last = peak(curve), min(curve), max(curve)
    part = {value: point.median / curve[top].median for value, point in curve.items()}
    name = {value: f"{grouped(value)} connection{'' if value == 1 else 's'}" for value in curve}
    out: dict[str, tuple[str | None, str]] = {
        "rise": (None, "the rise: not judged; it needs a value from 10 to 30."),
        "fall": (None, "the fall: not judged; it needs a value of 5000 or more.")}
    if early := [value for value in curve if 10 <= value <= 30]:
        best = max(early, key=lambda value: part[value])
        rises = part[best] >= NEAR_PEAK and (first >= 10 or part[first] < NEAR_PEAK)
        verdict = "as published" if rises else "not here"
        begin = f", {part[first] * 100:.0f} % at {name[first]}" if first < 10 else ""
        bound = ", where the client was the bottleneck" if curve[top].client_bound else ""
        out["rise"] = verdict, (f"the rise: {verdict}; {part[best] * 100:.0f} % of its peak at {name[best]}{begin} (its peak: "
                                f"{grouped(curve[top].median)} requests/s at {name[top]}{bound}).")
    if last >= 5000:
        verdict = "as published" if part[last] <= FALLEN else "not here"
        out["fall"] = verdict, (f"the fall: {verdict}; {part[last] * 100:.0f} % of its peak is left at {name[last]} "
                                f"(published: {PUBLISHED[5000] / max(PUBLISHED.values()) * 100:.0f} %).")
    return out
