# SPDX-License-Identifier: BSL-1.0
"""A bar on a terminal, a line for each run elsewhere. It uses standard error, because tables use standard output."""
import sys
import time

CLEAR_LINE = "\r\x1b[K"
WIDTH = 24


class Progress:
    def __init__(self, runs: int, expected_s: float) -> None:
        self._runs, self._expected_s = runs, expected_s
        self._done, self._expected_done_s = 0, 0.0
        self._start = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def _left(self) -> str:
        # The measured pace replaces the planned one after a few runs.
        passed = time.monotonic() - self._start
        pace = passed / self._expected_done_s if self._done >= 3 and self._expected_done_s > 0 else 1.0
        left = max(0.0, (self._expected_s - self._expected_done_s) * pace)
        return f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"

    def begin(self, label: str) -> None:
        if self._terminal:
            filled = WIDTH * self._done // max(1, self._runs)
            text = (f"[{'#' * filled}{'.' * (WIDTH - filled)}] {self._done:>3} of {self._runs}, about {self._left()} left"
                    f"  {label}")
            print(CLEAR_LINE + text[:118], end="", file=sys.stderr, flush=True)

    def done(self, label: str, outcome: str, expected_s: float) -> None:
        self._done += 1
        self._expected_done_s += expected_s
        if not self._terminal:
            print(f"{self._done:>3} of {self._runs}  {label}: {outcome}", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._terminal:
            print(CLEAR_LINE, end="", file=sys.stderr, flush=True)
