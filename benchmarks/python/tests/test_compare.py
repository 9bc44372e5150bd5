# SPDX-License-Identifier: BSL-1.0
"""Who wins, who is level, and when the noise forbids to say; the table and the command around that."""
import itertools
import json
import pathlib
import re
from collections.abc import Iterable
from typing import Any

import pytest
from conftest import HERE, made_up
from quintet_bench.commands import compare
from quintet_bench.machine import topology
from quintet_bench.results import Document, Result, summarise
from quintet_bench.statistics import ratio_interval
from quintet_bench.verdict import compute_verdict, noise_sentence


def rounds(model: str, speeds: Iterable[float], cpu: float = 10, **more: Any) -> list[Result]:
    return [made_up(model=model, round=i, requests_per_s=speed, server_cpu_us_per_request=cpu + 0.01 * i, **more)
            for i, speed in enumerate(speeds, 1)]


def test_verdicts_are_those_of_the_cpp_program() -> None:
    """Its input had more digits than its file has, so the last of six may differ."""
    data = json.loads((HERE / "data/verdicts.json").read_text())
    results = [made_up(**{key: value[i] if isinstance(value, list) else value for key, value in row.items()}, round=i)
               for i in range(5) for row in data["rounds"]]
    ours = compare.compose(Document("compare", "1", {}, {}, results))
    ours["peer_ratios"] = [{key: row[key] for key in ("workload", "model", "peer", "metric", "median", "min", "max")}
                           | {"sentence": row["sentence"].partition(";")[0] + "."} for row in ours["peer_ratios"]]
    for key, expected in data["expected"].items():
        one, other = (re.split(r"([\d.]+)", json.dumps(value).replace(",", "")) for value in (ours[key], expected))
        assert one[::2] == other[::2], key
        for a, b in zip(one[1::2], other[1::2], strict=True):
            assert a == b or float(a) == pytest.approx(float(b), rel=1e-5), key


