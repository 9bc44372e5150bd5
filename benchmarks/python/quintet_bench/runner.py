# SPDX-License-Identifier: BSL-1.0
"""One run: a server process, a client process, and the figures of both."""
import contextlib
import dataclasses
import json
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from .child import Child
from .errors import RunError
from .foreign import sample
from .machine import allowed_cpus, cpu_text, read_text
from .plan import Run, Settings, place
from .results import METRICS, NAMES, PLACES, UNANSWERED, Result

PATIENCE_S = 15.0                   # in addition to the expected time of a step
USUAL_THREADS = 4096                # thread limit of model 1, unless a run needs more
ENOUGH_CONNECTIONS = 1000           # with fewer, memory per connection would measure the program


class Observer:
    """Is told when the measured window of a run begins and ends."""

    def attach(self, pid: int) -> None:
        """The server runs, and has no load yet: time for preparations that the window must not include."""

    def begin(self, pid: int) -> None:
        pass

    def end(self, pid: int) -> None:
        pass


Measure = Callable[[Result, Settings, Run], None]  # fills in the figures of a run; raises RunError


def describe(s: Settings, run: Run) -> Result:
    """What is known of a run before it."""
    (server, client), threads = place(s, run.work), run.work.threads
    result: Result = dict.fromkeys((*NAMES, *METRICS, *PLACES, "error")) | dataclasses.asdict(run.who) | {
        "workload": run.work.name, "round": run.round, "workers": "", "connections": run.work.connections,
        "message_bytes": run.work.message_bytes, "pipeline": run.work.pipeline, "loops": threads,
        "client_threads": run.work.client_threads, "server_cpus": cpu_text(server), "client_cpus": cpu_text(client)}
    if run.who.peer:                    # which has none of these
        result |= dict.fromkeys(("engine", "handler", "accept"))
    else:
        result |= {"offload": s.offload, "loops": threads or s.loops or len(server),
                   "workers": f"{threads}..{threads}" if threads else s.workers}
    if run.who.pinning == "off":        # with as many loops and client threads as on CPUs of their own
        result |= dict.fromkeys(("server_cpus", "client_cpus"), cpu_text(allowed_cpus()))
    if run.work.kind in ("cpu", "blocking", "mixed"):
        result["handler_us"] = run.work.cost_us
    return result


def server_command(s: Settings, run: Run, about: Result) -> list[str]:
    out = [s.program, "serve", "--workload", run.work.name, "--size", str(run.work.message_bytes), "--port", "0",
           "--pin", about["server_cpus"]]
    if run.who.peer:
        out += ["--peer", run.who.peer, *(["--loops", str(about["loops"])] if about["loops"] else [])]
    else:
        out += ["--model", str(run.who.model), "--workers", about["workers"], "--strict", "--max-threads",
                str(max(USUAL_THREADS, run.work.connections + 100))]
        for name in ("loops", "offload", "engine", "handler", "accept"):
            out += [f"--{name}", str(about[name])]
        out += ["--receive-size", str(run.who.receive_size)] if run.who.receive_size else []
    return out + (["--priority-port", "0"] if run.work.heartbeat else []) + ["--exit-with-parent"]


def load_command(s: Settings, run: Run, about: Result, address: str) -> list[str]:
    server, client = place(s, run.work)
    threads = run.work.client_threads or (len(client) if client != server else 1)
    return [s.program, "load", address, "--workload", run.work.name, "--connections", str(run.work.connections),
            "--size", str(run.work.message_bytes), "--pipeline", str(run.work.pipeline), "--pin", about["client_cpus"],
            "--threads", str(threads), "--duration", f"{run.measured_s(s):.3f}", "--warm-up", f"{run.warm_up_s(s):.3f}",
            *(["--client", run.who.client] if run.who.client else []), *["--server-calls"] * run.counting]


def await_listening(server: Child, result: Result) -> str:
    """Returns the address of a started `serve`."""
    deadline = time.monotonic() + PATIENCE_S
    if not result["peer"]:
        result["engine"] = server.await_line("engine ", deadline)
    return server.await_line("listening on ", deadline)


@contextlib.contextmanager
def counted_server(command: list[str]) -> Iterator[tuple[Child, dict[str, Any]]]:
    """A server of `serve`, and the counters that it has written at its orderly end, after the block."""
    counters: dict[str, Any] = {}
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        with Child("the server", [*command, "--json", file.name]) as server:
            yield server, counters
            server.kill(signal.SIGTERM)
            if server.wait(time.monotonic() + PATIENCE_S) != 0:
                raise RunError(f"after SIGTERM, the server {server.ending()}")
        counters |= json.loads(read_text(file.name))


def run_load(result: Result, command: list[str], server: Child, expected_s: float,
             observer: Observer = Observer()) -> dict[str, Any]:
    """Runs `load` against a server and takes its figures. Returns all that it has written."""
    deadline = time.monotonic() + expected_s + PATIENCE_S
    observer.attach(server.pid)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        with Child("the client", [*command, "--server-pid", str(server.pid), "--json", file.name]) as client:
            client.await_line("measuring", deadline)
            observer.begin(server.pid)
            client.await_line("measured", deadline)
            observer.end(server.pid)
            while client.line(deadline) is not None:
                pass
            status = client.wait(deadline)
            if server.status() is not None:
                raise RunError(f"the server {server.ending()}")
            ending = client.ending()
        text = read_text(file.name)
    figures: dict[str, Any] = json.loads(text) if text else {}
    decided = ("client_threads", "spin_us")     # by the plan
    result |= {key: figures[key] for key in METRICS if key not in decided and figures.get(key) is not None}
    if status != 0 and not result["failed"]:
        raise RunError(f"the client {ending}")
    if not result["requests"]:
        raise RunError(UNANSWERED)
    return figures


def measure_load(result: Result, s: Settings, run: Run, observer: Observer = Observer()) -> None:
    """Starts `serve`, runs `load` against it, and fills in what they say."""
    with Child("the server", server_command(s, run, result)) as server:
        command = load_command(s, run, result, await_listening(server, result))
        if run.work.heartbeat:
            command += ["--heartbeat", server.await_line("priority on ", time.monotonic() + PATIENCE_S)]
        idle_bytes = sample(server.pid)["rss"]
        run_load(result, command, server, run.expected_s(s), observer)
        if run.work.connections >= ENOUGH_CONNECTIONS and not run.work.short:
            result["bytes_per_connection"] = (result["server_rss_bytes"] - idle_bytes) / run.work.connections


def perform(s: Settings, run: Run, measure: Measure) -> Result:
    """Returns the figures of a run, or the reason why it has none."""
    result = describe(s, run)
    try:
        measure(result, s, run)
        return result
    except (RunError, OSError, ValueError) as error:
        return {**describe(s, run), "error": str(error)}
