# SPDX-License-Identifier: BSL-1.0
"""The gate of every command can fail: planted figures make the status 1, noise or a single round makes it 3, and a wrong option
2. Each gate goes through the experiment, as far as its runs can be made up."""
import json
import pathlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest
from conftest import made_up, run_command
from quintet_bench.build import Build
from quintet_bench.commands import (accept, advise, allocators, bus, compare, contention, diff, hash, memlat, merging, moon,
                                    peers, proxies, scaling, shm, stress, sweep)
from quintet_bench.demands import exit_status, status_of
from quintet_bench.main import COMMANDS, main, run
from quintet_bench.options import STATUSES, Parser
from quintet_bench.results import Document, Result
from quintet_bench.stress.findings import Findings
from quintet_bench.study.report import cache, changes, subject_of

Good = Sequence[bool]                   # whether each round is as demanded
CPU = "server_cpu_us_per_request"


class Planted:
    """What a gate may use: a build, a place for files, and how to plant measurements."""

    def __init__(self, build: Build, folder: pathlib.Path, patch: pytest.MonkeyPatch) -> None:
        self.build, self.folder, self.patch = build, folder, patch

    def run(self, command: ModuleType, line: str) -> int:
        return run_command(command, self.build, line)


def judged(command: ModuleType, results: list[Result], part: Callable[[Any], bool] = lambda one: True, **settings: Any) -> int:
    """The status of an experiment that has measured this."""
    document = Document("it", "1", {}, settings, results)
    found = command.EXPERIMENT.judged(document, {})[command.EXPERIMENT.demands]
    return status_of([one for one in found if part(one)])


def pairs(good: Good, one: dict[str, Any], other: dict[str, Any], key: str, better: float) -> list[Result]:
    """Two servers in rounds. The first one's figure is `better` times the other's, or that much worse."""
    return [made_up(round=number, **{"requests_per_s": 100.0, key: value}, **who) for number, well in enumerate(good, 1)
            for value, who in ((100.0 * (better if well else 1 / better), one), (100.0, other))]


EPOLL = {"model": None, "peer": "epoll"}


def of_compare(good: Good, _: Planted) -> int:
    document = Document("it", "1", {}, {}, pairs(good, {}, EPOLL, CPU, 0.5))
    return exit_status(document, compare.compose(document)["peer_ratios"])


def of_peers(good: Good, _: Planted) -> int:
    return judged(peers, pairs(good, {}, EPOLL, CPU, 0.5))


def of_allocators(good: Good, _: Planted) -> int:
    return judged(allocators, [
        made_up(workload="kv", allocator=name, round=n, **{CPU: 10.0 if well or name == "glibc" else 20.0})
        for n, well in enumerate(good) for name in ("glibc", "jemalloc")])


def of_accept(good: Good, _: Planted) -> int:
    return judged(accept, [made_up(workload="short", loops=2, round=n, accept_balance=1.0 if well else 1.5)
                           for n, well in enumerate(good)])


def of_contention(good: Good, _: Planted) -> int:
    return judged(contention, pairs(good, {"model": None, "peer": "asio-separate", "loops": 2},
                                    {"model": None, "peer": "asio-shared", "loops": 2}, "requests_per_s", 2))


def of_proxies(good: Good, _: Planted) -> int:
    return judged(proxies, pairs(good, {"workload": "short"}, {"workload": "short", "model": None, "peer": "nginx"},
                                 "requests_per_s", 2))


def of_scaling(good: Good, _: Planted) -> int:
    return judged(scaling, pairs(good, {"loops": 2}, {"loops": 1}, "requests_per_s", 2.1), client_apart=True)


def of_sweep(good: Good, _: Planted) -> int:
    results = [made_up(connections=count, round=n, requests_per_s=speed) for n, well in enumerate(good)
               for count, speed in ((10, 100.0), (5000, 50.0 if well else 90.0))]
    return judged(sweep, results, lambda one: bool(one["part"] == "fall"), axis="connections")


def of_study(good: Good, _: Planted) -> int:
    def rate(server: str, well: bool) -> float:
        return 0.5 if server == "thread_per_connection" else 0.1 if well else 0.9
    return status_of(changes([subject_of("kv", server, [
        {"cache": cache(1e6, rate(server, well) * 1e6, "hardware", requests=1000)} for well in good])
        for server in ("thread_per_connection", "reactor_pool", "single_reactor", "loop_per_thread", "loop_per_thread_pool")]))


def of_stress(good: Good, planted: Planted) -> int:
    def perform(*_: Any) -> Findings:
        found = Findings()
        found.tell("p99", 1 if any(good) and all(good) else 9, at_most=2,
                   noise="rounds differ" if len(set(good)) > 1 or len(good) < 2 else "")
        return found
    planted.patch.setattr(stress, "perform", perform)
    return planted.run(stress, "resets --model 2")


