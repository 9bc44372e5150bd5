# SPDX-License-Identifier: BSL-1.0
"""bus: which runs there are, what stands beside the published figures, and what is demanded."""
from typing import Any

import pytest
from conftest import run_command
from quintet_bench.build import Build
from quintet_bench.commands.bus import ALL_TO_ALL, COLUMNS, SEGMENTS, Kind
from quintet_bench.commands import bus
from quintet_bench.errors import RunError, UsageError
from quintet_bench.results import Result

KINDS = [*bus.kinds_of(["shm", "tcp"], bus.SIZES), Kind("shm", "8..128", True, ALL_TO_ALL)]
SETTINGS = {"senders": 1, "nodes": 6, "placement": "sender on CPU 0, receiver on CPU 1"}


def made(kind: Kind, number: int, **changed: float) -> Result:
    """A run in which merging carries 20 times as many small messages, 1.25 times as many large ones, and is flat."""
    low, _, high = kind.sizes.partition("..")
    speed = 1e9 / number / (1 if kind.merging else 1.25 if int(high) >= 16384 else 20)
    size = (int(low) + int(high)) / 2
    usual = dict.fromkeys((*COLUMNS, *SEGMENTS, "checked"), 1.0)
    figures = usual | {"bytes_per_s": speed, "messages_per_s": speed / size, "writes_per_message": 0.01 if kind.merging else 1,
                       "sender_cpu_us_per_message": 1 if kind.merging else 5, "segments": 15, "segment_resident_bytes": 8e6}
    return {**kind._asdict(), **figures, **changed, "cpus_shared": False, "round": number}


def found(kinds: list[Kind] = KINDS, **changed: float) -> dict[str, Any]:
    runs = [made(kind, number, **changed) for number in (1, 2, 3) for kind in reversed(kinds)]
    return {"settings": SETTINGS, "results": bus.summary_of(runs, kinds),
            "verdicts": bus.conclude(runs, kinds, 6)}


def test_single_messages_are_measured_where_something_is_compared() -> None:
    single = [(kind.sizes, kind.static) for kind in bus.kinds_of(["tcp"], bus.SIZES) if not kind.merging]
    assert single == [("8..128", False), ("8..128", True), ("8..16384", False), ("8..16384", True), ("128..128", False),
                      ("16384..16384", False)]
    assert not any(kind.static for kind in bus.kinds_of(["shm", "unix"], bus.SIZES))
    assert bus.kinds_of(["shm", "tcp"], ["64..64"]) == [Kind("shm", "64..64"), Kind("tcp", "64..64"),
                                                        Kind("tcp", "64..64", way=bus.RELAYED)]
    assert Kind("tcp", "64..64", False).label == "tcp, 64 B, a write for each"


def test_published_figures_stand_in_the_same_columns() -> None:
    text = bus.bus_text(found())
    lines = text.splitlines()
    assert "tcp, 8 to 128 B, 1 sender" in lines and "6 processes, all to all" in lines
    after = next(line for line in lines if "published, after, static" in line and "2,822,000" in line)
    assert [part in after for part in ("163", "48 %", "100 %", "5.80 MB", "27.0 MB")] == [True] * 5
    row = next(line for line in lines if line.split()[:1] == ["128"])
    assert row.split()[-2:] == ["526,000", "65.8"] and "1,429,000" in row
    assert next(line for line in lines if line.split()[:1] == ["32,768"]).split()[-2:] == ["-", "-"]
    assert text.count("  merged, static") == text.count("  a write for each, static") == 2
    assert text.count("before, dynamic") == 2 and "libatbus" in text and "they share them" not in text


def test_there_are_seventeen_published_sizes() -> None:
    sizes = bus.PUBLISHED["bus"]["sizes"]
    assert {route: len(some) for route, some in sizes.items()} == {"tcp": 8, "shm": 9}
    assert all(f"{one[0]}..{one[0]}" in bus.SIZES for some in sizes.values() for one in some)


