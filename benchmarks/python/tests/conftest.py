# SPDX-License-Identifier: BSL-1.0
"""What the tests share: a build as `quintet-bench describe` tells it, and made-up results."""
import json
import pathlib
import sys
from types import ModuleType
from typing import Any

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from quintet_bench.build import Build  # noqa: E402
from quintet_bench.options import Parser  # noqa: E402
from quintet_bench.results import Result, clean  # noqa: E402


@pytest.fixture
def build() -> Build:
    return Build.parse("/nowhere/quintet-bench", json.loads((HERE / "data/describe.json").read_text()))


def run_command(command: ModuleType, build: Build, line: str) -> int:
    parser = Parser("quintet-bench", command.ABOUT)
    command.EXPERIMENT.add_options(parser, build)
    return int(command.EXPERIMENT.run(parser.parse_args(line.split()), build))


def made_up(**figures: Any) -> Result:
    """A result of one run; absent keys are not measured."""
    usual = {"workload": "echo", "model": "single_reactor", "engine": "epoll", "handler": "callback",
             "accept": "main_reactor", "offload": "automatic", "connections": 100, "message_bytes": 8, "pipeline": 1}
    return clean({**usual, **figures})
