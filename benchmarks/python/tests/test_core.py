# SPDX-License-Identifier: BSL-1.0
"""What all commands rest on: options, the plan, child processes, runs that fail, and files that are none."""
import dataclasses
import json
import pathlib
import re
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from conftest import run_command

from quintet_bench import plan
from quintet_bench.build import Build
from quintet_bench.child import Child
from quintet_bench.commands import compare, diff, memlat
from quintet_bench.demands import exit_status
from quintet_bench.errors import RunError, UsageError
from quintet_bench.measuring import run_plan
from quintet_bench.options import (list_of, number_in, one_of, output_file, parse_duration, parse_range, real_in, run_duration,
                                   size_in)
from quintet_bench.plan import Contender, Run, Settings, contenders_of, expected_s, fit_within, make_plan, place
from quintet_bench.results import Result, label_of, read_document, write_output
from quintet_bench.runner import measure_load, perform


@pytest.mark.parametrize("parse, text, value", [
    (parse_duration, "5", 5), (parse_duration, ".5ms", 5e-4), (parse_duration, "2min", 120), (parse_duration, "1e3", None),
    (parse_duration, "-1s", None), (parse_duration, "9999999", None), (run_duration, "50ms", 0.05),
    (run_duration, "49ms", None),
    (number_in(1, 3), "3", 3), (number_in(1, 3), "4", None), (number_in(0), "123456", 123456), (number_in(0), "+1", None),
    (number_in(0), "²", None), (real_in(0, 1), "1", 1), (real_in(0, 1), "nan", None), (real_in(0, 1), "x", None),
    (size_in(8, 1 << 20), "4k", 4096), (size_in(8, 1 << 20), "2m", None), (size_in(8, 9), "k", None), (one_of("a"), "a", "a"),
    (one_of("a"), "b", None), (list_of(number_in(1)), "3,1,3", [3, 1]), (list_of(number_in(1)), "1,", None),
    (parse_range, "4", "4..4"), (parse_range, "1..4", "1..4"), (parse_range, "4..1", None), (parse_range, "0..1", None)])
def test_parsers(parse: Callable[[str], Any], text: str, value: Any) -> None:
    if value is None:
        with pytest.raises(UsageError, match=f'"{re.escape(text.removeprefix("1,"))}" is '):
            parse(text)
    else:
        assert parse(text) == value


@pytest.mark.parametrize("command, line, part", [
    (compare, "--models 6", "or 1 to 5"), (compare, "--workloads nonsense", "is not a workload"),
    (compare, "--engine x", "--engine: "), (compare, "--bogus", "--bogus"),
    (compare, "--within 1min --duration 1", "exclude"), (diff, "a b --metric connections", "one of: requests_per_s"),
    (diff, "nowhere b", "cannot read nowhere: No such file"), (memlat, "--cpus 9999", "may use")])
def test_wrong_options(build: Build, command: ModuleType, line: str, part: str) -> None:
    with pytest.raises(UsageError, match=re.escape(part)):
        run_command(command, build, line)


def test_output_files_are_checked_before_and_replaced_after_the_runs(tmp_path: pathlib.Path) -> None:
    path = output_file(str(tmp_path / "file.json"))
    for text in ("first", "second"):
        write_output(path, text)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["second"] and output_file("-") == "-"
    for wrong, why in (("", "empty"), (str(tmp_path), "directory"), (f"{path}/x", "cannot"),
                       (str(tmp_path / "new/file.json"), "is not a directory; make it first")):
        with pytest.raises(UsageError, match=why):
            output_file(wrong)


def settings(build: Build, **more: Any) -> Settings:
    return Settings(**{"program": "/nowhere", "workloads": [build.workload("echo"), build.workload("cpu:50us")], "seed": 3,
                       "contenders": contenders_of(["single_reactor", "thread_per_connection"], True), "rounds": 2, **more})


def test_a_plan_has_rounds_of_all_contenders_in_random_order(build: Build) -> None:
    s = settings(build)
    runs = make_plan(s)
    assert [run.round for run in runs] == [1] * 6 + [2] * 6 + [0] * 6
    assert runs == make_plan(s) != make_plan(settings(build, seed=4))
    for first in range(0, 18, 6):  # peers only echo
        assert {run.who for run in runs[first:first + 4]} == set(s.contenders)
        assert {run.who for run in runs[first + 4:first + 6]} == set(s.contenders[:2])
    fit_within(s, 10)
    assert 9.8 < expected_s(s, runs) <= 10
    fit_within(s, 0.01)
    assert s.duration_s == 0.1


