# SPDX-License-Identifier: BSL-1.0
"""scripts/record-here with made-up commands: one file, what fails and what is left out, Ctrl-C, and going on; and the table of
machines."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from conftest import HERE
from quintet_bench.doc_tables import NONE_YET, machines_table

SCRIPT = HERE.parents[2] / "scripts/record-here"
# What the made-up tool does for each command. It waits forever in bus, as a server that does not end.
TOOL = """#!/bin/sh
for word; do [ "$last" = --json ] && json=$word; last=$word; done
write() { echo '{{"command": "'$1'", "environment": {{"date": "now", "cores": -1}}, "verdicts": '"$2"'}}' > "$json"
  printf '%s\\n' "$1 found" "results: $json"; exit $3; }}
case $1 in
  describe) cat {describe} ;;
  memlat) write memlat '[{{"name": "L2", "demand": "at least 1", "met": true, "sentence": "L2"}}]' 0 ;;
  hash) write hash '[]' 1 ;;
  moon) write moon '[]' 3 ;;
  merging) echo 'merging: no room' >&2; exit 1 ;;
  bus) echo begun > {folder}/begun; trap '' INT; sleep 60 ;;
esac
""".replace("write() {", "write() {{")


@pytest.fixture
def tool(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "quintet-bench"
    path.write_text(TOOL.format(describe=HERE / "data/describe.json", folder=tmp_path))
    path.chmod(0o755)
    return path


def command(tool: pathlib.Path, *steps: str) -> list[str]:
    words = [word for step in steps for word in ("--only", step)]
    return [sys.executable, "-B", str(SCRIPT), "--bench", str(tool), "--json", str(tool.parent / "record.json"), *words]


def record(tool: pathlib.Path, *steps: str, more: tuple[str, ...] = ()) -> tuple[int, str, dict[str, Any]]:
    done = subprocess.run([*command(tool, *steps), *more], capture_output=True, text=True, timeout=60)
    file = tool.parent / "record.json"
    return done.returncode, done.stdout + done.stderr, json.loads(file.read_text()) if file.exists() else {}


def test_one_file_has_what_each_step_found_and_failures_are_tried_again(tool: pathlib.Path) -> None:
    status, said, found = record(tool, "memlat", "hash", "moon", "merging")
    assert status == 1 and "merging              about" in said and "FAILED: merging: no room" in said
    assert {name: one.get("status") for name, one in found["records"].items()} == {
        "memlat": 0, "hash": 1, "moon": 3, "merging": 1}
    assert found["records"]["merging"]["error"] == "merging: no room"
    assert found["records"]["memlat"]["document"]["environment"] == {"date": "now", "cores": -1}
    assert found["records"]["memlat"]["printed"] == "memlat found\n"
    assert {"cpu_model", "cores", "commit", "flags", "root", "no_hardware_counters"} <= found["environment"].keys()
    assert "not met" in said and "too noisy to say" in said and "min left" in said
    tool.write_text(tool.read_text().replace("echo 'merging: no room' >&2; exit 1", "write merging '[]' 0"))
    status, said, found = record(tool, "memlat", "hash", "moon", "merging")
    assert status == 0 and said.count("[ 1 of 1]") == 1 and len(found["records"]) == 4      # the others are not repeated
    assert "record.json: 4 of 4 steps" in said


def test_a_file_of_another_machine_is_not_mixed(tool: pathlib.Path) -> None:
    record(tool, "hash")
    file = tool.parent / "record.json"
    file.write_text(file.read_text().replace('"memory_bytes":', '"memory_bytes":1'))
    status, said, _ = record(tool, "hash")
    assert status == 2 and "it is of another machine or build" in said
    assert record(tool, "hash", more=("--again",))[0] == 0


def test_ctrl_c_ends_within_two_seconds_and_keeps_what_is_complete(tool: pathlib.Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("bus needs two CPUs")
    with subprocess.Popen(command(tool, "memlat", "bus", "hash"), stdout=subprocess.PIPE, text=True) as process:
        while not (tool.parent / "begun").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "another call goes on" in said
    assert list(json.loads((tool.parent / "record.json").read_text())["records"]) == ["memlat"]
    deadline = time.monotonic() + 20
    while is_running(tool):  # what was killed dies when it is scheduled
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(tool: pathlib.Path) -> bool:
    return any(str(tool).encode() in safely(one) for one in pathlib.Path("/proc").glob("[0-9]*/cmdline"))


def safely(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_what_has_no_time_left_is_said(tool: pathlib.Path) -> None:
    status, said, found = record(tool, "memlat", "hash", more=("--minutes", "0"))
    assert status == 0 and "No time is left for memlat, hash" in said and not found["records"]
    assert found["left_out"] == {"memlat": "no time was left", "hash": "no time was left"}


def test_steps_are_listed_and_wrong_options_refused(tool: pathlib.Path) -> None:
    status, said, _ = record(tool, more=("--list",))
    assert status == 0 and "memlat " in said and "stress overload --model 1,5" in said
    assert record(tool, "nonsense")[0] == 2 and record(tool.with_name("nowhere"), "memlat")[0] == 2


def test_each_machine_is_a_column() -> None:
    def machine(cpu: str, met: bool | None, **more: Any) -> dict[str, Any]:
        one = {"name": "L2", "metric": "ns", "median": 4.2, "min": 4, "max": 5, "rounds": 3, "kind": "gate",
               "demand": "at least 1", "met": met, "sentence": "L2: 4.2"}
        return {"environment": {"cpu_model": cpu, "cores": 2, "date": "2026-01-01T"},
                "records": {"memlat": {"document": {"verdicts": [one], **more}}, "bus": {"error": "no"}}}
    other = {"metric": None, "median": None, "demand": "a model", "met": None, "sentence": "x"}
    lines = machines_table([machine("A", True), machine("B", False, demands=[other])]).splitlines()
    assert lines[0] == "| step | A, 2 CPUs, 2026-01-01 | B, 2 CPUs, 2026-01-01 |"
    assert lines[2] == "| `memlat` | 1 met | 1 not met, 1 too noisy to say |"
    assert lines[-1].startswith("- B, `memlat`: ")
    assert machines_table([]) == NONE_YET
