# SPDX-License-Identifier: BSL-1.0
"""Exit statuses: what is demanded and missed, what is too noisy to say, and which failed runs are tolerated."""
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import HERE, made_up
from quintet_bench.demands import GATE, REPORT, at_least, at_most, demand, exit_status, status_of, tempered
from quintet_bench.results import UNANSWERED, Document, Result, Sample

COMMANDS = HERE.parent / "quintet_bench/commands"


@pytest.mark.parametrize("values, met, words", [
    ((1.0, 2.0), True, " (rounds from 1.00 to 2.00); demanded: at most 2: met"), ((2.1, 3.0), False, "at most 2: not met"),
    ((1.0, 1.0, 9.0), None, "at most 2: too noisy to say"), ((1.0,), None, "p50; demanded: at most 2: too noisy to say"),
    ((9.0,), None, "too noisy to say"), ((1.0,) * 8 + (9.0,), True, "(rounds from 1.00 to 9.00); demanded: at most 2: met"),
    ((1.0,) * 7 + (9.0,), None, "too noisy to say"), ((9.0,) * 8 + (1.0,), False, "not met")])
def test_only_many_rounds_outvote_a_disturbed_one_and_a_single_one_judges_nothing(values: tuple[float, ...], met: bool | None,
                                                                                  words: str) -> None:
    found = demand("x: p50", Sample(values), at_most(2), metric="p50_us", who="x")
    assert found["met"] is met and found["sentence"].endswith(words) and found["who"] == "x"
    without = demand("x: p50", Sample(values), None)
    assert (without["demand"], without["met"]) == (None, None) and "demanded" not in without["sentence"]
    report = demand("x: p50", Sample(values), at_most(2), REPORT)
    assert report["met"] is met and "; expected: at most 2: " in report["sentence"] and status_of([report]) == 0


def test_counted_instructions_need_no_second_round() -> None:
    assert demand("x", Sample((3.0,)), at_most(2), metric="instructions_per_request")["met"] is False


@pytest.mark.parametrize("mets, interrupted, status", [
    ([], False, 0), ([True], False, 0), ([True, None], False, 3), ([None, False], False, 1), ([False], True, 130)])
def test_the_worst_demand_decides(mets: list[bool | None], interrupted: bool, status: int) -> None:
    verdicts = [demand("it.", Sample((1.0,)), at_least(1), met=met, decided=True) for met in mets]
    assert status_of([*verdicts, demand("it", Sample((1.0,)), None)], interrupted) == status


@pytest.mark.parametrize("metric, others, met", [
    ("requests_per_s", 0.5, None), ("requests_per_s", 0.1, False), ("receives_per_request", 0.5, False)])
def test_a_busy_machine_excuses_times_and_no_counts(metric: str, others: float, met: bool | None) -> None:
    missed = demand("it.", Sample((1.0, 1.0)), at_least(2), GATE, metric=metric)
    (found,) = tempered([missed], [made_up(foreign_cpu_fraction=others)])
    assert found["met"] is met
    end = "too noisy to say, as other programs had 50 % of the CPUs." if met is None else "not met."
    assert found["sentence"].endswith(end)


def runs(count: int, *failures: Result) -> Document:
    good = [made_up(round=number, requests_per_s=1.0) for number in range(1, count + 1 - len(failures))]
    return Document("compare", "", {}, {}, [*good, *failures])


@pytest.mark.parametrize("document, status, told", [
    (runs(102), 0, ""), (runs(102, made_up(round=9, error=UNANSWERED)), 0, "remark: 1 of 102 runs, which is tolerated"),
    (runs(20, made_up(error=UNANSWERED)), 0, "up to 5 % where other rounds were answered"),
    (runs(19, made_up(error=UNANSWERED)), 1, f"failed: echo single_reactor round 1: {UNANSWERED}"),
    (runs(102, made_up(error=UNANSWERED, model="reactor_pool")), 1, "failed: echo reactor_pool"),     # no other round
    (runs(102, made_up(error="the server ended with status 1")), 1, "failed: "),
    (runs(102, made_up(failed=1)), 1, "1 requests failed"),
    (runs(102, made_up(failed=1), made_up(error=UNANSWERED)), 1, "failed")])
def test_few_unanswered_runs_are_tolerated(document: Document, status: int, told: str,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(document) == status
    said = capsys.readouterr().err
    assert told in said and bool(said) == bool(told)


def test_commands_and_tests_can_be_loaded_without_optional_packages() -> None:
    listed = (HERE.parents[2] / "scripts/packages.txt").read_text()
    optional = [name.rstrip("3") for name in re.findall(r"^\w+ +\?python3-(\w+)", listed, re.MULTILINE)]
    assert "simpy" in optional
    optional.remove("pytest")   # which this test needs
    script = (f"import importlib, sys, pytest\nfor name in {optional}: sys.modules[name] = None\n"
              f"for name in {sorted(path.stem for path in pathlib.Path(COMMANDS).glob('[a-z]*.py'))}:\n"
              "    importlib.import_module('quintet_bench.commands.' + name)\n"
              f"sys.exit(pytest.main(['--collect-only', '-qq', {str(HERE)!r}]))\n")
    subprocess.run([sys.executable, "-B", "-c", script], check=True, cwd=HERE.parent, stdout=subprocess.PIPE)
