# SPDX-License-Identifier: BSL-1.0
"""Exit statuses: what is demanded and missed, what is too noisy to say, and which failed runs are tolerated."""
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import HERE, made_up
from quintet_bench.demands import demanded, exit_status, judged, status_of, tempered
from quintet_bench.results import UNANSWERED, Document, Result, Sample

COMMANDS = HERE.parent / "quintet_bench/commands"


@pytest.mark.parametrize("values, met, words", [
    ((1.0, 2.0), True, "(rounds from 1.00 to 2.00; demanded: at most 2): met"), ((2.1, 3.0), False, "at most 2): not met"),
    ((1.0, 1.0, 9.0), None, "at most 2): too noisy to say")])
def test_one_disturbed_round_leaves_a_demand_open(values: tuple[float, ...], met: bool | None, words: str) -> None:
    found = judged({"who": "x"}, "p50_us", Sample(values), "x: p50", high=2)
    assert found["met"] is met and found["sentence"].endswith(words) and found["who"] == "x"
    without = judged({}, "p50_us", Sample(values), "x: p50")
    assert (without["demand"], without["met"]) == (None, None) and "demanded" not in without["sentence"]


@pytest.mark.parametrize("mets, interrupted, status", [
    ([], False, 0), ([True], False, 0), ([True, None], False, 3), ([None, False], False, 1), ([False], True, 130)])
def test_the_worst_demand_decides(mets: list[bool | None], interrupted: bool, status: int) -> None:
    verdicts = [demanded({"sentence": "it."}, "at least 1", met) for met in mets]
    assert status_of([*verdicts, demanded({"sentence": "it"}, None, False)], interrupted) == status


@pytest.mark.parametrize("metric, others, met", [
    ("requests_per_s", 0.5, None), ("requests_per_s", 0.1, False), ("receives_per_request", 0.5, False)])
def test_a_busy_machine_excuses_times_and_no_counts(metric: str, others: float, met: bool | None) -> None:
    missed = judged({}, metric, Sample((1.0,)), "it", low=2) | {"sentence": "it; demanded: at least 2: not met."}
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


def test_commands_can_be_loaded_without_optional_packages() -> None:
    listed = (HERE.parents[2] / "scripts/packages.txt").read_text()
    optional = [name.rstrip("3") for name in re.findall(r"^\w+ +\?python3-(\w+)", listed, re.MULTILINE)]
    assert "simpy" in optional
    script = (f"import importlib, sys\nfor name in {optional}: sys.modules[name] = None\n"
              f"for name in {sorted(path.stem for path in pathlib.Path(COMMANDS).glob('[a-z]*.py'))}:\n"
              "    importlib.import_module('quintet_bench.commands.' + name)\n")
    subprocess.run([sys.executable, "-c", script], check=True, cwd=HERE.parent)
