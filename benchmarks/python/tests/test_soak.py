# SPDX-License-Identifier: BSL-1.0
"""A soak: one server for all windows of a model, what its series hold, and what counts as drift."""
import json
import pathlib
from typing import Any

import pytest
from conftest import run_command
from quintet_bench.build import Build
from quintet_bench.commands import compare
from quintet_bench.errors import UsageError
from quintet_bench.soak import core_ticks, drift_sentence, soak_duration, windows_of


def test_windows_add_up_to_the_time() -> None:
    for seconds, windows in ((1, 4), (3, 12), (600, 60), (86_400, 60)):
        fields = windows_of(soak_duration(f"{seconds}s"))
        assert fields["rounds"] == windows and fields["rounds"] * fields["duration_s"] == pytest.approx(seconds)
    for wrong in ("500ms", "25000min", "10m"):
        with pytest.raises(UsageError):
            soak_duration(wrong)


def test_busy_ticks_of_each_core_leave_out_idle_and_waiting_ones() -> None:
    stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 40 50 6 7 8 0 0\ncpu1 1 0 0 9 0 0 0 0 0 0\nintr 5\n"
    assert core_ticks(stat) == [(27, 117), (1, 10)]


@pytest.mark.parametrize("memory, told", [
    ([100, 101, 99, 100] * 5, "memory stayed the same within the noise"),
    ([100 + i for i in range(20)], "memory grew by 15 %"), ([200 - i for i in range(20)], "memory shrank by 8 %"),
    ([100, 101, 102, 103], "too few windows to tell what drifts")])
def test_drift_is_what_noise_does_not_explain(memory: list[float], told: str) -> None:
    one: dict[str, Any] = {"server": "a", "workload": "echo", "at_s": memory, "server_rss_bytes": memory, "p99_us": [],
                           "requests_per_s": []}
    assert drift_sentence(one).startswith(f"a, echo, from the first to the last quarter: {told}")


def test_a_server_stays_for_all_windows_of_its_model(build: Build, tmp_path: pathlib.Path) -> None:
    program, out = tmp_path / "quintet-bench", tmp_path / "soak.json"
    figures = '{"requests": 9, "requests_per_s": 5, "server_rss_bytes": 7, "p99_us": 3}'
    program.write_text(f"""#!/bin/sh
for word; do [ "$last" = --json ] && json=$word; last=$word; done
case $1 in
  serve) echo x >> {tmp_path}/served; echo engine epoll; echo listening on x; exec sleep 60;;
  load) echo measuring; echo measured; echo '{figures}' > "$json";;
esac
""")
    program.chmod(0o755)
    assert run_command(compare, build, f"--soak 1s --models 2,4 --program {program} --json {out}") == 0
    found = json.loads(out.read_text())
    assert (tmp_path / "served").read_text() == "x\nx\n" and found["command"] == "soak"
    assert [(one["server"], one["server_rss_bytes"]) for one in found["soak"]] == [
        ("single_reactor", [7] * 4), ("loop_per_thread", [7] * 4)]
    for one in found["soak"]:
        assert one["at_s"] == sorted(one["at_s"]) and {len(core) for core in one["cpu_per_core"]} == {4}
    for option in ("--rounds 3", "--duration 1s", "--within 5s", f"--from {out}"):
        with pytest.raises(UsageError, match="--soak and --"):
            run_command(compare, build, f"--soak 1s {option}")
