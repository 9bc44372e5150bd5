# SPDX-License-Identifier: BSL-1.0
"""What commands demand of their figures, and the exit status that follows: one rule for all of them."""
import math
import statistics
import sys
from collections.abc import Iterable
from typing import Any

from .results import UNANSWERED, Document, Result, Sample, combination_key, label_of, number
from .text import grouped, percent, significant
from .verdict import BEARABLE, FOREIGN, kept

Bound = tuple[float, float, str]        # lowest and highest value, and both in words
Verdict = dict[str, Any]                # about what, metric, figures, "demand", "met" and "sentence"
WORDS = {True: "met", False: "not met", None: "too noisy to say"}
GATE, REPORT = "gate", "report"         # a report stands in the table and does not change the exit status
KINDS = {GATE: "demanded", REPORT: "expected"}
ALL_MET, NOT_MET, TOO_NOISY, INTERRUPTED = 0, 1, 3, 130     # exit statuses; 2: wrong arguments
COUNTS = ("instructions_per_request", "receives_per_request", "writes_per_message", "segments", "bytes_per_connection",
          "accept_balance", "accept_wakes_per_connection", "")      # what other programs on the CPUs do not change
EXACT = ("instructions_per_request",)   # of which one round is as good as many
TOLERATED_RUNS = 0.05                   # share of unanswered runs that a machine may cause which is busy for a moment


def at_least(low: float, words: str = "") -> Bound:
    return low, math.inf, words or f"at least {low:g}"


def at_most(high: float, words: str = "") -> Bound:
    return -math.inf, high, words or f"at most {high:g}"


def demand(text: str, value: Sample, bound: Bound | None, kind: str = GATE, *, metric: str = "", met: bool | None = None,
           decided: bool = False, **about: Any) -> Verdict:
    """The verdict on a figure. Without a bound nothing is demanded. `decided`: `met` says what follows from several
    figures, or that a single one is beyond doubt or in doubt. The rounds stand in the text unless it has them."""
    if bound and not decided:
        met = kept(value, *bound[:2], exact=metric in EXACT)
    end = "." * text.endswith(".")
    told = text.removesuffix(".") + ("" if "(rounds from" in text or len(value.values) < 2 else
                                     f" (rounds from {significant(value.low)} to {significant(value.high)})")
    told += f"; {KINDS[kind]}: {bound[2]}: {WORDS[met]}" if bound else ""
    return about | {"metric": metric or None, "median": number(value.median), "min": number(value.low),
                    "max": number(value.high), "rounds": len(value.values), "demand": bound and bound[2], "kind": kind,
                    "met": met if bound else None, "sentence": told + end}


def tempered(verdicts: Iterable[Verdict], results: Iterable[Result]) -> list[Verdict]:
    """Leaves a demand on times open that was missed while other programs used the CPUs. Counts stay as they are."""
    shares = [r[FOREIGN] for r in results if r.get(FOREIGN) is not None]
    others = statistics.median(shares) if shares else 0
    out = []
    for verdict in verdicts:
        if verdict["met"] is False and (verdict["metric"] or "") not in COUNTS and others > BEARABLE:
            end = "." * verdict["sentence"].endswith(".")
            told = verdict["sentence"].removesuffix(end).removesuffix(WORDS[False]) + WORDS[None]
            verdict = verdict | {"met": None, "sentence": f"{told}, as other programs had {percent(others)} of the CPUs{end}"}
        out.append(verdict)
    return out


def status_of(verdicts: Iterable[Verdict], interrupted: bool = False) -> int:
    """Of the gates: 0: all are met, 1: one is not, 3: otherwise one is too noisy to say, 130: interrupted."""
    if interrupted:
        return INTERRUPTED
    found = {verdict["met"] for verdict in verdicts if verdict["demand"] and verdict.get("kind", GATE) == GATE}
    return NOT_MET if False in found else TOO_NOISY if None in found else ALL_MET


def exit_status(document: Document, verdicts: Iterable[Verdict] = ()) -> int:
    """That of the verdicts, or 1 if runs of servers failed or lost requests. Tells which. Runs that nobody answered are
    tolerated if they are few, and if each has another round that was answered."""
    if document.interrupted:
        return INTERRUPTED
    runs = [r for r in document.results if "workload" in r]     # other measurements fail by their verdicts
    failures = [r for r in runs if r["error"] or r["failed"]]
    answered = {combination_key(r) for r in runs if not r["error"]}
    tolerated = (len(failures) <= TOLERATED_RUNS * len(runs) and
                 all(r["error"] == UNANSWERED and combination_key(r) in answered for r in failures))
    for r in failures:
        why = r["error"] or f"{grouped(r['failed'])} requests failed"
        print(f"{'remark' if tolerated else 'failed'}: {r['workload']} {label_of(r)} round {r['round']}: {why}",
              file=sys.stderr)
    if failures and tolerated:
        print(f"remark: {len(failures)} of {len(runs)} runs, which is tolerated up to {TOLERATED_RUNS * 100:g} % "
              "where other rounds were answered", file=sys.stderr)
    return status_of(verdicts) if tolerated else NOT_MET
