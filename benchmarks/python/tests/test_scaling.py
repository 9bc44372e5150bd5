# SPDX-License-Identifier: BSL-1.0
"""scaling: what the efficiency is computed from, and when it cannot be told."""
from typing import Any

import pytest
from conftest import made_up, run_command

from quintet_bench.build import Build
from quintet_bench.commands import scaling
from quintet_bench.errors import UsageError
from quintet_bench.results import Document, Result, summarise


def runs(workload: str, speeds: dict[int, tuple[float, float]], **more: Any) -> list[Result]:
    """`speeds`: those of two rounds, by loops. Two loops need 4 % more CPU for a request."""
    return [made_up(workload=workload, model="loop_per_thread", loops=loops, round=i, requests_per_s=speed,
                    server_cpu_us_per_request=5 + 0.2 * (loops > 1), **more)
            for loops, two in speeds.items() for i, speed in enumerate(two)]


@pytest.mark.parametrize("apart, client, speeds, said", [
    (True, 0.5, (190, 170), "http_hello, from 1 to 2 loops: efficiency 90 % (rounds from 85 % to 95 %), by requests/s"),
    (True, 0.5, (190, 210),
     "100 % (rounds from 95 % to 105 %), by requests/s; demanded: linear, at least 100 %: too noisy to say"),
    (True, 0.99, (190, 170), "96 % (rounds from 96 % to 96 %), by CPU for a request, since the client was the bottleneck"),
    (False, 0.5, (190, 170), "by CPU for a request, since the client has no CPUs of its own")])
def test_efficiency(apart: bool, client: float, speeds: tuple[float, float], said: str) -> None:
    results = runs("short", {1: (100, 100), 2: speeds}, client_cpu_fraction=client, server_busy_fraction=0.5)
    (found,) = scaling.efficiencies(results, apart)
    assert said in found["sentence"] and (found["server"], found["from"], found["to"]) == ("http_hello", 1, 2)
    document = Document("scaling", "", {}, {"client_apart": apart}, results)
    text = scaling.table(summarise(results), document.figures() | scaling.compose(document))
    for part in (found["sentence"], "http_hello, 2 loop(s)", "98 % with 8", "67 % with 32", "47,600 requests/s"):
        assert part in text


def test_each_number_of_loops_is_compared_with_the_first() -> None:
    results = [r for name in ("echo", "kv") for r in runs(name, {1: (10, 10), 2: (20, 20), 4: (30, 30)})]
    found = scaling.efficiencies(results, True)
    assert [(r["server"], r["to"], r["median"]) for r in found] == [
        ("echo", 2, 1), ("echo", 4, 0.75), ("kv", 2, 1), ("kv", 4, 0.75)]
    assert scaling.efficiencies(results[:2], True) == []    # interrupted


def test_loops_need_a_cpu_each(build: Build) -> None:
    with pytest.raises(UsageError, match="1024 loops need a CPU each"):
        run_command(scaling, build, "--loops 1,1024")