@pytest.mark.parametrize("cpus, work, more, server, client", [
    ([0, 1, 2, 3], "echo", {}, [2, 3], [0, 1]), ([0, 1, 2, 3], "echo", {"one_cpu": True}, [2], [0, 1]),
    ([5], "echo", {}, [5], [5]), ([0, 1], "cpu", {}, [0, 1], [0, 1]), ([0, 1], "echo", {"shared_cpus": True}, [0, 1], [0, 1])])
def test_placement(build: Build, monkeypatch: pytest.MonkeyPatch, cpus: list[int], work: str, more: dict[str, bool],
                   server: list[int], client: list[int]) -> None:
    monkeypatch.setattr(plan, "allowed_cpus", lambda: cpus)
    assert place(settings(build, **more), build.workload(work)) == (server, client)


@pytest.mark.parametrize("stop_after, status, rounds", [(99, 0, [1, 1, 2, 2]), (3, 130, [1, 1, 2])])
def test_results_are_in_the_order_of_the_contenders_and_have_counts(build: Build, stop_after: int, status: int,
                                                                    rounds: list[int]) -> None:
    done: list[Run] = []

    def measure(result: Result, s: Settings, run: Run) -> None:
        if len(done) == stop_after:
            raise KeyboardInterrupt
        done.append(run)
        result |= {"requests_per_s": 1, "syscalls_per_request": 2.5 if run.counting else None}
    s = settings(build, workloads=[build.workload("echo")], contenders=[Contender(model="a"), Contender(model="b")])
    document = run_plan("compare", s, dataclasses.replace(build, call_counter=None), measure)
    assert [r["round"] for r in document.results] == rounds and exit_status(document) == status
    assert [label_of(r) for r in document.results[:2]] == ["a", "b"]
    assert {r["syscalls_per_request"] for r in document.results} == ({2.5} if status == 0 else {None})


@pytest.mark.parametrize("script, why", [
    ("echo why >&2; exit 3", "it ended with status 3: why"), ("kill -9 $$", "it was ended by signal 9"),
    ("sleep 60", "it did not answer in time")])
def test_a_child_that_does_not_answer(script: str, why: str) -> None:
    with pytest.raises(RunError, match=f"^{why}$"), Child("it", ["/bin/sh", "-c", script]) as child:
        child.await_line("ready ", time.monotonic() + 0.3)
    assert child.status() is not None  # it has ended with its block


def test_a_child_is_told_and_watched() -> None:
    with Child("it", ["/bin/sh", "-c", 'echo some; echo "ready $X"; echo oops >&2; exit 0'], {"X": "now"}) as child:
        assert child.await_line("ready ", time.monotonic() + 5) == "now" and child.line(time.monotonic() + 5) is None
        assert child.wait(time.monotonic() + 5) == 0 and child.errors() == "oops\n"
    with pytest.raises(RunError, match="cannot start it: /nowhere: No such file"):
        Child("it", ["/nowhere"])


SERVE, LOAD = "echo engine uring; echo listening on x; exec sleep 60", "echo measuring; echo measured"


@pytest.mark.parametrize("serve, load, error", [
    (SERVE, f'{LOAD}; echo \'{{"requests": 9}}\' > "$json"', None), ("exit 3", "", "the server ended with status 3"),
    (SERVE, "echo no route >&2; exit 1", "the client ended with status 1: no route"), (SERVE, LOAD, "no request was answered"),
    (SERVE.replace("exec sleep 60", "sleep 0.2; exit 4"), f"sleep 0.5; {LOAD}", "the server ended with status 4")])
def test_runs_that_fail_say_why(build: Build, tmp_path: pathlib.Path, serve: str, load: str, error: str | None) -> None:
    program = tmp_path / "quintet-bench"
    program.write_text(f'#!/bin/sh\nfor word; do [ "$last" = --json ] && json=$word; last=$word; done\n'
                       f'case $1 in serve) {serve};; load) {load or ":"};; esac\n')
    program.chmod(0o755)
    s = settings(build, program=str(program))
    result = perform(s, Run(s.workloads[0], s.contenders[0], 1), measure_load)
    assert result["error"] == error
    assert (result["engine"], result["requests"]) == (("automatic", None) if error else ("uring", 9))


@pytest.mark.parametrize("text, why", [
    ("[", "not JSON: line 1"), ("[]", "not an object"), ("{}", 'no "results" array'), ('{"results": [1]}', "not an object"),
    ('{"results": [{}]}', 'member 1 of "results": a result has no "workload"'),
    (json.dumps({"results": [{"workload": "echo", "p99_us": "5"}]}), '"p99_us" is not a number or null'),
    (json.dumps({"results": [{"workload": "echo", "model": 5}]}), '"model" is not a string or null')])
def test_files_that_are_no_documents(tmp_path: pathlib.Path, text: str, why: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ValueError, match=f"bad.json: .*{re.escape(why)}"):
        read_document(str(tmp_path / "bad.json"))
