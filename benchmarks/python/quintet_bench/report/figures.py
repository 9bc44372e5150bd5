# SPDX-License-Identifier: BSL-1.0
"""What the templates and the tables of the documentation show: numbers, and rows of a summary."""
import json
import re
from collections.abc import Callable
from typing import Any

from ..results import label_of
from ..text import grouped, mebibytes, micros, percent, significant

MODELS = ("thread_per_connection", "single_reactor", "reactor_pool", "loop_per_thread", "loop_per_thread_pool")
Row = dict[str, Any]  # a member of "summary"
SHOWN: tuple[tuple[str, Callable[[Any], str]], ...] = (  # how to show a number, by its key
    (r"_us(_|$)", micros), (r"(rss|memory)_bytes$", mebibytes), (r"fraction|_rate$|locally$|error$", percent), (r"^seed$", str),
    (r"requests_per_s$|bytes_per_connection|instructions", grouped))
UNITS = {"percent": " %", "ns": " ns", "ms": " ms", "s": " s", "mib": " MiB"}  # by the last word of the key


def shown(key: str, value: Any) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return "–" if value is None else value if isinstance(value, str) else json.dumps(value)
    show = next((show for pattern, show in SHOWN if re.search(pattern, key)), grouped if value % 1 == 0 else significant)
    return show(value) + ("" if key.endswith("per_s") else UNITS.get(key.rpartition("_")[2], ""))


def words(key: str) -> str:
    return re.sub("_us(?=_per_request$|$)", "", key).replace("_", " ")


def tint_of(model: str | None) -> str:
    """The class that has the model's colour."""
    return f"m{MODELS.index(model) + 1}" if model in MODELS else "peer"


def complete(row: Row) -> Row:
    """Adds the server's name and colour. The range has only what was measured."""
    measured = {key: span for key, span in row["range"].items() if span}
    return row | {"label": label_of(row), "tint": tint_of(row["model"]), "range": measured}


def tip(row: Row, key: str) -> str:
    """What a mark shows when the pointer is on it."""
    rounds = f"{row['rounds']} rounds: {' to '.join(shown(key, value) for value in row['range'][key])}"
    return f"{shown(key, row[key])}; {rounds if row['rounds'] > 1 else 'one round'}"
