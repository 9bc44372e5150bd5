# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench forecast`: probes, runs, and what they say about more cores."""
import argparse
import dataclasses
import sys
from typing import Any

from ..build import Build
from ..child import probe
from ..errors import RunError
from ..experiment import Experiment, Work
from ..forecast.costs import ASSUMPTIONS, MachineCosts
from ..machine import allowed_cpus
from ..options import Parser, duration_in, list_of, number_in, one_of, real_in
from ..plan import Settings, UsualRuns
from ..results import Document

ABOUT = "Forecasts more cores: costs are measured here, the rest is simulated, and how far that is off is told"
CLAIMS = "2.9"
CORES = [1, 2, 4, 8, 16, 24, 32]


def parse_assumption(text: str) -> tuple[str, float]:
    """"lines=8". Returns the field of MachineCosts and its value."""
    name, _, value = text.partition("=")
    field = ASSUMPTIONS[one_of(*ASSUMPTIONS)(name)]
    return field.name, real_in(0, field.metadata["most"])(value)


def options(parser: Parser, build: Build) -> None:
    parser.option("--cores", list_of(number_in(1, 256)), f"comma-separated numbers (default: {','.join(map(str, CORES))})",
                  default=CORES)
    parser.option("--connections", number_in(1, 20_000), "concurrent connections (default: 1000)", default=1000)
    parser.option("--handler", duration_in("1us", "50ms"), "time that a handler computes, besides the echo (default: 200us)",
                  default=200e-6)
    parser.option("--assume", list_of(parse_assumption), "set what two CPUs cannot show, as in lines=10,away=200: "
                  f"{', '.join(ASSUMPTIONS)}; the list of costs explains them", default=[])


def plan(arguments: argparse.Namespace, build: Build) -> Work:
    cpus = allowed_cpus()
    if len(cpus) < 2:
        raise RunError("measuring costs takes two CPUs, and this process may use only one")
    from ..forecast.findings import conclude, observe, table    # before the runs, because they need a package

    def perform(s: Settings) -> tuple[Document, dict[str, Any], str]:
        probes = [probe(s.program, ["costs", "--cpus", f"{cpus[0]},{cpus[1]}"], 0.02 if s.quick else 0.05) for _ in range(3)]
        costs = dataclasses.replace(MachineCosts.of_probes(probes), **dict(arguments.assume))
        document, runs = observe(s, build, costs)
        if not document.interrupted:
            print("Simulating, which takes about half a minute.", file=sys.stderr, flush=True)
        figures = conclude(document, costs, runs, arguments.cores, arguments.connections, round(arguments.handler * 1e6, 3))
        return document, figures, table(figures)
    return Work(perform, {"one_cpu": True, "counters": False})


EXPERIMENT = Experiment(
    "forecast", UsualRuns(5, 0.4, 0.1), UsualRuns(2, 0.15, 0.05), plan, options=options,
    examples=("--json forecast.json", "--cores 1,4,16,64 --connections 5000 --handler 50us --assume lines=10"))
