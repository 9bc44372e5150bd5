# SPDX-License-Identifier: BSL-1.0
"""advise: figures from planted samples of /proc, what loads tell, which model is taken and why, and when nobody can say."""
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


def test_options_that_are_missing_or_wrong_are_refused(build: Build) -> None:
    for line, part in (("--port 1 -- ./server", "--load"), ("--port 0 --load x -- y", "from 1 to 65535"),
                       ("--port 1 --load x", "COMMAND")):
        with pytest.raises(UsageError, match=part):
            run_command(advise, build, line)
