# SPDX-License-Identifier: BSL-1.0
"""forecast: the simulator against queueing theory, the models with made-up costs, and what is said of them."""
import dataclasses
import math
from typing import Any

import pytest

pytest.importorskip("simpy", reason="Python has no module simpy; apt-get install python3-simpy3")

from conftest import made_up
from quintet_bench.commands.forecast import parse_assumption
from quintet_bench.errors import UsageError
from quintet_bench.forecast.costs import MODELS, MachineCosts, ModelCosts, between
from quintet_bench.forecast.engine import Simulator, Steps, Thread
from quintet_bench.forecast.findings import conclude, errors, table
from quintet_bench.forecast.findings import FITTED_RUNS, scenario_of
from quintet_bench.forecast.server import Scenario, simulate
from quintet_bench.forecast.shapes import accept_shape, accepting, io_context_shape, shard_shape
from quintet_bench.results import Document


FIGURES: dict[str, Any] = {"errors": {}} | {
    key: [] for key in ("costs", "held_out", "fitted", "summary", "forecast", "verdicts")}


def some_costs(**more: Any) -> MachineCosts:
    models = {name: ModelCosts(5, 5, 2, 2, worker=1, handoff=20, expensive_loop=8, expensive_worker=6) for name in MODELS}
    return MachineCosts([(0, 2, 10), (100, 6, 30)], 1.0, 1, 0.5, 0.05, 0.15, 3, **{"models": models} | more)


@pytest.mark.parametrize("random, load", [(False, 0.3), (True, 0.3), (True, 0.8)])
def test_waiting_times_are_those_of_md1_and_mm1(load: float, random: bool) -> None:
    sim, service, arrivals, waited = Simulator(MachineCosts([(0, 0, 0)])), 10.0, list[float](), list[float]()

    def exponential(mean: float) -> float:
        return -mean * math.log1p(-sim.random())

    def arrive() -> Steps:
        while True:
            yield sim.env.timeout(exponential(service / load))
            arrivals.append(sim.env.now)
            server.wake()

    def serve(t: Thread) -> Steps:
        while True:
            while not arrivals:
                yield from t.sleep()
            waited.append(sim.env.now - arrivals.pop(0))
            yield from t.run(exponential(service) if random else service)
    server = Thread(sim, sim.cores(1), serve)
    sim.env.process(arrive())
    sim.env.run(40_000 * service / load)
    expected = load * service / (1 - load) * (1 if random else 0.5)     # Pollaczek and Khinchine
    assert sum(waited) / len(waited) == pytest.approx(expected, rel=0.06)
    assert server.used / sim.env.now == pytest.approx(load, rel=0.03)   # the utilisation law


def test_costs_between_and_beyond_the_points() -> None:
    assert [round(between(6, 9, n), 3) for n in (1, 100, 316.22777, 1000, 10_000)] == [6, 6, 7.5, 9, 12]
    assert [some_costs().wake(idle) for idle in (0, 50, 1000)] == [(2, 10), (4, 20), (6, 30)]


@pytest.mark.parametrize("model, cores, handler_us, expected, tolerance", [
    ("loop_per_thread", 1, 0, 1e6 / 5, 0.05), ("loop_per_thread", 8, 0, 8e6 / 5, 0.05), ("single_reactor", 8, 0, 1e6 / 5, 0.05),
    ("reactor_pool", 2, 94, 2e6 / (8 + 6 + 94), 0.05), ("reactor_pool", 32, 94, 1e6 / 10, 0.2),  # the last: bounded by its loop
    ("loop_per_thread_pool", 2, 10, 2e6 / (5 + 10), 0.05),              # cheap handlers stay on the loops
    ("loop_per_thread_pool", 32, 94, 32e6 / (8 + 6 + 94), 0.2)])
def test_the_models_do_what_their_structure_demands(model: str, cores: int, handler_us: float, expected: float,
                                                    tolerance: float) -> None:
    found = simulate(some_costs(), Scenario(model, cores, cores, cores, 800, handler_us, "ideal"))
    assert found["requests_per_s"] == pytest.approx(expected, rel=tolerance)


