# SPDX-License-Identifier: BSL-1.0
"""shm: what is demanded of shared memory, which rows there are, and the memory of idle connections."""
import os
import pathlib
import socket
import threading
from typing import Any

import pytest
from conftest import made_up, run_command
from quintet_bench.build import Build
from quintet_bench.commands import shm
from quintet_bench.errors import RunError, UsageError
from quintet_bench.plan import Run, Settings, make_plan
from quintet_bench.results import Document, Result, label_of, summarise
from quintet_bench.runner import describe

P50 = {("tcp", None): 40, ("unix", None): 35, ("shm", None): 22, ("tcp", 1000): 8, ("unix", 1000): 6, ("shm", 1000): 0.3}
SPEED = {("tcp", None): 1e5, ("unix", None): 2e5, ("shm", None): 6e5, ("tcp", 1000): 2e5, ("shm", 1000): 1.8e6}


def found(**changed: float) -> list[Result]:
    """Three rounds; in each one the machine is slower. `changed`: figures by transport, with _awake for spinning ones."""
    out = []
    for number in (1, 2, 3):
        out.append(made_up(workload="latency", connections=1, model=None, peer="eventfd", p50_us=20 * number, round=number))
        for (transport, spin), p50 in P50.items():
            p50 = changed.get(transport + "_awake" * bool(spin), p50)
            about = {"transport": transport, "spin_us": spin, "round": number}
            out.append(made_up(workload="latency", connections=1, p50_us=p50 * number, syscalls_per_request=2, **about))
        for (transport, spin), speed in SPEED.items():
            speed = changed.get("speed", speed) if (transport, spin) == ("shm", None) else speed
            out.append(made_up(requests_per_s=speed, transport=transport, spin_us=spin, round=number))
        out.append(made_up(workload="idle", connections=1000, transport="shm", bytes_per_connection=changed.get("idle", 200),
                           segment_bytes_per_connection=4096, slab_bytes_per_connection=-3, round=number))
    return out


def shown(results: list[Result]) -> str:
    document = Document("shm", "", {}, {}, results)
    return shm.table(summarise(results), document.figures() | shm.compose(document))


def met(results: list[Result]) -> dict[str, list[Any]]:
    return {work: [one["met"] for one in some] for work, some in shm.conclude(results).items()}


def test_all_that_is_demanded_can_be_met() -> None:
    assert met(found()) == {"latency": [True, True, True], "echo": [None, True, True], "idle": [True]}
    text = shown(found())
    for part in ["latency: 1 connection x 8 B, single_reactor", "eventfd, two threads", "shm, spinning", "tcp, asleep",
                 "shm, spinning: p50 of 0.600 us (rounds from 0.300 to 0.900); demanded: at most 1: met",
                 "tcp, asleep: 133 times the p50 of shm, spinning", "shm, asleep: 1.10 times the p50 of two threads",
                 "echo: 100 connections x 8 B",
                 "unix, asleep: 2.00 times the requests/s of tcp, asleep (rounds from 2.00 to 2.00).\n",
                 "shm, spinning: 9.00 times the requests/s of tcp, spinning (rounds from 9.00",
                 "shm, asleep: 6.00 times the requests/s of tcp, asleep (rounds from 6.00 to 6.00); demanded: at least 5: met",
                 "idle: bytes of each of 1,000 connections", "4,096", "200 bytes of user space a connection"]:
        assert part in text, text


@pytest.mark.parametrize("changed, work, expected", [
    ({"shm_awake": 0.6}, "latency", [None, True, True]),
    ({"shm_awake": 1.1}, "latency", [False, True, True]), ({"shm_awake": 4}, "latency", [False, False, True]),
    ({"shm": 23.5}, "latency", [True, True, False]), ({"speed": 4.9e5}, "echo", [None, False, True]),
    ({"idle": 257}, "idle", [False])])
def test_each_demand_can_fail(changed: dict[str, float], work: str, expected: list[Any]) -> None:
    assert met(found(**changed))[work] == expected


def test_without_a_reference_nothing_is_compared() -> None:
    lonely = [r for r in found() if r["transport"] == "shm"]
    assert met(lonely) == {"latency": [True], "echo": [], "idle": [True]}
    failed = [r | {"error": "the server ended"} for r in found()]
    assert set(map(len, shm.conclude(failed).values())) == {0}
    assert "failed: the server ended" in shown(failed)


def test_each_row_is_measured_where_it_makes_sense(build: Build) -> None:
    works = [build.workload("latency"), build.workload("echo"), build.workload("echo").but(name="idle", connections=1000)]
    ways = [shm.Way(model="single_reactor", transport="shm", spin_us=spin) for spin in (None, 50)]
    s = Settings("quintet-bench", works, [shm.Doorbell(peer="eventfd"), *ways], rounds=1, counters=False)
    rows = {(run.work.name, run.who.label) for run in make_plan(s)}
    asleep, awake = "single_reactor (shm)", "single_reactor (shm, spinning)"
    assert rows == {("latency", "eventfd"), ("latency", asleep), ("latency", awake), ("echo", asleep), ("echo", awake),
                    ("idle", asleep)}
    about = describe(s, Run(works[0], ways[1], 1))
    assert (about["transport"], about["spin_us"], label_of(about)) == ("shm", 50, awake)


@pytest.mark.parametrize("transport, spin, connections, options", [
    ("tcp", None, 1, ["--client", "blocking"]), ("unix", None, 100, []), ("shm", None, 1, []),
    ("tcp", 50, 1, ["--spin", "50us"]),
    ("shm", 50, 100, ["--spin", "50us"])])
def test_one_sleeping_client_of_a_socket_blocks(build: Build, transport: str, spin: int | None, connections: int,
                                                options: list[str]) -> None:
    work = build.workload("echo").but(connections=connections)
    assert shm.client_options(Run(work, shm.Way(transport=transport, spin_us=spin), 1)) == options


@pytest.mark.parametrize("line, part", [("--transports tcp,pipe", "tcp, unix, shm"), ("--spin 1s", "from 1us to 100ms"),
                                        ("--spin 0", "from 1us"), ("--model 6", "or 1 to 5"), ("--idle 0", "from 10 to 20000")])
def test_wrong_options_are_refused(build: Build, line: str, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        run_command(shm, build, line)


def test_the_memory_of_connections_is_that_of_a_process() -> None:
    figures = shm.memory_of(os.getpid())
    assert figures["bytes_per_connection"] > 1 << 20 and figures["slab_bytes_per_connection"] > 0
    with pytest.raises(RunError, match="RssAnon"):
        shm.memory_of(0)                  # no such process


def test_a_connection_that_the_server_closes_is_an_error(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path + ".shm")
        listening.listen()

        def refuse() -> None:
            listening.accept()[0].close()
        refusing = threading.Thread(target=refuse)
        refusing.start()
        with pytest.raises(RunError, match="closed an idle connection"):
            shm.idle_figures(os.getpid(), "shm", "", path, 5)
        refusing.join()
    with pytest.raises(RunError, match="cannot open 5 connections over unix: .*No such file"):
        shm.idle_figures(os.getpid(), "unix", "", str(tmp_path / "nowhere"), 5)