def of_forecast(good: Good, _: Planted) -> int:
    pytest.importorskip("simpy", reason="Python has no module simpy; apt-get install python3-simpy3")
    from quintet_bench.forecast import findings as forecast
    return status_of(forecast.honest([{"cpu_error": 0.1 if well else -0.3, "disturbed": False} for well in good]))


def of_diff(good: Good, planted: Planted) -> int:
    sides = {"before": (True,) * len(good), "after": good}
    for name, side in sides.items():
        results = [made_up(round=n, requests_per_s=100.0 * (1 if well else 0.5)) for n, well in enumerate(side)]
        (planted.folder / name).write_text(json.dumps({"command": "compare", "results": results}))
    return planted.run(diff, " ".join(str(planted.folder / name) for name in sides) + " --metric requests_per_s")


def of_hash(good: Good, _: Planted) -> int:
    return judged(hash, [{"kind": kind, "bytes": 16384, "bytes_per_s": speed, "error": None, "round": n}
                         for n, well in enumerate(good) for kind, speed in (("crc32", 1e9), ("crc32c", 9e9 if well else 1e8))])


def of_memlat(good: Good, _: Planted) -> int:
    return judged(memlat, [{"name": name, "bytes": 4096, "ns": ns} for well in good
                           for name, ns in (("L1", 1.0), ("L2", 4.0 if well else 0.5))])


def of_merging(good: Good, _: Planted) -> int:
    return judged(merging, [{"sizes": sizes, "merging": True, "bytes_per_s": speed, "round": n} for n, well in enumerate(good)
                            for sizes, speed in (("128..128", 9e8 if well else 1e8), ("16384..16384", 1e9))])


def of_moon(good: Good, _: Planted) -> int:
    return judged(moon, [made_up(workload="framed", pipeline=1, round=n, receive_size=size, **{
        CPU: 8.0 if size != moon.OFF and well else 10.0}) for n, well in enumerate(good) for size in (moon.OFF, moon.WHOLE)])


def of_shm(good: Good, _: Planted) -> int:
    return judged(shm, [made_up(workload="idle", transport="shm", round=n, bytes_per_connection=200 if well else 900)
                        for n, well in enumerate(good)])


def of_bus(good: Good, _: Planted) -> int:
    figures = dict.fromkeys(["checked", "messages_per_s", "bytes_per_s", "sender_cpu", "receiver_cpu", "sender_rss_bytes",
                             "receiver_rss_bytes", "sender_cpu_us_per_message", "receiver_cpu_us_per_message",
                             "writes_per_message", "segment_bytes", "segment_resident_bytes"], 1.0)
    return judged(bus, [figures | {"route": "shm", "sizes": "8..128", "merging": True, "way": bus.ALL_TO_ALL, "static": False,
                                   "round": n, "segments": 6 if well else 15, "cpus_shared": True}
                        for n, well in enumerate(good)],
                  routes=["shm"], sizes=[], nodes=6)


def of_advise(good: Good, planted: Planted) -> int:
    """A recommendation, or no model that serves, or noise."""
    noisy, rounds = len(set(good)) > 1 or len(good) < 2, dict[str, int]()

    def perform(server: list[str], load: list[str], port: int, model: str) -> Result:
        rounds[model] = rounds.get(model, -1) + 1
        well = good[rounds[model]]
        rate = 10.0 if model == "single_reactor" else 40.0 if well else 2.0
        return dict.fromkeys(advise.COLUMNS, 1.0) | {"model": model, "rate": rate,
                                                     "error": None if any(good) or noisy else "gone"}
    planted.patch.setattr(advise, "perform", perform)
    planted.patch.setattr(advise, "BEARABLE", 2.0)      # the machine of the test may be busy
    return planted.run(advise, f"--port 1 --load x --models 2,3 --rounds {len(good)} -- ./server")


GATES: dict[str, Callable[[Good, Planted], int]] = {
    name.removeprefix("of_"): function for name, function in list(globals().items()) if name.startswith("of_")}


def test_every_command_has_a_gate() -> None:
    assert sorted(GATES) == sorted(COMMANDS)


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("good, status", [((True,) * 5, 0), ((False,) * 5, 1), ((True, False) * 3, 3), ((False,), 3)])
def test_gates_fail_as_they_must(name: str, good: Good, status: int, build: Build, tmp_path: pathlib.Path,
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    assert GATES[name](good, Planted(build, tmp_path, monkeypatch)) == status


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_option_ends_every_command_with_2(name: str, build: Build, monkeypatch: pytest.MonkeyPatch,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Build, "of_environment", lambda: build)
    assert main([name, "--no-such-option"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"quintet-bench {name}: ") and said.err.count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_the_version(name: str, build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run([name, "--version"], build)
    assert ended.value.code == 0 and capsys.readouterr().out == f"quintet-bench {build.version}\n"


def test_help_tells_the_statuses() -> None:
    parser = Parser("quintet-bench it", "about")
    assert STATUSES in parser.format_help()
    parser.explain(["quintet-bench it"])
    assert parser.format_help().endswith(f"Example: quintet-bench it\n{STATUSES}\n")
