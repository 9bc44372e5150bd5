# SPDX-License-Identifier: BSL-1.0
"""Wake-ups to accept in what strace prints, the server's own counters, and the ratios."""
import pathlib
import subprocess

import pytest
from conftest import made_up
from quintet_bench.commands.accept import bounds, count_accepting, ratios, table, take_accept_figures
from quintet_bench.errors import RunError
from quintet_bench.results import summarise
from quintet_bench.web import NGINX, installed, nginx_command

SERVED = """strace: Process 7 attached
[pid 7] epoll_wait(12,  <unfinished ...>
[pid 8] <... epoll_wait resumed>[...], 256, -1) = 1
[pid 7] <... epoll_wait resumed>[...], 256, -1) = 1
[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = 16
[pid 8] epoll_wait(9, [...], 256, -1) = 1
[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = 17
[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable)
[pid 7] epoll_wait(12,  <unfinished ...>
"""
HERD = """[pid 7] <... epoll_wait resumed>[...], 256, -1) = 1
[pid 8] <... epoll_pwait resumed>[...], 256, -1, NULL, 8) = 1
[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC <unfinished ...>
[pid 8] accept4(14, NULL, NULL, SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable)
[pid 7] <... accept4 resumed>) = 16
[pid 9] epoll_wait(9, [], 256, 5) = 0
[pid 9] accept4(14, NULL, NULL, SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable)
"""
ALONE = "epoll_wait(5, [...], 512, -1) = 1\naccept4(3, NULL, NULL, SOCK_CLOEXEC) = 6\n"  # without a pid


@pytest.mark.parametrize("trace, accepted, wakes", [(SERVED, 2, 1), (HERD, 1, 2), (ALONE, 1, 1)])
def test_who_wakes_to_accept(trace: str, accepted: int, wakes: int) -> None:
    assert count_accepting(trace) == (accepted, wakes)


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
    ("main_reactor", "accept_balance", (1.0, 1.0), True, "loop / average 1.00 (promised: at most 1.1): passes"),
    ("main_reactor", "accept_balance", (1.2, 1.3), False, "average 1.25 (promised: at most 1.1): FAILS"),
    ("exclusive", "accept_balance", (1.2, 1.3), False, "(not promised: at most 1.1): not kept here"),
    ("reuse_port", "accept_balance", (1.0, 1.3), None, "(not promised: at most 1.1): too noisy to say")])
def test_bounds_are_kept_by_all_rounds_or_broken_by_all(accept: str, key: str, values: tuple[float, ...], met: bool | None,
                                                        said: str) -> None:
    results = [made_up(workload="short", round=i, accept=accept, loops=2, **{key: value}) for i, value in enumerate(values)]
    (bound,) = bounds(summarise([*results, made_up(workload="short", peer="epoll", loops=2, accept_balance=1.0),
                                 made_up(workload="short", accept=accept, loops=1, accept_balance=1.0)]))
    assert (bound["met"], bound["metric"], bound["loops"]) == (met, key, 2) and said in bound["sentence"]
    assert bound["sentence"] in table(results)


@pytest.mark.parametrize("peer, references", [("epoll", ["main_reactor", "hand-written epoll"]),
                                              ("nginx", ["main_reactor", "nginx", "nginx"])])
def test_ratios_to_the_main_reactor_and_to_the_peer(peer: str, references: list[str]) -> None:
    servers = ({"accept": "main_reactor"}, {"accept": "reuse_port"}, {"model": None, "accept": None, "peer": peer})
    results = [made_up(workload="short", round=number, requests_per_s=100 * number * (i + 1), server_cpu_us_per_request=10 + i,
                       **server) for number in (1, 2) for i, server in enumerate(servers)]
    found = [(reference, ratio.median) for name, reference, _, ratio in ratios(results) if name == "reuse_port"]
    assert [reference for reference, _ in found] == references and found[0][1] == 2
    assert ("published, not measured: Fastsocket" in table(results)) == (peer == "nginx")
    assert "-> reuse_port: 2.00 times the connections of main_reactor (rounds from 2.00 to 2.00)." in table(results)


def test_nginx_takes_its_configuration_and_keeps_the_file_open(tmp_path: pathlib.Path) -> None:
    command = nginx_command(installed("nginx") or "nginx", str(tmp_path), NGINX, 2, port="8080")
    text = (tmp_path / "nginx.conf").read_text()
    assert "worker_processes 2;" in text and "open_file_cache max=1000 inactive=60s;" in text and "accept_mutex off" in text
    if not installed("nginx"):
        pytest.skip("nginx is not installed; apt-get install nginx")
    subprocess.run([*command, "-t"], check=True, capture_output=True)