def test_demands_are_judged_in_the_order_of_the_plan() -> None:
    sentences = [one["sentence"] for one in found()["verdicts"]]
    assert [one.partition(":")[0] for one in sentences] == [
        *["shm, 8 to 128 B"] * 3, *["shm, 8 to 16,384 B"] * 2, *["tcp, 8 to 128 B"] * 3, *["tcp, 8 to 16,384 B"] * 2,
        "shm, merged", "shm, a write for each", "tcp, merged", "tcp, a write for each", "6 processes, all to all"]
    assert sentences[5] == ("tcp, 8 to 128 B: merging carries 20.0 times as many messages, published 17 times (rounds from "
                            "20.0 to 20.0); demanded: at least 10: met")
    assert sentences[0].endswith("published no change (rounds from 20.0 to 20.0)")  # no demand
    assert sentences[1].startswith("shm, 8 to 128 B: a message costs the merging sender 0.200 of the CPU")
    assert "tcp, merged: 128 B carry 1.00 of the MB/s of 16,384 B, published 0.761 (rounds" in sentences[-3]
    assert sentences[-2].startswith("tcp, a write for each: 128 B carry 0.0625 of the MB/s of 16,384 B")
    assert sentences[-1] == ("6 processes, all to all: 15 segments, 8.00 MB resident (rounds from 15.0 to 15.0); demanded: at "
                             "most 6: not met")


@pytest.mark.parametrize("changed, unmet", [({"segments": 6}, 0), ({"segments": 7}, 1), ({"segments": 6, "writes_per_message":
                                            0.06}, 2), ({"segments": 6, "messages_per_s": 9.0}, 2)])
def test_each_demand_can_fail(changed: dict[str, float], unmet: int) -> None:
    assert [one["met"] for one in found(**changed)["verdicts"]].count(False) == unmet


def test_without_a_pair_nothing_is_compared() -> None:
    lonely = [Kind("tcp", "8..128"), Kind("tcp", "128..128")]
    assert found(lonely)["verdicts"] == []
    assert bus.bus_text({"settings": SETTINGS, "results": [], "verdicts": []}) == ""
    assert "merged" in bus.bus_text(found(lonely[:1]))


@pytest.mark.parametrize("line, part", [
    ("--route mem", "shm, unix, tcp"), ("--sizes 7", "no room"), ("--sizes 8..65537", "65536"), ("--senders 0", "from 1 to 16"),
    ("--nodes 17", "from 0 to 16"), ("--nodes 1", "nobody"), ("--seed x", "whole number")])
def test_wrong_options_are_refused(build: Build, line: str, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        run_command(bus, build, line)


def test_a_run_that_fails_ends_the_command(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RunError("the probe ended with status 1: of 9 messages 1 were wrong, 0 lost, 0 doubled")
    monkeypatch.setattr(bus, "probe", fail)
    with pytest.raises(RunError, match="1 were wrong"):
        run_command(bus, build, "--rounds 1")


def test_all_runs_of_a_plan_are_performed(build: Build, monkeypatch: pytest.MonkeyPatch,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    commands = []

    def answer(program: str, arguments: list[str], duration_s: float) -> dict[str, Any]:
        commands.append(" ".join(arguments))
        side = dict.fromkeys(bus.SIDES, 1.0)
        return {"messages_per_s": 5.0, "bytes_per_s": 500.0, "writes_per_message": 1.0, "sender": side, "receiver": side,
                "checked": 9, "cpus": [1, 0], "cpus_shared": True, "segments": 6, "segment_bytes": 6.0,
                "segment_resident_bytes": 1.0}
    monkeypatch.setattr(bus, "probe", answer)
    # Each merged message has a write of its own, which is not met.
    assert run_command(bus, build, "--route shm,unix --sizes 8..128,256 --senders 3 --seed 4 --rounds 2") == 1
    assert len(commands) == 2 * (3 + 3 + 1)
    assert "bus --route unix --sizes 8..128 --seed 4 --senders 3 --no-merging" in commands
    assert "bus --route shm --sizes 8..128 --seed 4 --all-to-all 6" in commands
    commands.clear()
    run_command(bus, build, "--route tcp --sizes 8..128 --seed 4 --nodes 0 --rounds 1")
    assert "bus --route tcp --sizes 8..128 --seed 4 --senders 1 --static-output 8388608" in commands and len(commands) == 4
    out = capsys.readouterr().out
    assert "they share them" in out and "6 processes, all to all: 6 segments" in out
