# SPDX-License-Identifier: BSL-1.0
"""The frame: an experiment goes from its options to its file and exit status, and its claims are those of the specification."""
import importlib
import json
import pathlib
import re
from typing import Any

import pytest
from conftest import run_command

from quintet_bench import measuring
from quintet_bench.build import Build
from quintet_bench.doc_tables import ROOT
from quintet_bench.main import COMMANDS, run, told_of
from quintet_bench.plan import Run, Settings
from quintet_bench.results import Document, Result
from quintet_bench.runner import describe

FRAMED = {"accept": "--strategies reuse_port,main_reactor --no-counters", "contention": "--threads 2", "moon": "--models 2,4",
          "peers": "--peers libuv --no-counters", "scaling": "--servers echo --loops 1", "shm": "--transports tcp,shm",
          "sweep": "connections --values 10,5000 --models 2"}


def measured(s: Settings, run: Run, measure: Any) -> Result:
    """A run that took no time. The second round of the first server is slower."""
    speed = 100.0 if run.who != s.contenders[0] or run.round != 2 else 70.0
    return describe(s, run) | {"requests": 100, "failed": 0, "requests_per_s": speed, "server_cpu_us_per_request": 1e3 / speed,
                               "p50_us": 1e3 / speed, "accept_balance": 1.0, "receives_per_request": 0.1,
                               "bytes_per_connection": 200.0}


@pytest.fixture
def no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "perform", measured)
    monkeypatch.setattr("quintet_bench.commands.peers._usable", lambda program, engine: False)


@pytest.mark.parametrize("name", FRAMED)
def test_an_experiment_goes_from_its_options_to_its_file_and_status(name: str, build: Build, tmp_path: pathlib.Path,
                                                                    capsys: pytest.CaptureFixture[str], no_runs: None) -> None:
    command = importlib.import_module(f"quintet_bench.commands.{name}")
    file = tmp_path / "found.json"
    status = run_command(command, build, f"{FRAMED[name]} --rounds 3 --seed 1 --json {file}")
    document = json.loads(file.read_text())
    assert (document["command"], document["settings"]["rounds"], document["settings"]["seed"]) == (name, 3, 1)
    assert {result["round"] for result in document["results"]} == {1, 2, 3}         # each round is stored
    assert {"commit", "cpu_model", "compiler"} <= document["environment"].keys()
    found = {one["met"] for one in document[command.EXPERIMENT.demands] if one["demand"]}
    assert status == (1 if False in found else 3 if None in found else 0)
    said = capsys.readouterr().out
    assert all(one["sentence"].removesuffix(".") in said for one in document[command.EXPERIMENT.demands])


@pytest.mark.parametrize("others, status", [(0.0, 1), (0.5, 3)])
def test_a_busy_machine_leaves_a_demand_on_times_open(others: float, status: int, build: Build,
                                                      monkeypatch: pytest.MonkeyPatch, no_runs: None) -> None:
    monkeypatch.setattr(measuring, "perform", lambda s, run, measure: measured(s, run, measure) | {
        "requests_per_s": 50.0 if run.who.peer == "asio-separate" else 100.0, "foreign_cpu_fraction": others})
    command = importlib.import_module("quintet_bench.commands.contention")
    assert run_command(command, build, "--threads 2 --rounds 3") == status


@pytest.mark.parametrize("name, line", [("hash", "--kinds crc32,crc32c --sizes 64"), ("memlat", "")])
def test_probes_go_the_same_way(name: str, line: str, build: Build, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                capsys: pytest.CaptureFixture[str]) -> None:
    command = importlib.import_module(f"quintet_bench.commands.{name}")
    monkeypatch.setattr(command, "probe", lambda program, arguments, duration_s: {
        "ns_per_load": 1e-6 * len(arguments[-1]), "ns_one_way": 99.0, "bytes": 64, "kind": arguments[2],
        "bytes_per_s": 1e9 * len(arguments[2]), **dict.fromkeys(("sender", "receiver"), {"checksum_share": 0.1})}
        if len(arguments) > 3 else {"ns_one_way": 99.0})
    file = tmp_path / "found.json"
    assert run_command(command, build, f"{line} --rounds 2 --json {file}") == 0
    document = json.loads(file.read_text())
    assert (document["settings"]["rounds"], [one["met"] for one in document["verdicts"]].count(False)) == (2, 0)
    assert all(f"  -> {one['sentence']}.\n" in capsys.readouterr().out for one in document["verdicts"][:1])


def test_ctrl_c_keeps_the_rounds_so_far(build: Build, monkeypatch: pytest.MonkeyPatch, no_runs: None) -> None:
    def interrupt(s: Settings, run: Run, measure: Any) -> Result:
        if run.round == 2:
            raise KeyboardInterrupt
        return measured(s, run, measure)
    monkeypatch.setattr(measuring, "perform", interrupt)
    command = importlib.import_module("quintet_bench.commands.shm")
    assert run_command(command, build, "--rounds 3 --transports tcp") == 130


def test_claims_are_the_rows_whose_proof_is_the_command() -> None:
    rows: dict[str, set[str]] = {name: set() for name in COMMANDS}
    for line in (ROOT / "doc/specification.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        for name in re.findall(r"`quintet-bench (\w+)", cells[5]) if len(cells) > 7 else ():
            if name in rows:
                rows[name].add(cells[1])
    assert {name: set(told_of(name, "CLAIMS").split()) for name in COMMANDS} == rows


def test_all_experiments_are_listed(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list"], build) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(COMMANDS) and "  proxies      2.10" in lines


@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_before_the_first_run_judges_nothing(name: str) -> None:
    experiment = importlib.import_module(f"quintet_bench.commands.{name}").EXPERIMENT
    document = Document(name, "", {}, {"axis": "connections", "client_apart": True, "routes": ["shm"], "sizes": [], "nodes": 6},
                        [], True)
    assert experiment.judged(document, {})[experiment.demands] == []
