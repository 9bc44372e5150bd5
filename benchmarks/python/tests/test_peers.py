# SPDX-License-Identifier: BSL-1.0
"""Ratios to the reference, the demands, and what redis-benchmark and callgrind print."""
from typing import Any

import pytest
from conftest import made_up
from quintet_bench import redis_load, valgrind
from quintet_bench.commands.peers import compose, table
from quintet_bench.errors import RunError
from quintet_bench.results import Document, Result, summarise

SERVERS = ({"peer": "epoll"}, {}, {"handler": "coroutine"}, {"peer": "libuv"}, {"peer": "libev"})


def three_rounds(key: str = "server_cpu_us_per_request", **more: Any) -> list[Result]:
    """Each round the machine is slower; the ratios are the same but for libev's."""
    return [made_up(round=number, **{key: cost * number}, **({"model": None, "engine": None} if "peer" in server else {}),
                    **server, **more)
            for number in (1, 2, 3) for server, cost in zip(SERVERS, (4, 5, 6, 8, 4 * (0.8 + 0.1 * number)))]


def shown(results: list[Result]) -> str:
    document = Document("peers", "1", {}, {}, results)
    return table(summarise(results), document.figures() | compose(document))


def test_each_is_compared_with_the_reference_of_its_round() -> None:
    found = compose(Document("peers", "1", {}, {}, three_rounds()))
    ratios: Any = found["ratios"]
    assert [(r["peer"], r["handler"], r["median"]) for r in ratios] == [
        (None, "callback", 1.25), (None, "coroutine", 1.5), ("libuv", "callback", 2), ("libev", "callback", 1)]
    assert (ratios[3]["min"], ratios[3]["max"], ratios[3]["reference"]) == (0.9, 1.1, "epoll")
    text = shown(three_rounds(requests_per_s=1e5))
    assert "0.90 to 1.10" in text and ("-> single_reactor needs 1.25 times the CPU of hand-written epoll (rounds from 1.25 to "
                                       "1.25); demanded: at most 1.25: met.") in text


def test_without_a_figure_of_the_reference_nothing_is_said() -> None:
    text = shown([made_up(server_cpu_us_per_request=5), made_up(model=None, peer="epoll", error="killed by signal 9")])
    assert "needs" not in text and "failed: killed by signal 9" in text


def test_instructions_have_a_table_of_their_own() -> None:
    text = shown(three_rounds("instructions_per_request")[:2])
    assert "needs 1.25 times the instructions of hand-written epoll; demanded: at most 5: met." in text
    assert "CPU/req" not in text and "Noise" not in text


def test_what_other_programs_print() -> None:
    assert valgrind.collected_instructions("==7== Events : Ir\n==7== Collected : 1234\n") == 1234
    for wrong in (lambda: redis_load.figures_in("Could not connect to Redis at 127.0.0.1:1\n"),
                  lambda: valgrind.collected_instructions("valgrind: no such tool\n")):
        with pytest.raises(RunError):
            wrong()