def test_a_lone_connection_pays_every_wake_up() -> None:
    loop, pool = (simulate(some_costs(spread=0), Scenario(model, connections=1, requests=500)) for model in MODELS[1:3])
    assert loop["client_cpu"] > 2 + 2 and loop["loop_cpu"] > 5 + 2 and 1e6 / loop["requests_per_s"] > 5 + 2 + 10 + 10
    assert pool["requests_per_s"] < loop["requests_per_s"] and pool["worker_cpu"] > 0


@pytest.mark.parametrize("model", MODELS)
def test_no_core_does_more_than_there_is_time(model: str) -> None:
    found = simulate(some_costs(), Scenario(model, 2, 2, 4, 100, 50, "shared"))
    assert (0.9 if model == "single_reactor" else 1.9) < found["cpu_us"] * found["requests_per_s"] / 1e6 <= 2.04
    assert 50 < found["p50_us"] <= found["p99_us"]


def test_published_shapes_follow_from_the_structures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quintet_bench.forecast.shapes.SIZES", ((1, 1), (8, 8), (40, 8)))   # the others take long
    rows = accept_shape(some_costs(), 40)["rows"]
    assert rows[0]["ratio"] == pytest.approx(1, rel=0.02) and rows[-1]["published_shared"] == 159_000
    assert rows[-1]["shared"] < 0.95 * max(row["shared"] for row in rows)
    assert accepting(some_costs(spin_share=0), 40, 4, 36) == pytest.approx(1e6 / 4, rel=0.02)
    shape = io_context_shape(some_costs(), 1000)
    rows = shape["rows"]
    assert f"{rows[1]['ratio']:.2f} times as many with 8 threads on 8 cores and " in shape["conclusion"]
    assert "(published: 2.57)" in shape["conclusion"]
    assert rows[0]["ratio"] == pytest.approx(1, rel=0.25) and all(row["ratio"] > 1 for row in rows)


def test_each_accept_strategy_has_a_curve_with_its_assumption_in_the_same_line() -> None:
    shape = accept_shape(some_costs(), 40)
    ways = {row["strategy"]: row for row in shape["strategies"]}
    curve = {name: {int(n): speed for n, speed in row["by_cores"].items()} for name, row in ways.items()}
    assert [row["published"] for row in ways.values()] == [None, None, 475_000, None, 283_000, 159_000]
    assert all(speeds[1] == pytest.approx(25_000, rel=0.02) and row["kind"] == "forecast" for speeds, row in
               zip(curve.values(), ways.values()))
    assert curve["reuse_port_cpu"][24] == 24 * 25_000 > curve["reuse_port"][24]
    assert curve["main_reactor"][24] == curve["main_reactor"][16] < 1e6 / 3     # its main loop accepts, 3 us each
    assert curve["one shared queue"][24] < curve["one shared queue"][8] and curve["one shared queue"][24] < min(
        curve["exclusive"][24], curve["Linux 3.13 REUSEPORT"][24])
    flat = accept_shape(some_costs(spin_share=0), 40)["strategies"][-1]["by_cores"]
    assert flat["24"] == pytest.approx(flat["12"], rel=0.02)                    # without that assumption it does not fall
    lines = [line for line in table(FIGURES | {"shapes": [shape]}).splitlines() if "predicted " in line]
    assert len(lines) == len(ways) and "it falls because each core that waits for the lock costs 0.5 cache lines" in lines[-1]
    assert "published 159,000 (CentOS 6.5)" in lines[-1] and all("assumed: " in line for line in lines)


