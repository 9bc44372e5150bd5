# SPDX-License-Identifier: BSL-1.0
"""A bar on a terminal, a line for each run elsewhere. It uses standard error, because tables use standard output."""
import sys
import time
from collections.abc import Callable, Sequence

CLEAR_LINE = "\r\x1b[K"
WIDTH = 24
Task = tuple[str, float, Callable[[], str]]     # label, expected seconds, and a function that returns the outcome


def _bar(tasks: Sequence[Task], done: int, passed_s: float) -> str:
    planned_s = [expected_s for _, expected_s, _ in tasks]
    pace = passed_s / sum(planned_s[:done]) if done >= 3 else 1.0  # at first the planned one
    left_s = sum(planned_s[done:]) * pace
    left = f"{left_s:.0f} s" if left_s < 90 else f"{left_s / 60:.0f} min"
    filled = WIDTH * done // len(tasks)
    return f"[{'#' * filled}{'.' * (WIDTH - filled)}] {done:>3} of {len(tasks)}, about {left} left  {tasks[done][0]}"


def perform_all(tasks: Sequence[Task]) -> bool:
    """Performs the tasks one after the other. False: Ctrl-C has ended them."""
    terminal, start, complete = sys.stderr.isatty(), time.monotonic(), True
    try:
        for done, (label, _, task) in enumerate(tasks):
            if terminal:
                print(CLEAR_LINE + _bar(tasks, done, time.monotonic() - start)[:118], end="", file=sys.stderr, flush=True)
            outcome = task()
            if not terminal:
                print(f"{done + 1:>3} of {len(tasks)}  {label}: {outcome}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        complete = False
    print(CLEAR_LINE * terminal + "Interrupted: these are the results so far.\n" * (not complete), end="", file=sys.stderr,
          flush=True)
    return complete
