# SPDX-License-Identifier: BSL-1.0
"""How far two samples differ, and how sure that is, without an assumption about their distribution."""
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .results import Combination, Result, Sample, label_of, summarise

CONFIDENCE = 0.95
ENOUGH_CONFIDENCE = 0.8                 # two rounds against three reach it
ALIKE = 1.2                             # those that the best may lead by more, for all that the rounds tell, are not alike
Filter = Callable[[Result], bool]


class Interval(NamedTuple):
    """The ratio of two samples that were measured in separate rounds."""
    ratio: float                        # of the medians
    low: float
    high: float
    confidence: float                   # that the true ratio is from low to high: 0.95, or less if there are too few rounds

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high


@functools.cache
def _cut(n: int, m: int) -> tuple[int, float]:
    """The number of sorted ratios to drop at each end, and the remaining confidence."""
    if n * m > 2500:  # then the normal distribution is a good approximation
        return max(0, int(n * m / 2 - 1.96 * math.sqrt(n * m * (n + m + 1) / 12))), CONFIDENCE
    # In how many rank orders of i values and 0 to m others do 0, 1, 2 ... of the pairs have the first above the second?
    orders = [np.ones(1)] * (m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):  # the largest is one of the i, above all j, or one of the others
            orders[j] = np.pad(orders[j], (j, 0)) + np.pad(orders[j - 1], (0, i))
    confidence = 1 - 2 * np.cumsum(orders[m]) / orders[m].sum()
    cut = max(0, int(np.count_nonzero(confidence >= CONFIDENCE)) - 1)
    return cut, max(0.0, float(confidence[cut]))


def ratio_interval(of: Iterable[float], to: Iterable[float]) -> Interval | None:
    """Inverts the Mann-Whitney test. Only values above 0 count; None if one side has none."""
    above, below = (np.array([value for value in values if value > 0]) for values in (of, to))
    if not above.size or not below.size:
        return None
    ratios = np.sort(np.divide.outer(above, below), axis=None)
    cut, confidence = _cut(above.size, below.size)
    ratio = float(np.median(above) / np.median(below))
    return Interval(ratio, min(ratio, float(ratios[cut])), max(ratio, float(ratios[-1 - cut])), confidence)


def may_lead(best: Sample, other: Sample) -> bool:
    """Whether the rounds leave open that the best is far ahead: ranges that overlap do not show that two are alike."""
    ratio = ratio_interval(best.values, other.values)
    return ratio is not None and ratio.confidence >= ENOUGH_CONFIDENCE and ratio.high > ALIKE


def paired(results: Iterable[Result], key: str, first: Filter, second: Filter, workload: str | None = None) -> Sample | None:
    """The first server's figure over the second's in each round that has both: a disturbance of the round affects both. With a
    workload, of the results under it."""
    good = [r for r in results if not r.get("error") and workload in (None, r.get("workload"))]
    above = {r["round"]: r[key] for r in reversed(good) if first(r)}
    ratios = tuple(above[r["round"]] / r[key] for r in good
                   if second(r) and (r[key] or 0) > 0 and above.get(r["round"]) is not None)
    return Sample(ratios) if ratios else None


def samples_by(results: Iterable[Result], name: str, key: str) -> dict[Any, Sample]:
    """A figure by what has this name in the results, such as "model"; only of those all of whose rounds have it."""
    out: dict[Any, list[Any]] = {}
    for r in results:
        out.setdefault(r[name], []).append(None if r["error"] else r[key])
    return {what: Sample(tuple(values)) for what, values in out.items() if None not in values}


def ratios_to(reference: Callable[[Combination], Filter], results: Sequence[Result],
              key: Callable[[Combination], str]) -> dict[tuple[str, str], Sample | None]:
    """By workload and label, each server's figure over that of its reference; None: it is the reference, or has no round with
    it."""
    def ratio(row: Combination) -> Sample | None:
        is_other = reference(row)
        return None if is_other(row.first) else paired(
            results, key(row), lambda r: label_of(r) == row.label, is_other, row.workload)
    return {(row.workload, row.label): ratio(row) for row in summarise(results)}


def ratio_text(ratio: Sample, what: str, of_whom: str) -> str:
    """"1.02 times the CPU of libuv (rounds from 0.98 to 1.05, within the noise the same)"."""
    same = ", within the noise the same" if ratio.low <= 1 <= ratio.high else ""
    rounds = f" (rounds from {ratio.low:.2f} to {ratio.high:.2f}{same})" if len(ratio.values) > 1 else ""
    return f"{ratio.median:.2f} times the {what} of {of_whom}{rounds}"
