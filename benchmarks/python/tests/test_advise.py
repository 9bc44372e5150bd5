# SPDX-License-Identifier: BSL-1.0
"""advise: figures from planted samples of /proc, what loads tell, which model is taken and why, and when nobody can say."""
import random
from typing import Any

import pytest
from conftest import run_command
from quintet_bench.build import Build
from quintet_bench.commands import advise
from quintet_bench.demands import status_of
from quintet_bench.errors import UsageError
from quintet_bench.results import Document, Result
from quintet_bench.verdict import FOREIGN


def at(wall_s: float, threads: int, **counts: float) -> dict[str, Any]:
    usual = {"wall_s": wall_s, "cpu_s": wall_s / 2, "rss": 4096 * threads, "voluntary_switches": 10 * wall_s,
             "involuntary_switches": wall_s, "run_queue_us": 1e6 * wall_s}
    return usual | counts | {"threads": {str(number): (0, 0.0) for number in range(threads)}}


def test_figures_of_planted_samples() -> None:
    found = advise.used(at(1, 2), at(3, 5))
    assert found == {"switches": 22, "threads": 5, "rss": 20480, "waited_s": 2, "cpu_s": 1, "wall_s": 2}
    ended = advise.used(at(1, 5), at(3, 2))     # threads that ended took their counts with them
    assert (ended["switches"], ended["waited_s"], ended["cpu_s"]) == (None, None, 1)
    assert advise.highest(found, ended | {"wall_s": 4}) == found | {"wall_s": 4}
    assert advise.highest({}, ended) == ended


@pytest.mark.parametrize("text, rate", [
    ("PING: 12.00\rPING_INLINE: 98765.43 requests per second, p50=0.2 msec\n", 98765.43), ("Requests/sec:  1234.5\n", 1234.5),
    ("Requests per second:    321.00 [#/sec] (mean)", 321), ("tps = 77.5 (without initial connection time)", 77.5),
    ("  35,945 requests/s", 35945), ("all is well", None), ("1 requests/s\n2 requests/s", 2)])
def test_what_loads_tell(text: str, rate: float | None) -> None:
    assert advise.rate_of(text) == rate


def runs(rates: dict[str, tuple[float, ...]], cpu: dict[str, float] | None = None, others: float = 0.0,
         told: bool = True) -> list[Result]:
    """Loads of one second that tell their rate, or else of a fixed amount of work."""
    return [{"model": model, "error": None if rate else "the server ended", "rate": rate if told else None,
             "wall_s": 1.0 if told else 1 / max(rate, 1), "cpu_s": (cpu or {}).get(model, 0.5), "switches": None, "threads": 2,
             "rss": 1 << 20, "waited_s": 0.1, FOREIGN: others} for model, all_rates in rates.items() for rate in all_rates]


FAST, SLOW, LEVEL = (100.0, 102.0, 101.0, 103.0), (50.0, 52.0, 51.0, 49.0), (101.0, 100.0, 103.0, 102.0)


@pytest.mark.parametrize("results, model, status, part", [
    (runs({"single_reactor": FAST, "reactor_pool": SLOW}), "single_reactor", 0, "does 2.01 times what reactor_pool does"),
    (runs({"single_reactor": FAST, "reactor_pool": SLOW}, told=False), "single_reactor", 0, "no locks"),
    (runs({"single_reactor": FAST, "reactor_pool": LEVEL, "loop_per_thread": SLOW}, {"single_reactor": 0.9}), "reactor_pool", 0,
     "cannot be told apart by speed; of these it needs least CPU"),
    (runs({"single_reactor": FAST, "reactor_pool": LEVEL}), None, 3, "no model can be told from the others"),
    (runs({"single_reactor": FAST[:1], "reactor_pool": SLOW[:1]}), None, 3, "too few rounds"),
    (runs({"single_reactor": FAST, "reactor_pool": SLOW}, others=0.5), None, 3, "other programs had 50 % of the CPUs"),
    (runs({"single_reactor": (0.0,) * 4}), None, 1, "no model served the load; single_reactor failed: the server ended"),
    (runs({"single_reactor": FAST, "reactor_pool": (50.0, 0.0)}), "single_reactor", 0, "reactor_pool failed")])
def test_recommendations(results: list[Result], model: str | None, status: int, part: str) -> None:
    document = Document("advise", "", {}, {}, results)
    found = advise.EXPERIMENT.judged(document, {})
    assert (found["advice"]["model"], status_of(found["verdicts"])) == (model, status)
    text = advise.table(results, found)
    assert part in text and ("take " in text) == (model is not None)


