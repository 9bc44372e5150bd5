# SPDX-License-Identifier: BSL-1.0
"""What counts as faster, slower, no difference and too noisy, and what cannot be compared."""
from typing import Any

import pytest
from conftest import made_up

from quintet_bench.commands import diff
from quintet_bench.results import Document, Result
from quintet_bench.statistics import Interval


def rounds(*speeds: float, **more: Any) -> list[Result]:
    return [made_up(round=number, failed=0, requests_per_s=speed, **more) for number, speed in enumerate(speeds, 1)]


@pytest.mark.parametrize("key, before, after, expected", [
    ("requests_per_s", (100, 101, 102), (100, 101, 102), "no difference"),
    ("requests_per_s", (100, 101, 102), (130, 131, 132), "faster"), ("p99_us", (10, 10, 10), (20, 20, 20), "slower"),
    ("requests_per_s", (100, 150, 200), (110, 160, 210), "too noisy"), ("requests_per_s", (100,), (200,), "too noisy"),
    ("requests_per_s", (100, 120, 140), (141, 160, 200), "too noisy")])  # apart, but less than equal rounds move
def test_changes_are_classified(key: str, before: tuple[float, ...], after: tuple[float, ...], expected: str) -> None:
    sides = ([made_up(round=number, **{key: value}) for number, value in enumerate(side, 1)] for side in (before, after))
    (change,), others = diff.find_differences(*sides, [key])
    assert (change["metric"], change["verdict"], others) == (key, expected, [])
    assert key != "p99_us" or diff.loss(change) == 1


@pytest.mark.parametrize("ratio, usual, tolerance, expected", [
    (Interval(1.01, 0.99, 1.03, 0.95), 0.05, 0.1, "no difference"), (Interval(1.01, 0.99, 1.03, 0.95), 0.05, 0.02, "too noisy"),
    (Interval(1.01, 1.005, 1.02, 0.95), 0.005, 0.1, "faster"), (Interval(2, 1.9, 2.1, 0.7), 0.005, 0.1, "too noisy")])
def test_tolerance_movement_and_confidence_count(ratio: Interval, usual: float, tolerance: float, expected: str) -> None:
    assert diff.classify(ratio, True, usual, tolerance) == expected


def test_unpaired_combinations_and_failures_are_reported() -> None:
    after = rounds(100, model="reactor_pool") + rounds(5, workload="mixed", error="not one reply")
    changes, others = diff.find_differences(rounds(100) + rounds(5, workload="mixed"), after)
    assert not changes and [(u["why"], u["broken"]) for u in others] == [
        ("only in the first", False), ("failed in the second: not one reply", True), ("only in the second", False)]


def test_a_key_that_one_file_lacks_counts_as_equal() -> None:
    after = rounds(100, 101, offload="always", accept="exclusive")
    assert not diff.find_differences(rounds(100, 101, offload=None, accept=None), after)[1]
    assert len(diff.find_differences(rounds(100, offload="adaptive"), after)[1]) == 2


def test_another_machine_placement_and_disturbances_are_warned_of() -> None:
    before = Document("compare", "", {"kernel": "6.1", "cpu_model": "A"}, {}, rounds(100, server_cpus="1"))
    after = Document("compare", "", {"kernel": "6.1", "cpu_model": "B"}, {},
                     rounds(100, server_cpus="2", foreign_cpu_fraction=0.5))
    told = diff.warnings(before, after)
    assert [part in text for part, text in zip(("another CPU: A, then B", "then on 2", "had 50 % of"), told)] == [True] * 3
    found = diff.find_differences(before.results, after.results)
    assert "warning: another CPU: A, then B\n" in diff.diff_table({"before a": before, "after b": after}, *found)
