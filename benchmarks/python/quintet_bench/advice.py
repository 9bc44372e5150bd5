# SPDX-License-Identifier: BSL-1.0
"""Recommends a model for each kind of handler, and shows the library's cost beside hand-written code."""
from collections.abc import Sequence
from typing import Any

from .plan import COUNTERPARTS
from .results import Combination, Result, workload_names
from .statistics import paired_ratio, ratio_json, ratio_text
from .text import micros, percent
from .verdict import CPU, disturbance, metric_of, rank, sentence_of

# For each handler the first measured workload gives the answer.
QUESTIONS = {"cheap": ("echo", "pipeline", "large"), "computing": ("cpu", "mixed"), "blocking": ("blocking",)}


def _answer(handler: str, combinations: Sequence[Combination], workload: str) -> tuple[str | None, list[str], str]:
    """Returns the recommended model, None if the noise is too large; those as good; and the reason."""
    others, by_cpu = disturbance(combinations, workload), rank(combinations, workload, CPU)
    # If other programs used the CPUs, only CPU per request distinguishes the models, and only for a cheap handler.
    if handler == "cheap" and others and by_cpu.level and not by_cpu.too_noisy:
        best, *rest = by_cpu.leaders
        return best, rest, (f"{sentence_of(by_cpu)} Judged by CPU per request alone, since other programs had "
                            f"{percent(others)} of the CPUs.")
    by_speed = rank(combinations, workload, metric_of(workload))
    reason, names = sentence_of(by_speed), by_speed.leaders
    if len(names) < 2:
        return names[0] if names else None, [], reason
    model, frugal = None if by_speed.too_noisy else names[0], rank(by_speed.level, workload, CPU)
    if len(frugal.level) == 1 and not frugal.single_round:
        model = frugal.leaders[0]
        reason += f" Of these {model} needs least CPU: {micros(frugal.level[0].samples[CPU].median)} a request."
    return model, [name for name in names if name != model], reason


def advise(combinations: Sequence[Combination]) -> list[dict[str, Any]]:
    names, out = workload_names(combinations), []
    for handler, wanted in QUESTIONS.items():
        measured = [name for family in wanted for name in names if name.partition(":")[0] == family]
        model, as_good, reason = (_answer(handler, combinations, measured[0]) if measured else
                                  (None, [], f'Not measured; add "{wanted[0]}" to --workloads.'))
        out.append({"handler": handler, "workload": next(iter(measured), None), "model": model, "as_good": as_good,
                    "reason": reason})
    return out


def peer_ratios(results: Sequence[Result]) -> list[dict[str, Any]]:
    """CPU per request of a model over that of its hand-written counterpart, round by round."""
    out = []
    for workload in dict.fromkeys(r["workload"] for r in results):
        for model, peer in COUNTERPARTS.items():
            if ratio := paired_ratio(results, workload, CPU, lambda r: r["model"] == model, lambda r: r["peer"] == peer):
                told = {"sentence": f"{model} needs {ratio_text(ratio, 'CPU', f'a hand-written {peer} server')}."}
                out.append(ratio_json({"workload": workload, "model": model, "peer": peer}, CPU, ratio) | told)
    return out
