# SPDX-License-Identifier: BSL-1.0
"""forecast: the simulator against queueing theory, the models with made-up costs, and what is said of them."""
import dataclasses
import math
from typing import Any

import pytest

from conftest import made_up
from quintet_bench.commands.forecast import parse_assumptions
from quintet_bench.errors import UsageError
from quintet_bench.forecast.costs import MachineCosts, ModelCosts, between
from quintet_bench.forecast.engine import Simulator, Steps, Thread
from quintet_bench.forecast.findings import conclude, errors, table
from quintet_bench.forecast.runs import FITTED_RUNS, Observation, scenario_of
from quintet_bench.forecast.server import Scenario, simulate
from quintet_bench.forecast.shapes import accept_shape, accepting, io_context_shape, shard_shape
from quintet_bench.results import Document


def some_costs(**more: Any) -> MachineCosts:
    models = [ModelCosts(5, 5, 2, 2, worker=1, handoff=20, expensive_loop=8, expensive_worker=6, known=True) for _ in range(5)]
    return MachineCosts([(0, 2, 10), (100, 6, 30)], 1.0, 1, 0.5, 0.05, 0.15, 3, **{"models": models} | more)


def saturated(model: int, cores: int, handler_us: float = 0, **more: Any) -> float:
    s = Scenario(model, cores, cores, cores, 400, handler_us, "ideal")._replace(**more)
    return simulate(some_costs(), s).requests_per_s


@pytest.mark.parametrize("load", [0.3, 0.8])
@pytest.mark.parametrize("random", [False, True])
def test_waiting_times_are_those_of_md1_and_mm1(load: float, random: bool) -> None:
    sim, service = Simulator(MachineCosts([(0, 0, 0)]), seed=7), 10.0
    arrivals: list[float] = []
    waited: list[float] = []

    def exponential(mean: float) -> float:
        return -mean * math.log1p(-sim.random())

    def arrive(_: int) -> None:
        arrivals.append(sim.env.now)
        server.wake()
        sim.after(exponential(service / load), arrive, 0)

    def serve(t: Thread) -> Steps:
        while True:
            while not arrivals:
                yield from t.sleep()
            waited.append(sim.env.now - arrivals.pop(0))
            yield from t.run(exponential(service) if random else service)
            sim.done += 1
    server = Thread(sim, sim.cores(1), serve)
    arrive(0)
    sim.advance(40_000)
    expected = load * service / (1 - load) * (1 if random else 0.5)     # Pollaczek and Khinchine
    assert sum(waited) / len(waited) == pytest.approx(expected, rel=0.06)
    assert server.used / sim.env.now == pytest.approx(load, rel=0.03)   # the utilisation law


def test_costs_between_and_beyond_the_points() -> None:
    assert [round(between(6, 9, n), 3) for n in (1, 100, 316.22777, 1000, 10_000)] == [6, 6, 7.5, 9, 12]
    assert [some_costs().wake(idle) for idle in (0, 50, 1000)] == [(2, 10), (4, 20), (6, 30)]


def test_the_models_do_what_their_structure_demands() -> None:
    assert saturated(4, 1) == pytest.approx(1e6 / 5, rel=0.05)
    assert saturated(4, 8, connections=800) == pytest.approx(8e6 / 5, rel=0.05)
    assert saturated(2, 8) == pytest.approx(saturated(2, 1), rel=0.02)
    assert saturated(3, 2, 94) == pytest.approx(2e6 / (8 + 6 + 94), rel=0.05)
    many = saturated(3, 32, 94)                                         # bounded by its loop
    assert 0.6e6 / 8 < many < 1e6 / 8 and saturated(5, 32, 94) > 2 * many
    assert saturated(5, 2, 10) == pytest.approx(2e6 / (5 + 10), rel=0.05)   # cheap handlers stay on the loops
    assert saturated(5, 3, 50) == saturated(5, 3, 50) == pytest.approx(saturated(5, 3, 50, seed=2), rel=0.04)


def test_a_lone_connection_pays_every_wake_up() -> None:
    loop, pool = (simulate(some_costs(spread=0), Scenario(model, connections=1, requests=500)) for model in (2, 3))
    assert loop.client_cpu > 2 + 2 and loop.loop_cpu > 5 + 2 and 1e6 / loop.requests_per_s > 5 + 2 + 10 + 10
    assert pool.requests_per_s < loop.requests_per_s and pool.worker_cpu > 0


