# SPDX-License-Identifier: BSL-1.0
"""Numbers and lists as readers want them."""
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def table(heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    cells = [["" if cell is None else str(cell).strip() for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in (heads, ["---"] * len(heads), *cells))


def filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 128, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) + "\n"


def listed(sentences: Iterable[str]) -> str:
    return "".join(filled("- " + sentence.replace("<", "&lt;"), "  ") for sentence in sentences)


def grouped(value: float) -> str:
    return f"{value:,.0f}"


def significant(value: float) -> str:
    """Three significant digits."""
    if value == 0 or not math.isfinite(value):
        return "0"
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 100:
        return grouped(rounded)
    return f"{rounded:.{min(9, max(0, 2 - math.floor(math.log10(abs(rounded)))))}f}"


def micros(us: float) -> str:
    if us >= 999_500:
        return f"{significant(us / 1e6)} s"
    if us >= 999.5:
        return f"{significant(us / 1e3)} ms"
    return f"{significant(us * 1e3)} ns" if 0 < us < 0.9995 else f"{significant(us)} us"


def percent(fraction: float) -> str:
    value = fraction * 100
    return f"{value:.1f} %" if value != 0 and abs(value) < 0.95 else f"{value:.0f} %"


def mebibytes(size: float) -> str:
    return f"{significant(size / 1024 ** 2)} MiB"


def joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


FORMATS: tuple[tuple[str, Callable[[Any], str]], ...] = (   # how to show a number, by its key
    (r"_us(_|$)", micros), (r"(rss|memory)_bytes$", mebibytes), (r"fraction|locally$", percent), (r"^seed$", str),
    (r"requests_per_s$|bytes_per_connection|instructions", grouped))
UNITS = {"percent": " %", "ms": " ms", "s": " s"}           # by the last word of the key


def shown(key: str, value: Any) -> str:
    """A figure, or a setting, as its key asks for."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return "–" if value is None else value if isinstance(value, str) else json.dumps(value)
    show = next((show for pattern, show in FORMATS if re.search(pattern, key)), grouped if value % 1 == 0 else significant)
    return show(value) + ("" if key.endswith("per_s") else UNITS.get(key.rpartition("_")[2], ""))


def words(key: str) -> str:
    return re.sub("_us(?=_per_request$|$)", "", key).replace("_", " ")
