# SPDX-License-Identifier: BSL-1.0
"""How far two samples differ, and how sure that is, without an assumption about their distribution."""
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .results import Result, Sample, number

CONFIDENCE = 0.95
Filter = Callable[[Result], bool]


class Interval(NamedTuple):
    """The ratio of two samples that were measured in separate rounds."""
    ratio: float                        # of the medians
    low: float
    high: float
    confidence: float                   # that the true ratio is from low to high: 0.95, or less if there are too few rounds

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high


def _cut(n: int, m: int) -> tuple[int, float]:
    """The number of sorted ratios to drop at each end, and the remaining confidence."""
    if n * m > 10_000:  # then the normal distribution is a good approximation
        return max(0, int(n * m / 2 - 1.96 * math.sqrt(n * m * (n + m + 1) / 12))), CONFIDENCE
    # Chances that in 0, 1, 2 ... of the pairs the first exceeds the second: Gaussian binomial coefficients over their sum.
    chances = np.zeros(n * m + 1)
    chances[0] = 1
    for i in range(1, n + 1):
        chances[m + i:] -= chances[:-(m + i)].copy()                                # times 1 - q^(m+i)
        rows = np.pad(chances, (0, -chances.size % i)).reshape(-1, i)
        chances = rows.cumsum(axis=0).ravel()[:chances.size] * i / (m + i)          # over 1 - q^i
    confidence = 1 - 2 * np.cumsum(chances)
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


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE, seed: int = 1) -> tuple[float, float]:
    """A percentile bootstrap of the median of at least one value."""
    drawn = np.random.default_rng(seed).choice(np.asarray(values, float), (2000, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def paired_ratio(results: Iterable[Result], workload: str, key: str, first: Filter, second: Filter) -> Sample | None:
    """The first server's figure over the second's in each round that has both: a disturbance of the round affects both."""
    good = [r for r in results if r["workload"] == workload and not r["error"]]
    above = {r["round"]: r[key] for r in reversed(good) if first(r)}
    ratios = tuple(above[r["round"]] / r[key] for r in good
                   if second(r) and (r[key] or 0) > 0 and above.get(r["round"]) is not None)
    return Sample(ratios) if ratios else None


def ratio_text(ratio: Sample, what: str, of_whom: str) -> str:
    """"1.02 times the CPU of libuv (rounds from 0.98 to 1.05, within the noise the same)"."""
    same = ", within the noise the same" if ratio.low <= 1 <= ratio.high else ""
    rounds = f" (rounds from {ratio.low:.2f} to {ratio.high:.2f}{same})" if len(ratio.values) > 1 else ""
    return f"{ratio.median:.2f} times the {what} of {of_whom}{rounds}"


def ratio_json(about: dict[str, Any], metric: str, ratio: Sample) -> dict[str, Any]:
    """`about` describes the two servers."""
    return about | {"metric": metric, "median": number(ratio.median), "min": number(ratio.low), "max": number(ratio.high)}