MODELS = ("thread_per_connection", "single_reactor", "reactor_pool", "loop_per_thread", "loop_per_thread_pool")
# What each model does of the best speed, and its CPU for the same work; None: it serves nothing. Then the right answers.
CASES: dict[str, tuple[dict[str, tuple[float, float] | None], set[str]]] = {name: (dict(zip(MODELS, figures)), right)
                                                                            for name, figures, right in (
    ("cheap", [(0.45, 1.7), (0.6, 1.0), (0.4, 2.1), (1.0, 1.1), (0.9, 1.3)], {"loop_per_thread"}),
    ("computing", [(1.0, 1.02), (0.52, 1.0), (0.8, 1.1), (1.0, 1.0), (0.98, 1.04)],
     {"thread_per_connection", "loop_per_thread", "loop_per_thread_pool"}),
    ("sleeping", [(1.0, 1.0), (0.01, 1.0), (0.04, 1.3), (0.02, 1.0), (0.08, 1.2)], {"thread_per_connection"}),
    ("mixed", [(0.8, 1.1), (0.5, 1.0), (0.85, 1.2), (0.85, 1.0), (1.0, 1.05)], {"loop_per_thread_pool"}),
    ("many idle", [None, (0.6, 1.0), (0.45, 1.8), (1.0, 1.1), (0.85, 1.3)], {"loop_per_thread"}),
    ("short connections", [(0.4, 2.4), (0.7, 1.0), (0.6, 1.5), (1.0, 1.1), (0.99, 1.4)], {"loop_per_thread"}),
    ("one hot connection", [(0.99, 1.2), (1.0, 1.0), (0.6, 2.2), (0.99, 1.0), (0.9, 1.3)],
     {"single_reactor", "loop_per_thread"}),
    ("lock-bound", [(0.7, 2.5), (1.0, 1.0), (0.75, 1.8), (0.8, 2.0), (0.7, 2.4)], {"single_reactor"}))}


def planted(case: str, seed: int, spread: float, disturbed: float, told: bool, rounds: int = 9) -> list[Result]:
    """Rounds whose times spread, some of them disturbed: a third of the time went to others, which is mostly seen."""
    draw, out = random.Random(f"{case} {seed}"), list[Result]()
    for model, figures in CASES[case][0].items():
        for _ in range(rounds):
            slower = draw.lognormvariate(0, spread) * (1.5 if (hit := draw.random() < disturbed) else 1)
            speed, cost = figures or (1, 1)
            wall_s = 5 * slower if told else 5 * slower / speed
            out.append({"model": model, "error": None if figures else "refused", "rate": 1e5 * speed / slower if told else None,
                        "wall_s": wall_s, "cpu_s": 2 * cost * (speed if told else 1) * draw.lognormvariate(0, spread / 3),
                        "switches": None, "threads": 2, "rss": 1 << 20, "waited_s": 0.1,
                        FOREIGN: 0.33 if hit and draw.random() < 0.8 else 0.05})
    return out


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_planted_cases_are_told_right(case: str, told: bool) -> None:
    found = [advise.advise(planted(case, seed, 0.03, 0.1, told)) for seed in range(20)]
    assert len([one for one in found if one["model"] in CASES[case][1]]) >= 19, [one["model"] for one in found]


@pytest.mark.parametrize("case", CASES)
def test_a_noisy_case_gets_no_wrong_answer(case: str) -> None:
    """Where rounds move far more than models differ, and where other programs have the CPUs."""
    found = [advise.advise(planted(case, seed, 1.5, 0.2, True)) for seed in range(20)]
    wrong = [one["model"] for one in found if one["model"] and one["model"] not in CASES[case][1]]
    assert len(wrong) <= 1, wrong
    busy = advise.advise([r | {FOREIGN: 0.4} for r in planted(case, 1, 0.03, 0.1, True)])
    assert busy["model"] is None and busy["met"] is None and "too noisy: other programs" in busy["reasons"][0]


def test_a_planted_noisy_case_is_too_noisy() -> None:
    """All models alike but for noise."""
    alike = [[r | {"rate": r["rate"] / (CASES["lock-bound"][0][r["model"]] or (1, 1))[0], "cpu_s": draw.lognormvariate(1, 1)}
              for r in planted("lock-bound", seed, 1.0, 0.2, True)] for seed in range(20) for draw in [random.Random(seed)]]
    found = [advise.advise(one) for one in alike]
    assert len([one for one in found if one["met"] is None and one["reasons"][0].startswith("too noisy")]) >= 19


def test_options_that_are_missing_or_wrong_are_refused(build: Build) -> None:
    for line, part in (("--port 1 -- ./server", "--load"), ("--port 0 --load x -- y", "from 1 to 65535"),
                       ("--port 1 --load x", "COMMAND")):
        with pytest.raises(UsageError, match=part):
            run_command(advise, build, line)