def test_costs_are_found_again_and_held_out_runs_are_predicted() -> None:
    """A machine with known costs is simulated in place of measured runs."""
    machine, runs = dataclasses.replace(some_costs(), work_factor=1.1), []
    works = [(*run, False) for run in (*FITTED_RUNS, ("echo", 30))] + [("cpu:200us", 100, True)]
    for model, (work, connections, shared) in ((model, work) for model in (MODELS[1], MODELS[2], MODELS[4]) for work in works):
        of = machine.models[model]
        of.loop_many, of.resume, of.client_resume, of.wake_extra = 10.0, 2, 1, 3
        row = {"model": model, "workload": work, "connections": connections, "handler_us": float(work[4:-2] or 0),
               "cpus_shared": shared, "disturbed": False, "spread": 0.0}
        runs += [row | simulate(machine, scenario_of(row))] if model != MODELS[4] or connections > 1 else []
    costs = dataclasses.replace(machine, models={})
    out = conclude(Document("forecast", "1", {}, {}, [made_up(requests_per_s=1.0)]), costs, runs, [1, 4], 100, 200.0)
    assert list(costs.models) == ["single_reactor", "reactor_pool"]     # the other lacks a run
    for was, fitted in zip(*(dataclasses.astuple(one.models["reactor_pool"])[:4] for one in (machine, costs))):
        assert fitted == pytest.approx(was, rel=0.05)
    found = out["errors"]["held_out"]["requests_per_s"]
    assert found["runs"] == found["within"] == 4 and found["median"] < 0.02
    assert len(out["fitted"]) == 11 and len(out["forecast"]) == 2 * 2 * 2 and not out["settings"]["interrupted"]
    text = table(out | {"shapes": [shard_shape(machine, 400)]})
    for row in out["forecast"]:         # every line of a forecast says so
        assert all(line.startswith("  forecast ") for line in text.splitlines() if f"{row['requests_per_s']:,.0f}" in line)
    for part in ("out, requests/s: within 15 %: 4 of 4", "FORECAST, not measured: cpu:200 us, 100 conn", "published: Seastar"):
        assert part in text and "nan" not in text


def test_errors_are_counted_by_their_size_and_not_their_sign() -> None:
    rows = [{"error": error} for error in (0.1, -0.2, 0.0, None)]
    assert errors(rows, "error") == {"runs": 3, "bound": 0.15, "within": 2, "median": 0.1, "worst": 0.2}
    assert errors(rows[3:], "error") is None


def test_assumptions_are_parsed() -> None:
    assert parse_assumption("spin-share=2") == ("spin_share", 2)
    names = "lines, spread, slice, spin-share, accept-locked, vfs-locked, away"
    for text, why in (("line=3", f"one of: {names}"), ("spread=2", "from 0 to 1")):
        with pytest.raises(UsageError, match=why):
            parse_assumption(text)


def test_after_ctrl_c_nothing_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(*arguments: object) -> None:
        raise AssertionError("half a minute more")
    for name in ("fit", "simulate", "look_ahead"):
        monkeypatch.setattr(f"quintet_bench.forecast.findings.{name}", too_long)
    row = {"model": "single_reactor", "workload": "echo", "connections": 100, "handler_us": 0.0, "cpus_shared": False,
           "disturbed": False, "spread": 0.0, "requests_per_s": 1.0, "p99_us": 1.0, "cpu_us": 1.0}
    document = Document("forecast", "1", {}, {}, [made_up(requests_per_s=1.0)], interrupted=True)
    out = conclude(document, some_costs(), [row], [1], 100, 200.0)
    assert out["forecast"] == [] and out["settings"]["interrupted"] and "FORECAST" not in table(out)


def test_a_simulation_that_is_wrong_here_forecasts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quintet_bench.forecast.findings.fit", lambda *_: None)
    monkeypatch.setattr("quintet_bench.forecast.findings.simulate", lambda *_: {
        "requests_per_s": 1.0, "p50_us": 1.0, "p99_us": 1.0, "cpu_us": cost})
    rows = [{"model": "single_reactor", "workload": "echo", "connections": n, "handler_us": 0.0, "cpus_shared": False,
             "disturbed": False, "spread": 0.0, "requests_per_s": 1.0, "p99_us": 1.0, "cpu_us": 1.0} for n in (10, 30, 300)]
    for cost, told in ((1.5, True), (1.1, False)):
        document = Document("forecast", "1", {}, {}, [made_up(requests_per_s=1.0)])
        out = conclude(document, some_costs(short=None), [dict(row) for row in rows], [1], 100, 200.0)
        assert (out["forecast"] == [], "No forecast: " in table(out)) == (told, told)
