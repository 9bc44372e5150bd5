# SPDX-License-Identifier: BSL-1.0
"""Tables with columns of a command's own."""
from collections.abc import Callable, Container, Iterable, Sequence

from .results import Combination, Sample
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


def ratio_texts(ratio: Sample | None, absent: str) -> dict[str, str]:
    """The texts of the columns "ratio" and "range"."""
    return {"ratio": f"{ratio.median:.2f}" if ratio else absent,
            "range": f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio and len(ratio.values) > 1 else ""}


def aligned(rows: Sequence[Sequence[str]], left: Container[int] = (0,)) -> str:
    """Columns of text as wide as they need, to the right except those in `left`."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    cells = [[text.ljust(widths[i]) if i in left else text.rjust(widths[i]) for i, text in enumerate(row)] for row in rows]
    return "".join(f"  {'  '.join(row).rstrip()}\n" for row in cells)
