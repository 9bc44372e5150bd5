# SPDX-License-Identifier: BSL-1.0
"""Results of runs, their summary, and the JSON document of a command."""
from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import statistics
import sys
from collections.abc import Iterable, Sequence
from types import NoneType
from typing import Any

from .errors import FileError, RunError
from .options import is_special
from .plan import Contender

Result = dict[str, Any]  # one run, with the keys NAMES, METRICS, PLACES, "round" and "error"; None: not measured

METRICS = (                             # each number of a result, in the order of writing
    "connections", "message_bytes", "pipeline", "handler_us", "duration_s", "requests", "failed", "requests_per_s", "mb_per_s",
    "p50_us", "p90_us", "p99_us", "p999_us", "max_us",
    "mode_ms",                          # most latencies are from here to 1 ms more
    "server_cpu_us_per_request", "server_user_us_per_request", "client_cpu_us_per_request",
    "syscalls_per_request", "futex_per_request", "context_switches_per_request",
    "migrations_per_request",           # of the server's threads, to another CPU
    "instructions_per_request",         # of the server, in user space
    "server_threads", "server_rss_bytes", "bytes_per_connection",
    "receive_size",                     # bytes that one receive call takes at most
    "receives_per_request",             # receive calls that returned bytes
    "spin_us",                          # how long server and client poll before they sleep
    "segment_bytes_per_connection",     # shared memory that the server has touched
    "page_table_bytes_per_connection",  # of the server
    "slab_bytes_per_connection",        # kernel objects of the whole machine, both ends included
    "accepted_locally",                 # fraction that a pinned loop accepted on the CPU that received it
    "accept_balance",                   # busiest loop / average loop
    "accept_wakes_per_connection",      # wake-ups for an accept while the server is otherwise idle
    "machine_softirq_fraction",         # of the time of all CPUs
    "heartbeat_p50_us", "heartbeat_p99_us", "heartbeat_max_us",
    "client_cpu_fraction",              # near 1: the client was the bottleneck
    "server_busy_fraction",             # of its busiest thread, or of all its CPUs
    "machine_busy_fraction", "net_bytes_per_request", "net_packets_per_request",
    "foreign_cpu_fraction",             # the share of all CPUs that other programs used: noise
    "loops",
    "client_threads")                   # None: by the client's CPUs
NAMES = ("workload", "model", "engine", "handler", "accept", "offload", "peer", "allocator", "client",
         "transport", "pinning")
PLACES = ("server_cpus", "client_cpus", "workers")
LIMITS = {"client_cpu": "client_cpu_fraction", "server_cpu": "server_busy_fraction", "machine_cpu": "machine_busy_fraction"}
UNANSWERED = "no request was answered"      # the error of such a run
AT_ITS_LIMIT = 0.95  # utilization above which a CPU or thread counts as saturated


def number(value: float | None) -> float | int | None:
    """Integers stay as they are, others keep six significant digits. None if the value is not finite."""
    if value is None or not math.isfinite(value):
        return None
    rounded = value if isinstance(value, int) else float(f"{value:.6g}")
    return int(rounded) if rounded == int(rounded) else rounded


def label_of(result: Result) -> str:
    keys = [field.name for field in dataclasses.fields(Contender)]
    return Contender(**{key: result[key] for key in keys if result.get(key)}).label


def clean(result: Result) -> Result:
    """Returns the result as it is written: all keys, in their order, absent values as None."""
    return {key: result.get(key) for key in NAMES} | {"round": result.get("round", 1)} | {
        key: number(result.get(key)) for key in METRICS} | {key: result.get(key) or "" for key in PLACES} | {
        "error": result.get("error")}


@dataclasses.dataclass(frozen=True)
class Sample:
    """The values of one metric in the rounds of a combination, in the order of the rounds."""
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    @property
    def spread(self) -> float:
        return (self.high - self.low) / self.median if self.median else 0.0

    def overlaps(self, other: Sample) -> bool:
        """The two ranges share a point: the rounds do not tell which is larger."""
        return self.low <= other.high and other.low <= self.high


class Combination:
    """The rounds of one workload, shape and server."""

    def __init__(self, results: Sequence[Result]) -> None:
        good = [result for result in results if not result["error"]]
        self.first = results[0]         # its names and places represent all
        self.workload, self.label, self.is_peer = str(self.first["workload"]), label_of(self.first), bool(self.first["peer"])
        self.rounds, self.failures = len(good), len(results) - len(good)    # runs that gave figures, and that did not
        self.error: str | None = next((result["error"] for result in results if result["error"]), None)
        self.samples = {key: Sample(values) for key in METRICS
                        if (values := tuple(result[key] for result in good if result[key] is not None))}

    def median(self, key: str) -> float | None:
        sample = self.samples.get(key)
        return sample.median if sample else None

    @property
    def bottleneck(self) -> str | None:
        """The first of LIMITS that is reached, or "none"; None: not known."""
        known = "client_cpu_fraction" in self.samples and "server_busy_fraction" in self.samples
        reached = (name for name, key in LIMITS.items() if (self.median(key) or 0) > AT_ITS_LIMIT)
        return next(reached, "none" if known else None)

    @property
    def client_bound(self) -> bool:
        return self.bottleneck == "client_cpu"

    def to_json(self) -> dict[str, Any]:
        out = clean({**self.first, **{key: self.median(key) for key in METRICS}, "error": self.error})
        del out["round"]
        known = {key: self.samples.get(key) for key in METRICS}
        return out | {"rounds": self.rounds, "failed_rounds": self.failures, "bottleneck": self.bottleneck,
                      "spread": {key: s and number(s.spread) for key, s in known.items()},
                      "range": {key: s and [number(s.low), number(s.high)] for key, s in known.items()}}


