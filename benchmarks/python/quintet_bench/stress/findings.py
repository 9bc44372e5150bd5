# SPDX-License-Identifier: BSL-1.0
"""Results of one run: figures, and the demands on them."""
import math
from typing import Any

from ..results import Result, number
from ..table import aligned

UNITS = {"us": "us", "ms": "ms", "mib": "MiB", "bytes": "B", "percent": "%"}    # by the last word of a key
FAILED, TOO_NOISY, PASSED = "FAILED", "too noisy to say", "passed"


class Findings:
    def __init__(self) -> None:
        self.figures: dict[str, float | None] = {}
        self.demands: dict[str, dict[str, Any]] = {}
        self.rounds: list[dict[str, Any]] = []
        self.remarks: list[str] = []
        self.failure: str | None = None     # why the run could not be finished

    def tell(self, key: str, value: float, *, at_most: float | None = None, exactly: float | None = None,
             noise: str = "") -> None:
        """A value of NaN could not be measured, and meets no demand. `noise`: why a value above its bound proves nothing."""
        self.figures[key] = number(value)
        bound = exactly if at_most is None else at_most
        if bound is None:
            return
        met: bool | None = value == bound if at_most is None else value <= bound
        if not met and noise and math.isfinite(value):
            met = None
            self.remarks.append(f"{TOO_NOISY}: {noise}")
        self.demands[key] = {"demand": f"{'must be' if at_most is None else 'at most'} {number_text(bound)}", "met": met}

    def note(self, **figures: float) -> None:
        """Figures of which nothing is demanded."""
        for key, value in figures.items():
            self.tell(key, value)

    @property
    def verdict(self) -> str:
        met = {demand["met"] for demand in self.demands.values()}
        return FAILED if self.failure or False in met else TOO_NOISY if None in met else PASSED

    def json(self) -> Result:
        return {"verdict": self.verdict, "passed": self.verdict != FAILED, "figures": self.figures, "demands": self.demands,
                "remarks": self.remarks, "failure": self.failure} | ({"rounds": self.rounds} if self.rounds else {})


def number_text(value: float | None) -> str:
    """As many digits as a reader can use: 12,345; 0.0123; 1.25."""
    if value is None:
        return "not measured"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"


def _row(key: str, value: float | None, demand: dict[str, Any] | None) -> list[str]:
    name, _, last = key.rpartition("_")
    label, unit = (name, f" {UNITS[last]}") if last in UNITS else (key, "")
    ends = {True: "", None: f"  {TOO_NOISY}", False: f"  {FAILED}"}
    return [label.replace("_", " "), number_text(value) + unit, f"({demand['demand']}){ends[demand['met']]}" if demand else ""]


def text_of(found: Result) -> str:
    """Findings as the file has them."""
    rows = [_row(key, value, found["demands"].get(key)) for key, value in found["figures"].items()]
    failure = [f"{FAILED}: {found['failure']}"] if found["failure"] else []
    return aligned(rows, left=(0, 2)) + "".join(f"  {line}\n" for line in found["remarks"] + failure)
