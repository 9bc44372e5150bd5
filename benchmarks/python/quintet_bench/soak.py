# SPDX-License-Identifier: BSL-1.0
"""`compare --soak`: each model's server stays under load for long. What windows one after the other show, and what drifts."""
from __future__ import annotations

import contextlib
import re
import statistics
import time
from collections.abc import Sequence
from typing import Any

from .child import Child
from .errors import RunError, UsageError
from .machine import read_text
from .options import parse_duration
from .plan import Run, Settings
from .results import Result, label_of, number
from .runner import Observer, await_listening, load_command, run_load, server_command
from .statistics import ENOUGH_CONFIDENCE, ratio_interval
from .text import grouped, mebibytes, micros, percent
from .verdict import SPEED

MOST_WINDOWS, SHORTEST_S, LONGEST_S = 60, 0.25, 86_400.0
DRIFTING = (("server_rss_bytes", "memory", mebibytes), ("p99_us", "p99", micros), (SPEED, "requests/s", grouped))


def soak_duration(text: str) -> float:
    if not 1 <= (seconds := parse_duration(text)) <= LONGEST_S:
        raise UsageError(f'"{text}" is out of range; it must be from 1s to {LONGEST_S / 60:.0f}min')
    return seconds


def windows_of(soak_s: float) -> dict[str, Any]:
    """The fields of Settings that make windows of rounds."""
    count = min(MOST_WINDOWS, int(soak_s / SHORTEST_S))
    return {"rounds": count, "duration_s": soak_s / count, "one_by_one": True, "counters": False}


def core_ticks(stat: str) -> list[tuple[int, int]]:
    """Returns busy and all ticks of each CPU, from the text of /proc/stat."""
    rows = [list(map(int, line.split()[1:9])) for line in stat.splitlines() if re.match(r"cpu\d", line)]
    return [(sum(row) - row[3] - row[4], sum(row)) for row in rows]


class Cores(Observer):
    """The busy fraction of each core in a window."""
    fractions: list[float]

    def begin(self, pid: int) -> None:
        self._before = core_ticks(read_text("/proc/stat"))

    def end(self, pid: int) -> None:
        pairs = zip(self._before, core_ticks(read_text("/proc/stat")))
        self.fractions = [(busy - busy_before) / max(1, ticks - ticks_before)
                          for (busy_before, ticks_before), (busy, ticks) in pairs]


class Soak(contextlib.ExitStack):
    """The server of one model stays for all windows of that model."""
    _address = ""

    def measure(self, result: Result, s: Settings, run: Run) -> None:
        if run.round == 1:
            self.close()                # ends the server of the model before
            self._address, self._start = "", time.monotonic()
            self._server = self.enter_context(Child("the server", server_command(s, run, result)))
            self._address = await_listening(self._server, result)
            self._engine = result["engine"]
        if not self._address:
            raise RunError("the server did not start")
        cores, result["engine"] = Cores(), self._engine
        run_load(result, load_command(s, run, result, self._address), self._server, run.expected_s(s), cores)
        result |= {"at_s": time.monotonic() - self._start, "cores": cores.fractions}


def drift_sentence(one: dict[str, Any]) -> str:
    told, quarter = [], len(one["at_s"]) // 4
    for key, what, form in DRIFTING:
        first, last = one[key][:quarter], one[key][-quarter:] if quarter else []
        if not (ratio := ratio_interval(last, first)) or ratio.confidence < ENOUGH_CONFIDENCE:
            continue
        change = (f"{'grew' if ratio.ratio > 1 else 'shrank'} by {percent(abs(ratio.ratio - 1))}" if not ratio.contains(1) else
                  "stayed the same within the noise")
        told.append(f"{what} {change} ({form(statistics.median(first))}, then {form(statistics.median(last))})")
    drift = "; ".join(told) or "too few windows to tell what drifts"
    return f"{one['server']}, {one['workload']}, from the first to the last quarter: {drift}."


def series_of(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Returns for each server what its windows show, in their order."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if not result["error"]:
            groups.setdefault((result["workload"], label_of(result)), []).append(result)
    out = []
    for (workload, label), rows in groups.items():
        one: dict[str, Any] = {"server": label, "model": rows[0]["model"], "workload": workload}
        one |= {key: [number(row[key]) for row in rows] for key in ("at_s", *(key for key, _, _ in DRIFTING))}
        one["cpu_per_core"] = [[number(value) for value in core] for core in zip(*(row["cores"] for row in rows))]
        out.append(one | {"sentence": drift_sentence(one)})
    return out
