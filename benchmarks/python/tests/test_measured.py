# SPDX-License-Identifier: BSL-1.0
"""What the scripts of benchmarks/ print and store, and how they end."""
import json
import pathlib
import subprocess
import sys

import pytest
from conftest import HERE

sys.path.insert(0, str(HERE.parents[1]))

from measured import Measured  # noqa: E402


def test_rows_are_printed_stored_and_judged(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Measured(10, 5)
    found.begin("sends", ["ours", "bound"])
    found.report("of an echo", ["1.00", "1.00"])
    assert found.end() == 0
    found.begin("cpu", ["ours"])
    found.report("of all", ["9"], True)
    assert found.end(str(tmp_path / "found.json"), openssl="3") == 1
    said = capsys.readouterr().out.splitlines()
    assert said == ["sends       ours bound", "of an echo  1.00  1.00", "cpu         ours", "of all         9  MISSED",
                    "Missed: of all"]
    stored = json.loads((tmp_path / "found.json").read_text())
    assert stored["tables"] == {"sends": {"heads": ["ours", "bound"], "rows": [["of an echo", "1.00", "1.00", False]]},
                                "cpu": {"heads": ["ours"], "rows": [["of all", "9", True]]}}
    assert stored["openssl"] == "3" and {"date", "cpu", "cpus", "load_average"} <= stored.keys()


@pytest.mark.parametrize("name", ["tls", "hearing", "postgres"])
def test_scripts_start(name: str) -> None:
    script = str(HERE.parents[1] / name / "measure")
    done = subprocess.run([sys.executable, "-B", script, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--json FILE" in done.stdout
