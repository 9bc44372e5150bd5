# SPDX-License-Identifier: BSL-1.0
"""The best models of a workload and their lead, or that the noise is too large to tell."""
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .results import Combination, Sample, number
from .text import grouped, joined, micros, percent, significant

SPEED, CPU, LATENCY, HEARTBEAT = "requests_per_s", "server_cpu_us_per_request", "p50_us", "heartbeat_p99_us"
SUBJECTS = {SPEED: "serves most requests", LATENCY: "answers fastest (p50)",
            HEARTBEAT: "keeps its heartbeat steadiest (p99)", CPU: "needs least CPU per request"}
EXPENSIVE = ("cpu", "blocking", "mixed", "heartbeat")       # the handler's own work decides the CPU per request
Cost = NamedTuple("Cost", [("key", str), ("word", str), ("counted", bool)])
FOREIGN, QUIET, BEARABLE = "foreign_cpu_fraction", 0.05, 0.15   # shares that need no remark, that keep throughput reliable


def interval(figure: Sample) -> tuple[float, float]:
    """Where the true median is with 95 % confidence (the sign test). With fewer than nine rounds all of them: too few to leave
    out a disturbed one."""
    n, cut = len(figure.values), 0
    while 2 * sum(math.comb(n, i) for i in range(cut + 2)) <= 0.05 * 2 ** n:
        cut += 1
    ordered = sorted(figure.values)
    return ordered[cut], ordered[-1 - cut]


def kept(figure: Sample, low: float = -math.inf, high: float = math.inf, exact: bool = False) -> bool | None:
    """Whether a figure keeps its bounds. None, too noisy to say: the interval contains a bound, or there is a single round of
    a figure that is not exact."""
    least, most = interval(figure)
    if len(figure.values) < 2 and not exact:
        return None
    if low <= least and most <= high:
        return True
    return False if most < low or least > high else None


def cost_of(c: Combination) -> Cost:
    """The metric that compares the cost of two servers: instructions if counted (they repeat exactly), else CPU time."""
    key = "instructions_per_request"
    return Cost(key, "instructions", True) if key in c.samples else Cost(CPU, "CPU", False)


class Ranking(NamedTuple):
    """Models ranked by one metric."""
    metric: str
    level: list[Combination]            # the best median first, then all whose range overlaps with its range
    behind: list[Combination]           # the others, best first
    single_round: bool                  # the spread is unknown, so nothing counts as level

    @property
    def leaders(self) -> list[str]:
        return [c.label for c in self.level]

    @property
    def too_noisy(self) -> bool:
        return len(self.level) > 1 and not self.behind

    def times_better(self, other: Combination) -> float:
        """How many times better the best is than the other."""
        pair = self.level[0].samples[self.metric].median, other.samples[self.metric].median
        over, under = pair if self.metric == SPEED else reversed(pair)
        return over / under if under > 0 else 1.0


def metric_of(workload: str) -> str:
    return {"latency": LATENCY, "heartbeat": HEARTBEAT}.get(workload.partition(":")[0], SPEED)


def rank(combinations: Iterable[Combination], workload: str, metric: str) -> Ranking:
    order = [c for c in combinations if c.workload == workload and not c.is_peer and metric in c.samples]
    order.sort(key=lambda c: c.samples[metric].median, reverse=metric == SPEED)
    single_round = any(len(c.samples[metric].values) < 2 for c in order)
    level = order[:1] + [c for c in order[1:] if not single_round and order[0].samples[metric].overlaps(c.samples[metric])]
    return Ranking(metric, level, [c for c in order if c not in level], single_round)


def _margin(r: Ranking, other: Combination) -> str:
    """", 12 % more than x", "; x takes 2.1 times as long"."""
    times = r.times_better(other)
    far = f"{significant(times)} times as" if times >= 1.95 else ""
    if r.metric == SPEED:
        return f", {far} many as {other.label}" if far else f", {percent(times - 1)} more than {other.label}"
    if not far:
        return f", {percent(1 - 1 / times)} less than {other.label}"
    return f"; {other.label} needs {far} much" if r.metric == CPU else f"; {other.label} takes {far} long"


