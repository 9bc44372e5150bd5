# SPDX-License-Identifier: BSL-1.0
"""moon: what the read cache saves, receives of a message, and the two forms of PING beside each other."""
from typing import Any

import pytest
from conftest import made_up, run_command
from quintet_bench.build import Build
from quintet_bench.commands import moon
from quintet_bench.errors import UsageError
from quintet_bench.plan import Contender, Run, Settings
from quintet_bench.redis_load import figures_in
from quintet_bench.results import Document, Result, label_of, summarise
from quintet_bench.runner import describe, load_command, server_command


def frames(with_cache: float, receives: float = 1, **more: Any) -> list[Result]:
    """Three rounds; in each one the machine is slower. Without the cache a message takes 10 us of CPU and two receives."""
    return [made_up(workload="framed", connections=1000, message_bytes=13, pipeline=depth, round=number, requests_per_s=1e5,
                    mode_ms=9, receive_size=size, receives_per_request=each / depth,
                    server_cpu_us_per_request=cpu * number, **more)
            for number in (1, 2, 3) for depth in (1, 16)
            for size, cpu, each in ((moon.OFF, 10, 2), (moon.WHOLE, with_cache, receives))]


def shown(results: list[Result]) -> str:
    document = Document("moon", "", {}, {}, results)
    return moon.table(summarise(results), document.figures() | moon.compose(document))


@pytest.mark.parametrize("with_cache, receives, met, parts", [
    (8, 1, [True, True, True], [
        "by -20.0 %, which is +25.0 % requests", "demanded: at most 0.952: met."]),
    (9.8, 1, [True, True, False], ["by -2.0 %", "demanded: at most 0.952: not met."]),
    (8, 6.5, [False, False, True], ["single_reactor, 1 in flight for each connection: 6.50 receives of a message (rounds "
                                    "from 6.50 to 6.50); demanded: at most 1: not met",
                                    "16 in flight for each connection: 0.406 receives"])])
def test_the_cache_is_judged_by_receives_and_cpu(with_cache: float, receives: float, met: list[bool], parts: list[str]) -> None:
    results = frames(with_cache, receives)
    verdicts = moon.frame_verdicts(results)
    assert [one["met"] for one in verdicts] == met
    text = shown(results)
    for part in [*parts, "framed: 1,000 connections x 13 B", "16 in flight each", " off ", " 64 KiB ", "9 to 10 ms",
                 "102,785.49", "121,817.52 with it"]:
        assert part in text


def test_a_cache_alone_is_not_judged() -> None:
    results = [r for r in frames(8) if r["receive_size"] == moon.OFF] + [r | {"receive_size": 8192} for r in frames(8)]
    assert moon.frame_verdicts(results) == [] and " 8 KiB " in shown(results)


def test_the_cache_is_the_size_of_the_servers_receives(build: Build) -> None:
    work = build.workload("framed")
    run = Run(work, Contender(model="single_reactor", receive_size=512), 1)
    s = Settings("quintet-bench", [work])
    about = describe(s, run)
    assert label_of(about) == run.who.label == "single_reactor (512 B a receive)"
    words = " ".join(server_command(s, run, about))
    assert "--workload framed --size 13 " in words and " --receive-size 512 " in words
    assert "--connections 1000 --size 13" in " ".join(load_command(s, run, about, "127.0.0.1:1"))


@pytest.mark.parametrize("line, part", [("--cache on", "write 512, 4k or 1m"), ("--cache 65k", "from 3 to 65536"),
                                        ("--redis --cache off", "neither --cache nor --engine")])
def test_wrong_options_are_refused(build: Build, line: str, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        run_command(moon, build, line)


def printed(p50: float, *bounds: tuple[float, float]) -> str:
    """What redis-benchmark prints. The bounds by percentile come first, and are not those that count."""
    lines = "".join(f"{percent:.3f}% <= {bound:.3f} milliseconds (cumulative count 7)\n" for percent, bound in bounds)
    return ("PING_MBULK: rps=0.0 (overall: 0.0)\r     \r====== PING_MBULK ======\n  100000 requests completed in 1.02 seconds\n"
            "\nLatency by percentile distribution:\n0.000% <= 0.103 milliseconds (cumulative count 1)\n\n"
            f"Cumulative distribution of latencies:\n{lines}\nSummary:\n  throughput summary: 98039.22 requests per second\n"
            "  latency summary (msec):\n          avg       min       p50       p95       p99       max\n"
            f"        0.519     0.104     {p50:.3f}     0.703     1.007     4.111\n")


def pings(mbulk_p50: float) -> list[Result]:
    out = []
    for number in (1, 2):
        for name, p50, some in (("kv-inline", 0.5, (40 + 20 * number, 0.503)), ("kv", mbulk_p50, (30, 0.607))):
            out.append(made_up(workload=name, round=number))
            out[-1] |= figures_in(printed(p50, some, (100, 4.111)))
    return out


def test_the_output_of_redis_benchmark_is_read() -> None:
    result = pings(0.5)[-1]
    figures = [result[key] for key in ("requests_per_s", "p50_us", "p99_us", "max_us")]
    assert figures == pytest.approx([98039.22, 500, 1007, 4111])
    assert result["distribution"] == {0.607: 30, 4.111: 100}


@pytest.mark.parametrize("mbulk_p50, met, part", [(0.5, True, "1.00 times that of PING_INLINE"), (0.6, False, "1.20 times")])
def test_the_forms_of_ping_stand_side_by_side(mbulk_p50: float, met: bool, part: str) -> None:
    results = pings(mbulk_p50)
    verdicts, sides = moon.ping_verdicts(results), moon.distributions(results)
    assert [one["met"] for one in verdicts] == [met]
    assert sides == [{"model": "single_reactor", "milliseconds": [0.503, 0.607, 4.111], "PING_INLINE": [70, 70, 100],
                      "PING_MBULK": [0, 30, 100]}]
    text = shown(results)
    for expected in (part, "0.607 ms       70.00%      30.00%", "99,700.90", "96,805.42", "single_reactor         PING_MBULK"):
        assert expected in text
