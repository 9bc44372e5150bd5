# SPDX-License-Identifier: BSL-1.0
"""redis-server and the example `kv` under redis-benchmark: the Redis protocol instead of an echo."""
from __future__ import annotations

import contextlib
import re
import resource
import shlex
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from .build import Build, Workload
from .child import Child
from .errors import RunError
from .foreign import example_program, free_port, pinned, sample, take_window
from .machine import allowed_cpus
from .plan import Run, Settings
from .results import Result
from .runner import Measure
from .web import accepting, await_accepting, example_command, require_installed

PING = Workload("kv", "echo", 100, len("*1\r\n$4\r\nPING\r\n"), 1, False, False, 0, (100, 14, 1))
PIPELINE = PING.but(name="kv-pipeline", pipeline=16, usual=(100, 14, 16))
INLINE = PING.but(name="kv-inline", message_bytes=len("PING\r\n"), usual=(100, 6, 1))
SET = PING.but(name="kv-set", message_bytes=107, usual=(100, 107, 1))  # 64 bytes under 1,000 keys; unlike PING, it allocates
TESTS = {INLINE.name: ["-t", "ping_inline"], SET.name: ["-t", "set", "-r", "1000", "-d", "64"]}  # the others: ping_mbulk
SUMMARY = re.compile(r"throughput summary: ([\d.]+) requests per second\s+latency summary \(msec\):\n(.*)\n(.*)")
BOUND = re.compile(r"^([\d.]+)% <= ([\d.]+) milliseconds", re.MULTILINE)


class RedisPrograms(NamedTuple):
    server: str                         # redis-server; "": not needed
    benchmark: str
    kv: str

    @staticmethod
    def find(build: Build, kv: str | None, *, with_server: bool = True) -> RedisPrograms:
        """Raises UsageError, which says what to install or build."""
        server = require_installed("kv", "redis-server") if with_server else ""
        return RedisPrograms(server, require_installed("kv", "redis-benchmark", "redis-tools"),
                             example_program(build, "kv", kv))


class ServerCare(NamedTuple):
    """`prefix` gives words before the server's command line; `inspect` raises RunError if the server is not as expected."""
    prefix: Callable[[Result], list[str]] = lambda about: []
    inspect: Callable[[Result, int], None] = lambda about, pid: None


def figures_in(text: str) -> Result:
    """Returns the figures that redis-benchmark has printed, and "distribution": the percentage of the latencies up to each
    bound, in milliseconds. Raises RunError if the text is something else."""
    found = SUMMARY.search(text)
    if not found or float(found[1]) <= 0:
        raise RunError("redis-benchmark printed no figures")
    latencies = dict(zip(found[2].split(), map(float, found[3].split())))
    bounds = BOUND.findall(text.partition("Cumulative distribution")[2])
    return {"requests_per_s": float(found[1]), "distribution": {float(bound): float(percent) for percent, bound in bounds}} | {
        f"{key}_us": latencies[key] * 1e3 for key in ("p50", "p99", "max")}


def client_s() -> float:
    """The CPU time of clients that have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def measure_at(programs: RedisPrograms, result: Result, s: Settings, run: Run, server: Child, ports: list[str]) -> None:
    """Loads a server, warm, with a client for each of the ports. The clients share the connections and the requests, and fail
    if one of these does."""
    per_s = 700_000 if run.work.pipeline > 1 else 90_000  # of these servers on one core of a usual machine

    def load(seconds: float) -> tuple[int, list[Result]]:
        """Returns the requests of each client, and what the clients tell."""
        requests = max(5_000, int(seconds * per_s)) // len(ports)
        shape = ["-c", str(max(1, run.work.connections // len(ports))), "-P", str(run.work.pipeline), "-n", str(requests)]
        commands = [[programs.benchmark, "-h", "127.0.0.1", "-p", port, *shape, *TESTS.get(run.work.name, ["-t", "ping_mbulk"])]
                    for port in ports]
        with contextlib.ExitStack() as ends:    # all run at once; what one prints fits into its pipe until it is read
            clients = [ends.enter_context(Child("redis-benchmark", pinned(result["client_cpus"], command)))
                       for command in commands]
            deadline = time.monotonic() + 60 + requests / 10_000
            found = [figures_in(client.output(deadline)) for client in clients]
        return requests, found
    load(run.warm_up_s(s))
    before, before_s = sample(server.pid), client_s()
    requests, found = load(run.measured_s(s))
    after, spent_s = sample(server.pid), client_s() - before_s
    if server.status() is not None:
        raise RunError(f"the server {server.ending()}")
    result |= found[0] | {"p50_us": statistics.median(one["p50_us"] for one in found)}
    result |= {key: max(one[key] for one in found) for key in ("p99_us", "max_us")}
    duration_s = requests / min(one["requests_per_s"] for one in found)    # until the last client is ready
    take_window(result, before, after, requests * len(ports), duration_s, spent_s)


def measure_redis_load(programs: RedisPrograms, care: ServerCare = ServerCare()) -> Measure:
    """Of redis-server for a peer, else of kv."""
    def measure(result: Result, s: Settings, run: Run) -> None:
        port = free_port()
        command = ([programs.server, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                    "--daemonize", "no", "--logfile", ""] if run.who.peer else
                   [programs.kv, "--port", port, "--model", result["model"], "--loops", str(result["loops"]),
                    "--workers", result["workers"]])
        with accepting("the server", result, port, care.prefix(result) + command) as (server, _):
            care.inspect(result, server.pid)
            measure_at(programs, result, s, run, server, [port])
    return measure


def measure_kv_servers(programs: RedisPrograms, result: Result, s: Settings, run: Run) -> None:
    """Of the peer kv-separate: as many servers as `loops`, with a loop, a CPU and a port each. Else one server with all loops.
    Both have as many clients."""
    count, all_cpus = result["loops"], result["server_cpus"]
    usual, ports = {"engine": "automatic", "accept": "main_reactor"}, list[str]()
    while len(ports) < count:
        ports += [port for port in [free_port()] if port not in ports]
    servers = ([(str(cpu), port, {"model": "single_reactor", "loops": 1}) for cpu, port in zip(allowed_cpus(), ports)]
               if run.who.peer == "kv-separate" else [(all_cpus, ports[0], {"model": "loop_per_thread", "loops": count})])
    commands = [shlex.join(pinned(cpus, example_command(programs.kv, port, usual | about))) for cpus, port, about in servers]
    called = [port for _, port, _ in servers] * count
    with Child("the servers", ["sh", "-c", f"{' & '.join(commands)} & wait"]) as server:
        for _, port, _ in servers:
            await_accepting(server, port)
        measure_at(programs, result, s, run, server, called[:count])
