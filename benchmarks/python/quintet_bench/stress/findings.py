# SPDX-License-Identifier: BSL-1.0
"""Results of one run: figures, and the demands on them."""
import math
from typing import Any, NamedTuple

from ..results import number
from ..text import grouped


def number_text(value: float) -> str:
    """As many digits as a reader can use: 12,345; 0.0123; 1.25."""
    if not math.isfinite(value):
        return "not measured"
    whole = math.copysign(math.floor(abs(value) + 0.5), value)
    return grouped(whole) if value == whole or abs(value) >= 100 else f"{value:.3g}"


class Figure(NamedTuple):
    label: str
    value: float                            # NaN: it could not be measured, and meets no demand
    unit: str
    demand: str                             # "": none
    met: bool


class Findings:
    def __init__(self) -> None:
        self.figures: dict[str, Figure] = {}
        self.remarks: list[str] = []
        self.failure: str | None = None     # why the run could not be finished

    def tell(self, key: str, label: str, value: float, unit: str = "", *, at_most: float | None = None,
             exactly: float | None = None) -> None:
        demand = (f"at most {number_text(at_most)}" if at_most is not None else
                  f"must be {number_text(exactly)}" if exactly is not None else "")
        met = value <= at_most if at_most is not None else exactly is None or value == exactly
        self.figures[key] = Figure(label, value, unit, demand, met)

    @property
    def passed(self) -> bool:
        return not self.failure and all(figure.met for figure in self.figures.values())

    def text(self) -> str:
        lines = [f"{f.label:<52} {f'{number_text(f.value)} {f.unit}'.rstrip():>14}"
                 + (f"  ({f.demand})" if f.demand else "") + ("" if f.met else "  FAILED") for f in self.figures.values()]
        return "".join(f"  {line}\n" for line in lines + self.remarks + [f"FAILED: {self.failure}"] * bool(self.failure))

    def json(self) -> dict[str, Any]:
        figures = self.figures.items()
        return {"passed": self.passed, "figures": {key: number(f.value, isinstance(f.value, int)) for key, f in figures},
                "demands": {key: {"demand": f.demand, "met": f.met} for key, f in figures if f.demand},
                "remarks": self.remarks, "failure": self.failure}
