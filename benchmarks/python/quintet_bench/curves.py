# SPDX-License-Identifier: BSL-1.0
"""Curves over an axis: who leads from where on, and whether throughput has the published shape.

Two servers are apart at a value if the ranges of their rounds do not overlap and their medians differ by more than rounds
usually move. Among the many pairs of points in a sweep, chance separates some in all their rounds, but not by more."""
from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable
from typing import Any

import numpy as np

from .demands import at_least, at_most, demand
from .results import Combination, Sample
from .text import grouped
from .verdict import SPEED, kept

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


def _usual_spread(curves: Curves) -> float:
    return statistics.median([point.spread for curve in curves.values() for point in curve.values()] or [0.0])


def _apart(a: Point, b: Point, noise: float) -> bool:
    return not a.overlaps(b) and abs(a.median - b.median) > noise * min(a.median, b.median)


def _zeros(a: Curve, b: Curve, start: float, end: float) -> list[float]:
    """Returns where two curves meet from start to end. Time per request is linear in a request's cost; throughput is not."""
    values = np.array([value for value in a if value in b and start <= value <= end])
    gaps = np.array([1 / b[value].median - 1 / a[value].median for value in values])
    at = np.flatnonzero(np.diff(gaps > 0))
    return list(map(float, values[at] + np.diff(values)[at] * gaps[at] / (gaps[at] - gaps[at + 1])))


def leads(curves: Curves) -> list[dict[str, Any]]:
    """Returns the leader from each place on, with the servers that are apart from it at no value of its stretch. The lead
    changes where a curve is apart from the leader and above it. A failed run does not end a lead."""
    noise = _usual_spread(curves)
    out: list[dict[str, Any]] = []
    since: list[float] = []             # the measured values at which the leaders took the lead
    for value in sorted({value for curve in curves.values() for value in curve}):
        leader = curves[out[-1]["server"]] if out else {}
        now, points = leader.get(value), {label: curve[value] for label, curve in curves.items() if value in curve}
        ahead = {label: point.median for label, point in points.items()
                 if (point.median > now.median and _apart(point, now, noise) if now else not out)}
        if ahead:
            best = max(ahead, key=lambda label: ahead[label])
            zeros = _zeros(leader, curves[best], since[-1], value) if out else []
            out.append({"from": zeros[-1] if zeros else value, "server": best})
            since.append(value)
    for lead, start, end in zip(out, since, [*since[1:], float("inf")]):
        leader = {value: point for value, point in curves[lead["server"]].items() if start <= value < end}
        met = {label: [_apart(leader[value], point, noise) for value, point in curve.items() if value in leader]
               for label, curve in curves.items() if label != lead["server"]}
        lead["as_good"] = [label for label, aparts in met.items() if aparts and not any(aparts)]
    return out


def _part(curve: Curve, value: float, top: float) -> Sample:
    """Throughput at a value over that of the peak, in each round that has both."""
    return Sample(tuple(one / most for one, most in zip(curve[value].values, curve[top].values)))


def shape(curve: Curve) -> list[dict[str, Any]]:
    """Does throughput over connections rise and fall as published? At least 90 % of the peak at 10 to 30 connections, less
    with fewer than 10, and at most 75 % with 5,000. "met" is None where rounds disagree; without a demand no value can tell."""
    top, first, last = peak(curve), min(curve), max(curve)
    part = {value: point.median / curve[top].median for value, point in curve.items()}
    name = {value: f"{grouped(value)} connection{'' if value == 1 else 's'}" for value in curve}
    rise, fall = ({"part": part, "metric": SPEED, "demand": None, "met": None, "sentence": f"the {part}: not judged; it needs "
                   f"a value {needed}."} for part, needed in (("rise", "from 10 to 30"), ("fall", "of 5000 or more")))
    if early := [value for value in curve if 10 <= value <= 30]:
        best = max(early, key=lambda value: part[value])
        steps = {kept(_part(curve, best, top), NEAR_PEAK), first >= 10 or kept(_part(curve, first, top), high=NEAR_PEAK)}
        met = False if False in steps else None if None in steps else True
        begin = f", {part[first] * 100:.0f} % at {name[first]}" if first < 10 else ""
        bound = ", where the client was the bottleneck" if curve[top].client_bound else ""
        rise = demand(f"the rise: {part[best] * 100:.0f} % of its peak at {name[best]}{begin} (its peak: "
                      f"{grouped(curve[top].median)} requests/s at {name[top]}{bound}).", _part(curve, best, top),
                      at_least(NEAR_PEAK, f"{NEAR_PEAK * 100:.0f} % from 10 to 30 connections, less before"), metric=SPEED,
                      met=met, decided=True, part="rise")
    if last >= 5000:
        fall = demand(f"the fall: {part[last] * 100:.0f} % of its peak is left at {name[last]} (published: "
                      f"{PUBLISHED[5000] / max(PUBLISHED.values()) * 100:.0f} %).", _part(curve, last, top),
                      at_most(FALLEN, f"at most {FALLEN * 100:.0f} %"), metric=SPEED, part="fall")
    return [rise, fall]
