# SPDX-License-Identifier: BSL-1.0
"""Tables, paragraphs and lists of the documentation, in lines of at most 128 characters."""
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any


def table(heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in (heads, ["---"] * len(heads), *cells))


def filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 128, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) + "\n"


def listed(sentences: Iterable[str]) -> str:
    return "".join(filled("- " + sentence.replace("<", "&lt;"), "  ") for sentence in sentences)