def combination_key(result: Result) -> tuple[Any, ...]:
    """Equal for the rounds of one combination. The engine counts only as far as the label shows it, because a run that
    failed early does not know its engine."""
    shape = ("workload", "connections", "message_bytes", "pipeline", "loops", "client_threads", "accept", "offload")
    return (*(result[key] for key in shape), label_of(result))


def summarise(results: Iterable[Result]) -> list[Combination]:
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        groups.setdefault(combination_key(result), []).append(result)
    return list(map(Combination, groups.values()))


def workload_names(combinations: Iterable[Combination]) -> list[str]:
    return list(dict.fromkeys(c.workload for c in combinations))


@dataclasses.dataclass
class Document:
    """What a command has measured."""
    command: str
    quintet: str                        # version
    environment: dict[str, Any]
    settings: dict[str, Any]
    results: list[Result]
    interrupted: bool = False

    def raw(self) -> dict[str, Any]:
        """The keys that all commands with rounds have: the machine, the build, and what each round gave."""
        return {"quintet": self.quintet, "command": self.command, "environment": self.environment, "settings": self.settings,
                "results": self.results}

    def figures(self) -> dict[str, Any]:
        """The keys that all commands with runs have."""
        from .verdict import noise_sentence
        summary = summarise(self.results)
        return self.raw() | {"noise": noise_sentence(summary), "summary": [c.to_json() for c in summary],
                             "results": [clean(result) for result in self.results]}


def _flaw(result: Any) -> str | None:
    """What makes a result unusable."""
    if not isinstance(result, dict):
        return "not an object"
    if not isinstance(result.get("workload"), str):
        return 'a result has no "workload"'
    wrong = [f'result key "{key}" is not a {"number" if key in METRICS else "string"} or null'
             for key in (*METRICS, *NAMES, *PLACES, "error")
             if not isinstance(result.get(key), (int, float, NoneType) if key in METRICS else (str, NoneType))]
    return wrong[0] if wrong else None


def document_of(value: Any, path: str) -> Document:
    """The object in a --json file of a command with runs. Raises FileError."""
    if not isinstance(value, dict):
        raise FileError(f"{path}: not an object, so it is not a file of quintet-bench")
    if not isinstance(value.get("results"), list):
        raise FileError(f'{path}: no "results" array, so it is not a file of quintet-bench')
    for index, result in enumerate(value["results"], 1):
        if flaw := _flaw(result):
            raise FileError(f'{path}: member {index} of "results": {flaw}')

    def part(key: str) -> dict[str, Any]:
        return value[key] if isinstance(value.get(key), dict) else {}
    return Document(str(value.get("command", "")), str(value.get("quintet", "")), part("environment"), part("settings"),
                    list(map(clean, value["results"])))


def read_document(path: str) -> Document:
    """Reads the --json file of a command with runs. Raises FileError."""
    try:
        with open(path, encoding="utf-8") as file:
            return document_of(json.load(file), path)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise FileError(f"{path}: not JSON: line {error.lineno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not JSON: {error}") from error


dumps = functools.partial(json.dumps, ensure_ascii=False)


def pretty(document: Any) -> str:
    """JSON with a line for each key, and for each member of a list of objects, so that two versions differ by lines."""
    def lines(value: Any) -> str:
        objects = isinstance(value, list) and value and isinstance(value[0], dict)
        return "[\n" + ",\n".join(map(dumps, value)) + "\n]" if objects else dumps(value)
    return "{\n" + ",\n".join(f"{dumps(key)}: {lines(value)}" for key, value in document.items()) + "\n}"


def write_output(path: str, text: str) -> None:
    """Writes the whole file or nothing; "-" is standard output."""
    if path == "-":
        print(text, end="", flush=True)
        return
    written = path if is_special(path) else f"{path}.{os.getpid()}.tmp"
    try:
        with open(written, "w", encoding="utf-8") as file:
            file.write(text)
        if written != path:
            os.replace(written, path)
    except OSError as error:
        if written != path and os.path.exists(written):
            os.remove(written)
        raise RunError(f"cannot write {path}: {error.strerror}") from error


def write_results(table: str, document: dict[str, Any], json_file: str | None, html_file: str | None = None,
                  page: str | None = None) -> None:
    """The end of a command: the table on standard output, or on standard error if the JSON goes there, then the files."""
    sys.stderr.flush()
    print(table, end="", flush=True, file=sys.stderr if json_file == "-" else sys.stdout)
    for name, path, text in (("results:", json_file, pretty(document) + "\n"), ("report: ", html_file, page)):
        if path and text:
            write_output(path, text)
            if path != "-":
                print(name, path)
