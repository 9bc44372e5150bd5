# SPDX-License-Identifier: BSL-1.0
"""Wake-ups to accept in what perf prints, the servers' own counters, and the ratios."""
import pathlib
import subprocess

import pytest
from conftest import made_up

from quintet_bench.commands.accept import bounds, compose, ratios, table, take_accept_figures
from quintet_bench.errors import RunError
from quintet_bench.results import Document, Result, summarise
from quintet_bench.commands.accept import count_events
from quintet_bench.web import NGINX_FILE, installed, nginx_command


def shown(results: list[Result]) -> str:
    document = Document("accept", "", {}, {}, results)
    return table(summarise(results), document.figures() | compose(document))


@pytest.mark.parametrize("lines, accepted, wakes", [
    (("wake 7", "exit 7", "accept 7", "got 7", "accept 7", "none 7"), 1, 1),
    (("wake 7", "exit 7", "enter 7", "wake 7", "exit 7", "accept 7", "got 7", "accept 7", "none 7", "enter 7"), 1, 1),
    (("exit 7", "accept 7", "got 7", "enter 7"), 1, 0),                     # it was not asleep
    (("wake 7", "wake 8", "exit 7", "accept 7", "got 7", "wake 8", "exit 8", "accept 8", "none 8"), 1, 3),  # 8: once in vain
    (("enter 7", "wake 7", "exit 7", "wake 7", "wake 7", "accept 7", "got 7"), 1, 1),   # those two: of a lock
    (("wake 6", "exit 6", "accept 6", "got 6", "wake 9", "wake 9"), 0, 0)])             # another process; a thread of a pool
def test_wake_ups_in_the_events_of_the_scheduler(lines: tuple[str, ...], accepted: int, wakes: int) -> None:
    kinds = {"wake": " 4391         sched:sched_wakeup: comm=a pid=1 pid={} prio=120 target_cpu=001",
             "enter": " {} syscalls:sys_enter_epoll_pwait: epfd: 0x00000005", "exit": " {}  syscalls:sys_exit_epoll_pwait: 0x1",
             "accept": " {} syscalls:sys_enter_accept4: fd: 0x00000003, flags: 0x00080000",
             "got": " {}  syscalls:sys_exit_accept4: 0x7", "none": " {}  syscalls:sys_exit_accept4: 0xfffffffffffffff5"}
    trace = "".join(kinds[kind].format(thread) + "\n" for kind, _, thread in (line.partition(" ") for line in lines))
    assert count_events("'trace' not valid for software events. Ignoring.\n" + trace, {"7", "8", "9"}) == (accepted, wakes)


def test_locality_and_balance_follow_from_the_counters() -> None:
    result, usual = made_up(accept="reuse_port"), made_up()
    take_accept_figures(result, {"accepted": 100, "accepted_locally": 99, "opened_by_each": [75, 25]})
    assert (result["accepted_locally"], result["accept_balance"]) == (0.99, 1.5)
    take_accept_figures(usual, {"accepted": 9, "accepted_locally": 3, "opened_by_each": [5, 4]})
    assert usual["accept_balance"] == pytest.approx(10 / 9) and usual["accepted_locally"] is None
    for wrong in ({"accepted": 0, "accepted_locally": 0}, {"accepted": 9, "accepted_locally": 3}):
        with pytest.raises(RunError):
            take_accept_figures(result, wrong)


@pytest.mark.parametrize("accept, key, values, met, said", [
    ("main_reactor", "accept_balance", (1.0, 1.0), True,
     "average 1.00 (rounds from 1.00 to 1.00); demanded: at most 1.1: met"),
    ("main_reactor", "accept_balance", (1.2, 1.3), False,
     "average 1.25 (rounds from 1.20 to 1.30); demanded: at most 1.1: not met"),
    ("main_reactor", "accept_balance", (1.0, 1.3), None, "demanded: at most 1.1: too noisy to say"),
    ("exclusive", "accept_balance", (1.2, 1.3), None, "average 1.25 (rounds from 1.20 to 1.30)"),
    ("reuse_port", "accept_wakes_per_connection", (1.05, 1.05), True, "demanded: at most 1.05: met"),
    ("reuse_port", "accept_wakes_per_connection", (1.06, 1.06), False, "demanded: at most 1.05: not met")])
def test_bounds_are_kept_by_all_rounds_or_broken_by_all(accept: str, key: str, values: tuple[float, ...], met: bool | None,
                                                        said: str) -> None:
    results = [made_up(workload="short", round=i, accept=accept, loops=2, **{key: value}) for i, value in enumerate(values)]
    (bound,) = bounds(summarise([*results, made_up(workload="short", peer="epoll", loops=2, accept_balance=1.0),
                                 made_up(workload="short", accept=accept, loops=1, accept_balance=1.0)]))
    assert (bound["met"], bound["metric"], bound["loops"]) == (met, key, 2) and said in bound["sentence"]
    assert bound["sentence"] in shown(results)


@pytest.mark.parametrize("peer, references", [("epoll", ["main_reactor", "hand-written epoll"]),
                                              ("nginx", ["main_reactor", "nginx", "nginx"])])
def test_ratios_to_the_main_reactor_and_to_the_peer(peer: str, references: list[str]) -> None:
    servers = ({"accept": "main_reactor"}, {"accept": "reuse_port"}, {"model": None, "accept": None, "peer": peer})
    results = [made_up(workload="short", loops=2, round=number, requests_per_s=100 * number * (i + 1),
                       server_cpu_us_per_request=10 + i, **server) for number in (1, 2) for i, server in enumerate(servers)]
    found = [(ratio["reference"], ratio["median"]) for ratio in ratios(results) if ratio["accept"] == "reuse_port"]
    assert [reference for reference, _ in found] == references and found[0][1] == 2
    assert len(ratios(results + [r | {"loops": 8} for r in results])) == 2 * len(ratios(results))
    assert ("published, not measured: Fastsocket" in shown(results)) == (peer == "nginx")
    assert "-> reuse_port, 2 loop(s): 2.00 times the connections of main_reactor (rounds from 2.00 to 2.00)." in shown(results)


def test_nginx_takes_its_configuration_and_keeps_the_file_open(tmp_path: pathlib.Path) -> None:
    command = nginx_command(installed("nginx") or "nginx", str(tmp_path), NGINX_FILE, 2, port="8080")
    text = (tmp_path / "nginx.conf").read_text()
    assert "worker_processes 2;" in text and "open_file_cache max=1000 inactive=60s;" in text and "accept_mutex off" in text
    if not installed("nginx"):
        pytest.skip("nginx is not installed; apt-get install nginx")
    subprocess.run([*command, "-t"], check=True, capture_output=True)