def sentence_of(r: Ranking) -> str:
    if not r.level:
        return "No model gave figures for this workload."
    best, more, value = r.level[0], r.metric == SPEED, r.level[0].samples[r.metric].median
    text = f"{grouped(value)} requests/s" if more else micros(value)
    if r.too_noisy:
        return (f"Too noisy to say which {SUBJECTS[r.metric]}: the ranges of the {len(r.level)} models overlap "
                f"(best median {text}, {best.label}).")
    if not r.behind:
        return f"{best.label}: {text} (nothing to compare it with)."
    lead = text + _margin(r, r.behind[0])
    if r.single_round:
        return f"{best.label} leads with {lead}, in a single round; more rounds would show whether that holds."
    last = r.behind[-1]  # it says more about a workload than a close follower, if it is far behind
    lead += _margin(r, last) if len(r.behind) > 1 and r.times_better(last) >= 1.5 else ""
    if len(r.level) == 1:
        return f"{best.label} {SUBJECTS[r.metric]}: {lead}."
    return f"{joined(r.leaders)} lead and cannot be told apart (ranges overlap): {'up' if more else 'down'} to {lead}."


def disturbance(combinations: Iterable[Combination], workload: str) -> float | None:
    """The share of the CPUs that other programs used, if it makes this workload's throughput unreliable: the scheduler then
    gives a server CPU time by its number of threads. CPU per request stays valid."""
    shares = [c.samples[FOREIGN].median for c in combinations if c.workload == workload and FOREIGN in c.samples]
    return usual if shares and (usual := statistics.median(shares)) > BEARABLE else None


def compute_verdict(combinations: Sequence[Combination], workload: str) -> dict[str, Any]:
    """`also`: a finding beside the ranking; `caution`: why throughput is unreliable; `frugal`: least CPU per request."""
    r, cpu, speed, latency = (rank(combinations, workload, metric) for metric in (metric_of(workload), CPU, SPEED, LATENCY))
    family = workload.partition(":")[0]
    cheap, others = family not in EXPENSIVE, disturbance(combinations, workload)
    also = (f"Nine requests in ten are cheap: {sentence_of(latency)}" if family == "mixed" else
            sentence_of(cpu) if cheap and cpu.level else "")
    hint = "believe CPU per request rather than throughput and latency" if cheap else "run it again on a quiet machine"
    clear = len(r.level) == 1 and bool(r.behind) and not r.single_round
    return {"workload": workload, "metric": r.metric, "winner": r.leaders[0] if clear else None,
            "level": r.leaders, "ahead_by": number(r.times_better(r.behind[0])) if r.behind else None,
            "too_noisy": r.too_noisy, "sentence": sentence_of(r), "also": also,
            "caution": f"Other programs had {percent(others)} of the CPUs meanwhile: {hint}." if others else "",
            "fastest": speed.leaders, "frugal": cpu.leaders}


def noise_sentence(combinations: Sequence[Combination]) -> str:
    """Describes how much the throughput of equal rounds differed."""
    several = [c for c in combinations if SPEED in c.samples and len(c.samples[SPEED].values) > 1]
    out = "Noise: each combination ran once, so nothing is known about it; use --rounds 3 or more."
    if several:
        worst = max(several, key=lambda c: c.samples[SPEED].spread)
        usual = statistics.median(c.samples[SPEED].spread for c in several)
        out = (f"Noise: between rounds that should be equal the throughput moved by {percent(usual)} (median of "
               f"{len(several)} combinations), at worst by {percent(worst.samples[SPEED].spread)} ({worst.label}, "
               f"{worst.workload}). Smaller differences than that mean nothing.")
    shares = [c.samples[FOREIGN].median for c in combinations if FOREIGN in c.samples]
    if shares and (usual := statistics.median(shares)) > QUIET:
        out += (f" Other programs had {percent(usual)} of the CPUs meanwhile (at worst {percent(max(shares))}): "
                "on a quiet machine the figures are better.")
    return out
