# SPDX-License-Identifier: BSL-1.0
"""A table with columns of a command's own."""
from collections.abc import Callable, Iterable, Sequence

from .results import Combination
from .table import Format, cell, remarks
from .text import percent
from .verdict import SPEED

Column = tuple[str, int, str, Format]   # title, width, key and format
SPREAD: Column = ("spread", 8, "spread", str)


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
