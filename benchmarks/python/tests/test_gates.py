# SPDX-License-Identifier: BSL-1.0
"""The gate of every command can fail: planted figures make the status 1, noise or a single round makes it 3."""
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from conftest import made_up
from quintet_bench import bus_verdicts
from quintet_bench.build import Build
from quintet_bench.bus_tables import ALL_TO_ALL
from quintet_bench.commands import (accept, advise, allocators, compare, contention, diff, hash, memlat, merging, moon, peers,
                                    proxies, scaling, shm, stress, sweep)
from quintet_bench.demands import exit_status, status_of
from quintet_bench.main import COMMANDS, run
from quintet_bench.options import STATUSES, Parser
from quintet_bench.results import Document, Result, summarise
from quintet_bench.stress.findings import Findings
from quintet_bench.study.report import changes, new_subject
from quintet_bench.verdict import FOREIGN

Good = Sequence[bool]                   # whether each round is as demanded
CPU = "server_cpu_us_per_request"


def pairs(good: Good, one: dict[str, Any], other: dict[str, Any], key: str, better: float, **both: Any) -> list[Result]:
    """Two servers in rounds. The first one's figure is `better` times the other's, or that much worse."""
    return [made_up(round=number, requests_per_s=both.get("speed", 100.0), **{key: value}, **both, **who)
            for number, well in enumerate(good, 1)
            for value, who in ((100.0 * (better if well else 1 / better), one), (100.0, other))]


def document(results: list[Result]) -> Document:
    return Document("it", "1", {}, {}, results)


def of_compare(good: Good) -> int:
    results = pairs(good, {}, {"model": None, "peer": "epoll"}, CPU, 0.5)
    return exit_status(document(results), compare.compose(document(results))["peer_ratios"])


def of_peers(good: Good) -> int:
    results = pairs(good, {}, {"model": None, "peer": "epoll"}, CPU, 0.5)
    return exit_status(document(results), peers.compose(document(results))["demands"])


def of_allocators(good: Good) -> int:
    results = [made_up(workload="kv", allocator=name, round=number, **{CPU: 10.0 * (1 if well or name == "glibc" else 2)})
               for number, well in enumerate(good) for name in ("glibc", "jemalloc")]
    return status_of(allocators.verdicts(allocators.with_ratios(results)))


def of_accept(good: Good) -> int:
    results = [made_up(workload="short", loops=2, round=n, accept_balance=1.0 if well else 1.5) for n, well in enumerate(good)]
    return status_of(accept.bounds(summarise(results)))


def of_contention(good: Good) -> int:
    results = [made_up(model=None, peer=f"asio-{how}", loops=2, round=n, requests_per_s=speed) for n, well in enumerate(good)
               for how, speed in (("shared", 10.0), ("separate", 20.0 if well else 5.0))]
    return status_of(contention.compose(document(results))["ratios"])


def of_proxies(good: Good) -> int:
    results = [made_up(workload="short", round=n, requests_per_s=speed, **who) for n, well in enumerate(good)
               for speed, who in ((20.0 if well else 5.0, {}), (10.0, {"model": None, "peer": "nginx"}))]
    return status_of(proxies.compose(document(results))["ratios"])


def of_scaling(good: Good) -> int:
    results = [made_up(loops=loops, round=n, requests_per_s=speed) for n, well in enumerate(good)
               for loops, speed in ((1, 10.0), (2, 21.0 if well else 15.0))]
    return status_of(scaling.efficiencies(results, True))


def of_sweep(good: Good) -> int:
    results = [made_up(connections=count, round=n, requests_per_s=speed) for n, well in enumerate(good)
               for count, speed in ((10, 100.0), (5000, 50.0 if well else 90.0))]
    axis = sweep.AXES["connections"]
    shapes = sweep.conclude(axis, summarise(results), results)["shape"]
    return status_of([one for one in shapes if one["part"] == "fall"])


def of_study(good: Good) -> int:
    subjects = [new_subject("kv", name) for name in ("thread_per_connection", "reactor_pool", "single_reactor",
                                                     "loop_per_thread", "loop_per_thread_pool")]
    for subject in subjects:
        for well in good:
            rate = 0.5 if subject["server"] == "thread_per_connection" else 0.1 if well else 0.9
            subject["caches"].append({"references": 1e6, "misses": rate * 1e6, "rate": rate, "requests": 1000})
    return status_of(changes(subjects))