@pytest.mark.parametrize("model", [1, 2, 3, 4, 5])
def test_no_core_does_more_than_there_is_time(model: int) -> None:
    found = simulate(some_costs(), Scenario(model, 2, 2, 4, 100, 50, "shared"))
    assert (0.9 if model == 2 else 1.9) < found.cpu_us * found.requests_per_s / 1e6 <= 2.04
    assert 50 < found.p50_us <= found.p99_us


def test_published_shapes_follow_from_the_structures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quintet_bench.forecast.shapes.SIZES", ((1, 1), (8, 8), (40, 8)))   # the others take long
    rows = accept_shape(some_costs(), 40)["rows"]
    assert rows[0]["shared"] == pytest.approx(rows[0]["separate"], rel=0.02)
    assert rows[-1]["separate"] == pytest.approx(24 * rows[0]["separate"], rel=0.03)
    assert rows[-1]["shared"] < 0.95 * max(row["shared"] for row in rows) and rows[-1]["published_shared"] == 159_000
    assert accepting(some_costs(spin_share=0), 40, 4, 36) == pytest.approx(1e6 / 4, rel=0.02)
    rows = io_context_shape(some_costs(), 1000)["rows"]
    assert rows[0]["shared"] == pytest.approx(rows[0]["separate"], rel=0.25)
    assert all(row["shared"] < row["separate"] for row in rows)


def test_costs_are_found_again_and_held_out_runs_are_predicted() -> None:
    """A machine with known costs is simulated in place of measured runs."""
    works = [(*run, False) for run in (*FITTED_RUNS, ("echo", 30), ("cpu:200us", 100))] + [("cpu:200us", 100, True)]
    machine, runs = dataclasses.replace(some_costs(), work_factor=1.1), []
    for model, (work, connections, shared) in ((model, work) for model in (2, 3, 5) for work in works):
        of, s = machine.models[model - 1], scenario_of(model, connections, float(work[4:-2] or 0), shared)
        of.loop_many, of.resume, of.client_resume, of.wake_extra = 7.0 + model, 2, 1, 3
        runs += [Observation(work, s, simulate(machine, s))] if model != 5 or connections > 1 else []
    costs = dataclasses.replace(machine, models=[ModelCosts() for _ in range(5)])
    out = conclude(Document("forecast", "1", {}, {}, [made_up(requests_per_s=1.0)]), costs, runs, [1, 4], 100, 200.0)
    assert [of.known for of in costs.models] == [False, True, True, False, False]   # model 5 lacks a run
    for name in ("loop_few", "loop_many", "client_few", "expensive_loop"):
        assert getattr(costs.models[2], name) == pytest.approx(getattr(machine.models[2], name), rel=0.05)
    found = out["errors"]["held_out"]["requests_per_s"]["all"]
    assert found["runs"] == found["within"] == 6 and found["median"] < 0.02
    assert len(out["fitted"]) == 11 and len(out["forecast"]) == 2 * 2 * 2 and not out["settings"]["interrupted"]
    assert all((row["error"] is None) == (row["model"] == "loop_per_thread_pool") for row in out["held_out"])
    assert all(cost["source"].startswith(("assumed", "measured here", "fitted")) for cost in out["costs"])
    text = table(out | {"shapes": [shard_shape(machine, 400)]})
    for row in out["forecast"]:         # every line of a forecast says so
        assert all(line.startswith("  forecast ") for line in text.splitlines() if f"{row['requests_per_s']:,.0f}" in line)
    assert "held out, requests/s: within 15 %: 6 of 6" in text and "FORECAST, not measured: cpu:200 us, 100 conn" in text
    assert "published: Seastar" in text and "-> forecast: " in text and "nan" not in text


def test_errors_are_counted_by_their_size_and_not_their_sign() -> None:
    rows = [{"error": error, "disturbed": error == 5} for error in (0.1, -0.2, 0.0, None, 5)]
    assert errors(rows, "error", True) == {"runs": 3, "bound": 0.15, "within": 2, "median": 0.1, "worst": 0.2}
    assert errors(rows[3:4], "error") is None


def test_assumptions_are_parsed() -> None:
    assert parse_assumptions("lines=8,spin-share=2") == {"lines": 8, "spin_share": 2}
    for text, why in (("line=3", "one of: lines, spread, slice, spin-share, accept-locked, away"), ("lines", "lines=NUMBER"),
                      ("lines=3,spread=2", '"spread=2" is not spread=NUMBER, with a number from 0 to 1')):
        with pytest.raises(UsageError, match=why):
            parse_assumptions(text)
