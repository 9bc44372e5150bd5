# SPDX-License-Identifier: BSL-1.0
"""What the program quintet-bench can do: its workloads, models, engines and servers, as `quintet-bench describe` says."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
from typing import Any

from .errors import RunError, UsageError
from .options import list_of, one_of, parse_duration


@dataclasses.dataclass(frozen=True)
class Workload:
    """What a client sends and what the server does with it. `kind`: echo, cpu, blocking, mixed, ask, timestamp
    or framed."""
    name: str
    kind: str
    connections: int
    message_bytes: int
    pipeline: int
    short: bool
    heartbeat: bool
    cost_us: int
    usual: tuple[int, int, int]         # connections, message_bytes and pipeline of the named workload
    threads: int | None = None          # loops and workers of the server; None: other settings decide
    client_threads: int | None = None   # of the epoll client; None: by its CPUs

    @property
    def family(self) -> str:
        return self.name.partition(":")[0]

    def but(self, **changes: Any) -> Workload:
        return dataclasses.replace(self, **changes)

    def title(self) -> str:
        """Returns "echo", or "echo (5 connections, 64 B)" if the shape is not the named workload's."""
        shape = (self.connections, self.message_bytes, self.pipeline)
        units = (" connection" if self.connections == 1 else " connections", " B", " in flight")
        changed = [f"{now}{unit}" for now, was, unit in zip(shape, self.usual, units) if now != was]
        return f"{self.name} ({', '.join(changed)})" if changed else self.name


@dataclasses.dataclass(frozen=True)
class Build:
    program: str                        # path of quintet-bench
    version: str
    compiler: str
    flags: str
    boost: str
    allocator: str
    commands: dict[str, str]            # those of the program itself, and what each is about
    models: list[str]
    engines: list[str]                  # with "automatic"
    accept: list[str]
    offload: list[str]
    peers: list[str]
    missing_peers: dict[str, str]       # name and the reason why it is not in this build
    workloads: list[Workload]
    call_counter: str | None            # why the program cannot count system calls; None: it can

    @staticmethod
    def parse(program: str, text: dict[str, Any]) -> Build:
        works = [Workload(**w, usual=(w["connections"], w["message_bytes"], w["pipeline"])) for w in text.pop("workloads")]
        return Build(program=program, version=text.pop("quintet"), workloads=works, **text)

    @staticmethod
    def of_environment() -> Build:
        program = os.environ.get("QUINTET_BENCH_PROGRAM", "")
        if not program:
            raise RunError("start it as quintet-bench, or set QUINTET_BENCH_PROGRAM to the path of quintet-bench")
        try:
            output = subprocess.run([program, "describe"], capture_output=True, text=True, check=True, timeout=30).stdout
            return Build.parse(program, json.loads(output))
        except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            raise RunError(f"{program} describe: {error}") from error

    def workload(self, text: str) -> Workload:
        """Parses "echo", "cpu", "cpu:500us" and so on."""
        family, colon, cost = text.partition(":")
        with contextlib.suppress(UsageError):
            for work in (work for work in self.workloads if work.family == family):
                if not colon:
                    return work
                if work.kind in ("cpu", "blocking"):
                    return work.but(name=text, cost_us=round(parse_duration(cost) * 1e6))
        raise UsageError(f'"{text}" is not a workload; it must be one of: {", ".join(w.name for w in self.workloads)}'
                         " (cpu and blocking take any cost, as in cpu:500us)")

    def workload_list(self, text: str) -> list[Workload]:
        return list_of(self.workload)(text)

    def model(self, text: str) -> str:
        if text.isdigit() and 1 <= int(text) <= len(self.models):
            return self.models[int(text) - 1]
        if text in self.models:
            return text
        raise UsageError(f'"{text}" is not a model; it must be one of: {", ".join(self.models)}, or 1 to 5; or all')

    def model_list(self, text: str) -> list[str]:
        return list(self.models) if text == "all" else list_of(self.model)(text)

    def engine(self, text: str) -> str:
        return one_of(*self.engines)(text)
