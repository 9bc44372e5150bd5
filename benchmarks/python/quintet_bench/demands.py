# SPDX-License-Identifier: BSL-1.0
"""What commands demand of their figures, and the exit status that follows: one rule for all of them."""
from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from .results import UNANSWERED, Document, Result, Sample, combination_key, label_of
from .statistics import ratio_json
from .text import grouped, percent, significant
from .verdict import BEARABLE, CPU, FOREIGN, SPEED, kept

Verdict = dict[str, Any]                # about what, metric, figures, "demand", "met" and "sentence"
WORDS = {True: "met", False: "not met", None: "too noisy to say"}
ALL_MET, NOT_MET, TOO_NOISY, INTERRUPTED = 0, 1, 3, 130     # exit statuses; 2: wrong arguments
TIMES = (SPEED, CPU, "p50_us")           # what other programs on the CPUs change
TOLERATED_RUNS = 0.05                   # share of unanswered runs that a machine may cause which is busy for a moment


def demanded(row: Mapping[str, Any], demand: str | None, met: bool | None) -> Verdict:
    """Adds a demand to a row that has a sentence. Without one nothing is demanded."""
    sentence = str(row["sentence"])
    told = f"{sentence.removesuffix('.')}; demanded: {demand}: {WORDS[met]}{'.' * sentence.endswith('.')}"
    return dict(row) | {"demand": demand, "met": met if demand else None, "sentence": told if demand else sentence}


def judged(about: Mapping[str, Any], metric: str, figure: Sample, text: str, low: float = 0, high: float = math.inf) -> Verdict:
    """The verdict on a figure. Without a bound nothing is demanded."""
    demand = f"at least {low:g}" if low else f"at most {high:g}" if high < math.inf else None
    met = kept(figure, low, high) if demand else None
    rounds = f"rounds from {significant(figure.low)} to {significant(figure.high)}"
    told = f"{text} ({rounds}; demanded: {demand}): {WORDS[met]}" if demand else f"{text} ({rounds})"
    return ratio_json(dict(about), metric, figure) | {"demand": demand, "met": met, "sentence": told}


def tempered(verdicts: Iterable[Verdict], results: Iterable[Result]) -> list[Verdict]:
    """Leaves a demand on times open that was missed while other programs used the CPUs. Counts stay as they are."""
    shares = [r[FOREIGN] for r in results if r.get(FOREIGN) is not None]
    others = statistics.median(shares) if shares else 0
    out = []
    for verdict in verdicts:
        if verdict["met"] is False and verdict.get("metric") in TIMES and others > BEARABLE:
            end = "." * verdict["sentence"].endswith(".")
            told = verdict["sentence"].removesuffix(end).removesuffix(WORDS[False]) + WORDS[None]
            verdict = verdict | {"met": None, "sentence": f"{told}, as other programs had {percent(others)} of the CPUs{end}"}
        out.append(verdict)
    return out


def status_of(verdicts: Iterable[Verdict], interrupted: bool = False) -> int:
    """0: all demands are met, 1: one is not, 3: otherwise one is too noisy to say, 130: interrupted."""
    if interrupted:
        return INTERRUPTED
    found = {verdict["met"] for verdict in verdicts if verdict["demand"]}
    return NOT_MET if False in found else TOO_NOISY if None in found else ALL_MET


def _tolerated(failures: list[Result], results: list[Result]) -> bool:
    """Runs that nobody answered are tolerated if they are few, and if each has another round that was answered."""
    answered = {combination_key(r) for r in results if not r["error"]}
    return (len(failures) <= TOLERATED_RUNS * len(results) and
            all(r["error"] == UNANSWERED and combination_key(r) in answered for r in failures))


def exit_status(document: Document, verdicts: Iterable[Verdict] = ()) -> int:
    """That of the verdicts, or 1 if runs failed or lost requests. Tells which."""
    if document.interrupted:
        return INTERRUPTED
    failures = [r for r in document.results if r["error"] or r["failed"]]
    tolerated = _tolerated(failures, document.results)
    for r in failures:
        why = r["error"] or f"{grouped(r['failed'])} requests failed"
        print(f"{'remark' if tolerated else 'failed'}: {r['workload']} {label_of(r)} round {r['round']}: {why}",
              file=sys.stderr)
    if failures and tolerated:
        print(f"remark: {len(failures)} of {len(document.results)} runs, which is tolerated up to {TOLERATED_RUNS * 100:g} % "
              "where other rounds were answered", file=sys.stderr)
    return status_of(verdicts) if tolerated else NOT_MET
