# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench probe`, a measurement close to the hardware in a process of its own, and rounds of such measurements."""
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from .child import Child
from .errors import RunError
from .measuring import add_output_options
from .options import Parser, number_in, run_duration
from .progress import Progress

PATIENCE_S = 30.0                       # to allocate memory, in addition to the measured time
STARTING_S = 0.1


def probe(program: str, arguments: list[str], duration_s: float) -> dict[str, Any]:
    deadline = time.monotonic() + duration_s + PATIENCE_S
    with Child("the probe", [program, "probe", *arguments, "--duration", f"{duration_s:.3f}"]) as child:
        line = child.line(deadline)
        if child.wait(deadline) != 0 or line is None:
            raise RunError(f"the probe {child.ending()}")
    return dict(json.loads(line))


def add_round_options(parser: Parser, rounds: tuple[int, int], durations: tuple[str, str]) -> None:
    """The two values are the default and that with --quick."""
    parser.flag("--quick", "short runs, for a first look")
    parser.option("--rounds", number_in(1, 1000), f"runs of each (default: {rounds[0]}; {rounds[1]} with --quick)")
    parser.option("--duration", run_duration, f"measured time of a run (default: {durations[0]}; {durations[1]} with --quick)")
    add_output_options(parser)


def measure_rounds(rounds: int, duration_s: float, tasks: Sequence[tuple[str, Callable[[int], str]]]) -> bool:
    """Runs the tasks round by round. Each is a label and a function from the round to an outcome. False: interrupted."""
    each_s, count = duration_s + STARTING_S, rounds * len(tasks)
    progress = Progress(count, each_s * count)
    try:
        for number in range(1, rounds + 1):
            for name, measure in tasks:
                label = f"{name}, round {number}"
                progress.begin(label)
                progress.done(label, measure(number), each_s)
    except KeyboardInterrupt:
        progress.clear()
        print("Interrupted: these are the results so far.", file=sys.stderr)
        return False
    progress.clear()
    return True