def of_stress(good: Good) -> int:
    found = Findings()
    found.tell("p99", "the p99", 1 if any(good) and all(good) else 9, at_most=2,
               noise="rounds differ" if len(set(good)) > 1 or len(good) < 2 else "")
    return status_of(stress.verdicts_of([found.json()]))


def of_forecast(good: Good) -> int:
    pytest.importorskip("simpy", reason="Python has no module simpy; apt-get install python3-simpy3")
    from quintet_bench.forecast import findings as forecast
    return status_of(forecast.honest([{"cpu_error": 0.1 if well else -0.3, "disturbed": False} for well in good]))


def of_diff(good: Good) -> int:
    before, after = ([made_up(round=n, requests_per_s=100.0 * (1 if well else 0.5)) for n, well in enumerate(side)]
                     for side in ([True] * len(good), good))
    return diff.judge(*diff.find_differences(before, after, ["requests_per_s"]), 0.0)


def of_hash(good: Good) -> int:
    return status_of(hash.order([{"kind": kind, "bytes": 16384, "bytes_per_s": speed, "error": None, "round": n}
                                 for n, well in enumerate(good) for kind, speed in (("crc32", 1e9), (
                                     "crc32c", 9e9 if well else 1e8))]))


def of_memlat(good: Good) -> int:
    return status_of(memlat.order(memlat.figures([{"name": name, "bytes": 4096, "ns": ns} for well in good
                                                  for name, ns in (("L1", 1.0), ("L2", 4.0 if well else 0.5))])))


def of_merging(good: Good) -> int:
    return status_of(merging.flatness([{"sizes": sizes, "merging": True, "bytes_per_s": speed, "round": n}
                                       for n, well in enumerate(good) for sizes, speed in (
                                           ("128..128", 9e8 if well else 1e8), ("16384..16384", 1e9))]))


def of_moon(good: Good) -> int:
    return status_of(moon.frame_verdicts([
        made_up(workload="framed", pipeline=1, round=n, receive_size=size, **{CPU: 8.0 if size != moon.OFF and well else 10.0})
        for n, well in enumerate(good) for size in (moon.OFF, moon.WHOLE)]))


def of_shm(good: Good) -> int:
    return status_of(shm.memory_verdicts([made_up(workload="idle", transport="shm", round=n, bytes_per_connection=200 if well
                                                  else 900) for n, well in enumerate(good)]))


def of_bus(good: Good) -> int:
    return status_of(bus_verdicts.segment_verdicts([
        {"way": ALL_TO_ALL, "segments": 6 if well else 15, "segment_resident_bytes": 1} for well in good], 6))


def of_advise(good: Good) -> int:
    """A recommendation, or no model that serves, or noise."""
    noisy = len(set(good)) > 1 or len(good) < 2
    figures = dict.fromkeys(advise.COLUMNS, 1.0) | {FOREIGN: 0.0}
    results = [figures | {"model": model, "error": None if any(good) or noisy else "gone", "rate": rate if well else 20.0}
               for well in good for model, rate in (("single_reactor", 10.0), ("reactor_pool", 40.0))]
    return int(advise.advise(results)["status"])


GATES: dict[str, Callable[[Good], int]] = {
    name.removeprefix("of_"): function for name, function in list(globals().items()) if name.startswith("of_")}


def test_every_command_has_a_gate() -> None:
    assert sorted(GATES) == sorted(COMMANDS)


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("good, status", [((True,) * 5, 0), ((False,) * 5, 1), ((True, False) * 3, 3), ((False,), 3)])
def test_gates_fail_as_they_must(name: str, good: Good, status: int) -> None:
    assert GATES[name](good) == status


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_the_version(name: str, build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run([name, "--version"], build)
    assert ended.value.code == 0 and capsys.readouterr().out == f"quintet-bench {build.version}\n"


def test_help_tells_the_statuses() -> None:
    parser = Parser("quintet-bench it", "about")
    assert STATUSES in parser.format_help()
    parser.examples("quintet-bench it")
    assert parser.format_help().endswith(f"Example: quintet-bench it\n{STATUSES}\n")