@pytest.mark.parametrize("n, m", [(1, 1), (3, 3), (4, 4), (5, 5), (3, 8), (6, 5)])
def test_confidence_is_that_of_all_rank_orders(n: int, m: int) -> None:
    pairs = [sum(first) - n * (n - 1) // 2 for first in itertools.combinations(range(n + m), n)]
    confidence = [1 - 2 * sum(u <= cut for u in pairs) / len(pairs) for cut in range(n * m)]
    found = ratio_interval(range(1, n + 1), range(1, m + 1))
    assert found and found.confidence == pytest.approx(min([c for c in confidence if c >= 0.95] or [max(0, confidence[0])]))


def test_ratios_of_few_and_of_many_rounds() -> None:
    assert ratio_interval([20, 22, 24], [10, 11, 12]) == pytest.approx((2, 20 / 12, 24 / 10, 0.9))
    many = ratio_interval([*range(100, 119), 1e6], range(100, 120))  # a disturbed round is left out
    assert many and many.contains(1) and 0.9 < many.low and many.high < 1.1 and many.confidence >= 0.95
    assert ratio_interval([3.0] * 150, [3.0] * 150) == (1, 1, 1, 0.95) and ratio_interval([0], [1]) is None


@pytest.mark.parametrize("speeds, winner, noisy, part", [
    ([(120, 121, 122), (99, 100, 101)], "a", False, "a serves most requests: 121 requests/s, 21 % more than b."),
    ([(90, 110, 130), (80, 100, 120)], None, True, "Too noisy to say which serves most requests"),
    ([(98, 100, 102), (97, 99, 101), (49, 50, 51)], None, False, "a and b lead and cannot be told apart (ranges overlap): "
     "up to 100 requests/s, 2.00 times as many as c."),
    ([(120,), (100,)], None, False, "in a single round"), ([()], None, False, ""), ([(5, 5)], None, False, "nothing to")])
def test_verdicts(speeds: list[tuple[float, ...]], winner: str | None, noisy: bool, part: str) -> None:
    summary = summarise(r for name, values in zip("abc", speeds) for r in rounds(name, values))
    found = compute_verdict(summary, "echo")
    assert (found["winner"], found["too_noisy"]) == (winner, noisy) and part in found["sentence"]
    assert ("ran once" in noise_sentence(summary)) == (len(speeds[0]) < 2)


@pytest.mark.parametrize("foreign, speeds, best", [
    (0.01, (200, 100, 90), ("a", [])), (0.6, (200, 100, 90), ("b", [])), (0.01, (101, 100, 90), ("b", ["a"]))])
def test_advice(foreign: float, speeds: tuple[float, ...], best: tuple[str, list[str]]) -> None:
    """The cheapest among equals; a busy machine makes throughput worthless."""
    summary = summarise(r for name, speed, cpu in zip("abc", speeds, (9, 5, 9))
                        for r in rounds(name, (speed - 1, speed + 1), cpu, foreign_cpu_fraction=foreign))
    cheap, computing, _ = compare.advise(summary)
    assert (cheap["model"], cheap["as_good"], computing["model"]) == (*best, None)
    assert ("60 % of the CPUs" in compute_verdict(summary, "echo")["caution"]) == (foreign > 0.1)
    assert ("on a quiet machine" in noise_sentence(summary)) == (foreign > 0.1)


def test_a_disturbed_round_makes_nobody_as_fast() -> None:
    """The ranges overlap, but the second may be a third slower: that it needs less CPU is no reason to take it."""
    results = rounds("a", (100, 101, 102, 60, 103), 9) + rounds("b", (70, 71, 72, 69, 70), 5) + rounds("c", (9,) * 5, 9)
    cheap, *_ = compare.advise(summarise(results))
    assert cheap["model"] == "a" and "cannot be told apart" in cheap["reason"]


def test_advice_by_scenario() -> None:
    """A winner with several loops, one without, a draw, and nothing measured."""
    results = [r for model, workload, speeds in (
        ("loop_per_thread", "echo", (98, 102)), ("single_reactor", "echo", (48, 52)),
        ("thread_per_connection", "blocking:2ms", (98, 102)), ("reactor_pool", "blocking:2ms", (48, 52)))
        for r in rounds(model, speeds, workload=workload)]
    out = compare.advise_scenarios(summarise(results), {"cores": 4, "physical_cores": 2, "numa_nodes": 1})
    told = {row["scenario"]: row["sentence"] for row in out}
    assert [row["model"] for row in out] == ["loop_per_thread", None, "thread_per_connection", "loop_per_thread", None]
    assert "(serve --accept main_reactor, which spreads evenly). Measured with echo." in told["Long connections"]
    assert told["Short connections"] == 'Short connections: not measured; add "short" to --workloads.'
    assert "serve" not in told["Synchronous handlers"] and "co_await" in told["Asynchronous handlers"]
    assert "4 CPUs that are threads of 2 cores" in told["This machine"] and "NUMA" not in told["This machine"]
    results += [r for model in ("loop_per_thread", "single_reactor") for r in rounds(model, (9, 12), workload="short")]
    assert "too noisy to say (measured with short)" in compare.advise_scenarios(summarise(results), {})[1]["sentence"]
    results += rounds("loop_per_thread_pool", (98, 102), workload="short")
    short = compare.advise_scenarios(summarise(results), {})[1]
    assert short["model"] == "loop_per_thread_pool" and "; what counts is accepting, " in short["sentence"]


@pytest.mark.parametrize("siblings, nodes, found, part", [
    (["0-1", "0-1", "2-3", "2-3"], [0, 0, 1, 1], (2, 2), "--loops 2 --pin-loops=idle), and measure whether 4 loops do more. "
     "It has 2 NUMA nodes"),
    (["0", "1"], [0, 0], (2, 1), "2 CPUs; a loop for each"), (["0,1", "0,1"], [0, 0], (1, 1), "threads of 1 core;"),
    (["0"], [0], (1, 1), "single_reactor is enough"), (["", ""], [], (None, None), "2 CPUs; a loop for each")])
def test_advice_by_the_machine(siblings: list[str], nodes: list[int], found: tuple[int | None, int | None], part: str,
                               tmp_path: pathlib.Path) -> None:
    for cpu, text in enumerate(siblings):
        (tmp_path / f"cpu/cpu{cpu}/topology").mkdir(parents=True)
        (tmp_path / f"cpu/cpu{cpu}/topology/thread_siblings_list").write_text(text)
        if nodes:
            (tmp_path / f"cpu/cpu{cpu}/node{nodes[cpu]}").mkdir()
    machine = topology(str(tmp_path), list(range(len(siblings))))
    assert tuple(machine.values()) == found
    assert part in compare.machine_sentence({"cores": len(siblings), **machine})
    assert topology(str(tmp_path / "none"), [0]) == {"physical_cores": None, "numa_nodes": None}
    assert compare.machine_sentence({}) == ""


def test_the_table_tells_failures_and_bottlenecks() -> None:
    results = [r for name, busy in (("a", 0.99), ("b", 0.99), ("c", 0.5))
               for r in rounds(name, (9, 10), client_cpu_fraction=0.5, server_busy_fraction=busy)]
    results += [made_up(model="a", error="killed by 11"), made_up(model="d", error="no port")]
    document = Document("compare", "1", {}, {}, results)
    for part in ("1 of 3 runs failed: killed by 11", "failed: no port", "Bottleneck: server CPU (a and b); none (c)."):
        assert part in compare.console_table(document, compare.compose(document))


@pytest.mark.parametrize("cores, short_us, user_us, accept, answers", [
    (16, 40, 4, "reuse_port", [True] * 6), (2, 40, 4, "main_reactor", [False, True, True, True, False, False]),
    (16, 8, 6, "main_reactor", [True, False, False, True, False, False]),
    (16, None, None, "main_reactor", [True, None, None, True, False, None]),
    (16, (10, 40), (9, 4), "main_reactor", [True, None, None, True, False, None])])     # rounds disagree
def test_five_questions_whether_loops_should_accept(cores: int, short_us: Any, user_us: Any, accept: str,
                                                    answers: list[bool | None]) -> None:
    costs, users = (value if isinstance(value, tuple) else (value, value) for value in (short_us, user_us))
    results = [made_up(workload="short", model="loop_per_thread", accept=accept, loops=4, round=i,
                       server_cpu_us_per_request=cost, server_user_us_per_request=user,
                       machine_softirq_fraction=0.2, machine_busy_fraction=0.8)
               for i, (cost, user) in enumerate(zip(costs, users))]
    results += [made_up(workload=name, model="loop_per_thread", server_cpu_us_per_request=5.0)
                for name in ("echo", "blocking:2ms")]
    document = Document("compare", "1", {"cores": cores}, {}, results)
    found = compare.suitability(document)
    assert [a["answer"] for a in found] == answers
    text = compare.console_table(document, compare.compose(document))
    assert all(a["sentence"] in text for a in found) and "block: blocking:2ms)" in text
    assert ("90 % of the server's CPU in the kernel and 25 % of the machine's in softirqs" in text) == (user_us == 4)
    assert text.count("too noisy to say: ") == 2 * isinstance(short_us, tuple)
    assert compare.suitability(Document("compare", "1", {}, {}, []))[-1]["answer"] is None
