# SPDX-License-Identifier: BSL-1.0
"""What machines have found that others recorded with scripts/record-here: a row for each demand, a column for each machine."""
from collections.abc import Iterator, Sequence
from typing import Any

from .demands import WORDS
from .markdown import table
from .text import significant

FOUND = ("median", "min", "max", "rounds", "met", "sentence", "kind", "metric", "demand", "number")
NONE_YET = "No machine has been recorded yet.\n"


def verdicts_in(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The demands of a file, whatever the key of their list is."""
    for value in document.values():
        for one in value if isinstance(value, list) else ():
            if isinstance(one, dict) and one.get("demand") and "met" in one and "sentence" in one:
                yield one


def row_of(step: str, verdict: dict[str, Any]) -> str:
    """The same for each machine: what the demand is about, without figures."""
    words = [str(value) for key, value in verdict.items() if key not in FOUND and value is not None]
    metric = verdict["metric"] or ""
    return f"{step}: {', '.join(words + [metric] * bool(metric))}: {verdict['demand']}"


def cell_of(verdict: dict[str, Any]) -> str:
    figure = "" if verdict["median"] is None else f"{significant(verdict['median'])}: "
    return figure + ("**not met**" if verdict["met"] is False else WORDS[verdict["met"]])


def machines_table(records: Sequence[dict[str, Any]]) -> str:
    """`records`: files of record-here, one for each machine."""
    if not records:
        return NONE_YET
    columns = [{row_of(step, one): cell_of(one) for step, found in record["records"].items()
                for one in verdicts_in(found.get("document", {}))} for record in records]
    heads = [f"{e['cpu_model']}, {e['cores']} CPUs, {e['date'][:10]}" for e in (record["environment"] for record in records)]
    rows = dict.fromkeys(row for column in columns for row in column)
    return table(["demand", *heads], ([row, *(column.get(row, "-") for column in columns)] for row in rows))
