# SPDX-License-Identifier: BSL-1.0
"""Results of one run: figures, and the demands on them."""
import math
from typing import Any

from ..results import number

UNITS = {"us": "us", "ms": "ms", "mib": "MiB", "bytes": "B", "percent": "%"}    # by the last word of a key


def number_text(value: float) -> str:
    """As many digits as a reader can use: 12,345; 0.0123; 1.25."""
    if not math.isfinite(value):
        return "not measured"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"


class Findings:
    def __init__(self) -> None:
        self.figures: dict[str, float | None] = {}
        self.demands: dict[str, dict[str, Any]] = {}
        self.rounds: list[dict[str, Any]] = []
        self.remarks: list[str] = []
        self.failure: str | None = None     # why the run could not be finished
        self._lines: list[str] = []

    def tell(self, key: str, value: float, *, at_most: float | None = None, exactly: float | None = None,
             noise: str = "") -> None:
        """A value of NaN could not be measured, and meets no demand. `noise`: why a value above its bound proves nothing."""
        self.figures[key] = number(value)
        name, _, last = key.rpartition("_")
        label, unit = (name, f" {UNITS[last]}") if last in UNITS else (key, "")
        line = f"{label.replace('_', ' '):<24} {number_text(value) + unit:>14}"
        word, bound = ("must be", exactly) if at_most is None else ("at most", at_most)
        if bound is not None:
            met: bool | None = value == bound if at_most is None else value <= bound
            if not met and noise and math.isfinite(value):
                met = None
                self.remarks.append(f"too noisy to say: {noise}")
            self.demands[key] = {"demand": f"{word} {number_text(bound)}", "met": met}
            line += f"  ({word} {number_text(bound)})" + {True: "", None: "  too noisy to say", False: "  FAILED"}[met]
        self._lines.append(line)

    def note(self, **figures: float) -> None:
        """Figures of which nothing is demanded."""
        for key, value in figures.items():
            self.tell(key, value)

    @property
    def passed(self) -> bool:
        return not self.failure and all(demand["met"] is not False for demand in self.demands.values())

    @property
    def verdict(self) -> str:
        too_noisy = any(demand["met"] is None for demand in self.demands.values())
        return "FAILED" if not self.passed else "too noisy to say" if too_noisy else "passed"

    def text(self) -> str:
        failure = [f"FAILED: {self.failure}"] if self.failure else []
        return "".join(f"  {line}\n" for line in self._lines + self.remarks + failure)

    def json(self) -> dict[str, Any]:
        return {"verdict": self.verdict, "passed": self.passed, "figures": self.figures, "demands": self.demands,
                "remarks": self.remarks, "failure": self.failure} | ({"rounds": self.rounds} if self.rounds else {})
