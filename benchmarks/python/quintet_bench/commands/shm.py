# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench shm`: the ordinary handler over shared memory beside TCP and a Unix socket, and the kernel's eventfds."""
import argparse
import contextlib
import dataclasses
import os
import socket
import tempfile
from collections.abc import Sequence
from typing import Any

from ..build import Build, Workload
from ..child import Child, probe
from ..demands import Verdict, at_least, at_most
from ..errors import RunError
from ..experiment import Experiment, Plan, compared, matching, of_one
from ..foreign import require_files
from ..machine import bytes_in, cpu_text, read_text
from ..options import Parser, duration_in, list_of, number_in, one_of
from ..plan import Contender, Run, Settings, UsualRuns, place
from ..results import Combination, Document, Result
from ..runner import await_listening, load_command, run_load, server_command
from ..statistics import Filter
from ..table import Layout, title_line, told_of
from ..text import grouped, significant
from ..verdict import CPU, SPEED

ABOUT = "Compares shared memory with TCP, a Unix socket and bare eventfds: latency, throughput, system calls, memory"
TRANSPORTS, DOORBELL, IDLE = ("tcp", "unix", "shm"), "eventfd", "idle"
MOST_P50_US, LEAST_LEAD, MOST_OVER_DOORBELL, LEAST_SPEED, MOST_IDLE_BYTES = 1.0, 20.0, 1.15, 5.0, 256
MESSAGE, TIMEOUT_S = b"12345678", 10.0
OF_PROCESS = {"bytes_per_connection": "RssAnon", "segment_bytes_per_connection": "RssShmem",
              "page_table_bytes_per_connection": "VmPTE"}
LATENCY = ("p50_us", "p99_us", SPEED, "spread", CPU, "syscalls_per_request=calls/req")
MEMORY = (*OF_PROCESS, "slab_bytes_per_connection")


class Way(Contender):
    """A server that is reached over a transport. Only sleeping ones have idle connections measured."""

    def serves(self, work: Workload) -> bool:
        return work.name != IDLE or not self.spin_us


class Doorbell(Contender):
    """Two threads that wake each other: what a round trip costs without a server."""

    def serves(self, work: Workload) -> bool:
        return work.connections == 1


def measure_doorbell(result: Result, s: Settings, run: Run) -> None:
    cpus = [cpu_text(some[:1]) for some in reversed(place(s, run.work))]
    found = probe(s.program, ["doorbell", "--cpus", ",".join(cpus)], run.measured_s(s))
    result |= {"p50_us": found["p50_us"], "p99_us": found["p99_us"], "requests": found["round_trips"], "failed": 0,
               "duration_s": run.measured_s(s), SPEED: found["round_trips"] / run.measured_s(s)}


def memory_of(pid: int) -> dict[str, int]:
    """Bytes by key of a result. The kernel's objects are those of the whole machine."""
    process, machine = read_text(f"/proc/{pid}/status"), read_text("/proc/meminfo")
    return {key: bytes_in(process, name) for key, name in OF_PROCESS.items()} | {
        "slab_bytes_per_connection": bytes_in(machine, "Slab")}


def open_connection(transport: str, address: str, path: str) -> socket.socket:
    """Returns a connection that the server has opened, too. Over shared memory the server's first message says so, which has
    the segment's file; it is closed here, so that only the server has mapped the segment. Over a socket an echo says so."""
    if transport == "tcp":
        host, _, port = address.rpartition(":")
        out = socket.create_connection((host, int(port)), TIMEOUT_S)
    else:
        out = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        out.settimeout(TIMEOUT_S)
        out.connect(path + ".shm" * (transport == "shm"))
    if transport != "shm":
        out.sendall(MESSAGE)
    if not out.recv(64):                # without room for descriptors, the kernel closes them
        raise RunError("the server has closed an idle connection")
    return out


def idle_figures(pid: int, transport: str, address: str, path: str, connections: int) -> dict[str, float]:
    """Returns what a connection costs. The first one is not counted, since it allocates what all share."""
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(open_connection(transport, address, path))
            before = memory_of(pid)
            for _ in range(connections):
                stack.enter_context(open_connection(transport, address, path))
            after = memory_of(pid)
    except OSError as error:
        raise RunError(f"cannot open {grouped(connections)} connections over {transport}: {error}") from error
    return {key: (after[key] - before[key]) / connections for key in before}


def client_options(run: Run) -> list[str]:
    """With one connection the sleeping client of a socket is a blocking one, which has the fewest system calls."""
    if run.who.spin_us:
        return ["--spin", f"{run.who.spin_us}us"]
    return ["--client", "blocking"] * (run.who.transport != "shm" and run.work.connections == 1)


def measure(result: Result, s: Settings, run: Run) -> None:
    if run.counting and (run.work.name == IDLE or run.who.peer):
        return                          # there is nothing to count
    if run.who.peer:
        return measure_doorbell(result, s, run)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        echo = dataclasses.replace(run, work=run.work.but(name="echo"))  # idle connections echo nothing else
        command = [*server_command(s, echo, result), "--unix", path]
        with Child("the server", command + ["--spin", f"{run.who.spin_us}us"] * bool(run.who.spin_us)) as server:
            address = await_listening(server, result)
            if run.work.name == IDLE:
                result |= idle_figures(server.pid, str(run.who.transport), address, path, run.work.connections)
                return None
            target = address if run.who.transport == "tcp" else f"{run.who.transport}:{path}"
            run_load(result, load_command(s, run, result, target) + client_options(run), server, run.expected_s(s))
            return None


def over(transport: str, spinning: bool = False) -> Filter:
    return lambda result: result["transport"] == transport and bool(result["spin_us"]) == spinning


def latency_verdicts(results: Sequence[Result], work: str) -> list[Verdict]:
    out = of_one(results, work, "p50_us", over("shm", True), lambda p50: (
        f"shm, spinning: p50 of {significant(p50.median)} us"), at_most(MOST_P50_US), transport="shm", spinning=True)
    out += compared(results, work, "p50_us", over("tcp"), over("shm", True), lambda ratio: (
        f"tcp, asleep: {significant(ratio.median)} times the p50 of shm, spinning"), at_least(LEAST_LEAD), transport="tcp",
        reference="shm, spinning")
    return out + compared(results, work, "p50_us", over("shm"), matching(peer=DOORBELL), lambda ratio: (
        f"shm, asleep: {significant(ratio.median)} times the p50 of two threads with eventfds"), at_most(MOST_OVER_DOORBELL),
        transport="shm", reference=DOORBELL)


def speed_verdicts(results: Sequence[Result], work: str) -> list[Verdict]:
    """Each transport against TCP, asleep and spinning alike. The demand is on shared memory, in both."""
    out = list[Verdict]()
    for transport, spinning in (("unix", False), ("shm", False), ("unix", True), ("shm", True)):
        how = ", spinning" if spinning else ", asleep"
        out += compared(results, work, SPEED, over(transport, spinning), over("tcp", spinning), lambda ratio: (
            f"{transport}{how}: {significant(ratio.median)} times the requests/s of tcp{how}"),
            at_least(LEAST_SPEED) if transport == "shm" else None, transport=transport, spinning=spinning, reference="tcp")
    return out


def conclude(results: Sequence[Result]) -> dict[str, list[Verdict]]:
    """The verdicts of each workload, under its name."""
    out = {}
    for work, connections in {r["workload"]: r["connections"] for r in results}.items():
        out[work] = latency_verdicts(results, work) if connections == 1 else speed_verdicts(results, work)
    if IDLE in out:
        out[IDLE] = of_one(results, IDLE, "bytes_per_connection", over("shm"), lambda each: (
            f"shm, idle: {grouped(each.median)} bytes of user space a connection, without its segment"),
            at_most(MOST_IDLE_BYTES), transport="shm")
    return out


def compose(document: Document) -> dict[str, Any]:
    return {"verdicts": [{"workload": work} | one for work, some in conclude(document.results).items() for one in some]}


def title_of(rows: Sequence[Combination]) -> str:
    model = next((row.first["model"] for row in rows if row.first["model"]), "")
    count = grouped(rows[0].first["connections"])
    return f"{f'{IDLE}: bytes of each of {count} connections' if rows[0].workload == IDLE else title_line(rows[0])}, {model}"


LAYOUT = Layout(lambda row: MEMORY if row.workload == IDLE else LATENCY, title=title_of, name=lambda row: (
    "eventfd, two threads" if row.is_peer else f"{row.first['transport']}, {'spinning' if row.first['spin_us'] else 'asleep'}"))


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    return LAYOUT.text(summary, told_of(figures["verdicts"])) + f"{figures['noise']}\n"


def options(parser: Parser, build: Build) -> None:
    parser.option("--transports", list_of(one_of(*TRANSPORTS)), f"comma-separated (default: {','.join(TRANSPORTS)})",
                  default=list(TRANSPORTS))
    parser.option("--spin", duration_in("1us", "100ms"), "how long both sides of a spinning row poll before they sleep "
                  "(default: 1ms)", default=1e-3)
    parser.option("--connections", number_in(2, 20_000), "connections of the throughput rows (default: 100)", default=100)
    parser.option("--idle", number_in(10, 20_000), "idle connections whose memory is measured (default: 1000)", default=1000)


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    a = arguments
    require_files(max(a.connections, a.idle))
    works = [build.workload("latency"), build.workload("echo").but(connections=a.connections),
             build.workload("echo").but(name=IDLE, connections=a.idle)]
    ways = [Way(model=a.model, engine=a.engine, transport=transport, spin_us=spin)
            for spin in (None, round(a.spin * 1e6)) for transport in a.transports]
    return Plan({"workloads": works, "contenders": [Doorbell(peer=DOORBELL), *ways]}, measure)


EXPERIMENT = Experiment(
    "shm", UsualRuns(7, 1.0, 0.2), UsualRuns(3, 0.2, 0.1), plan, compose, table, options=options, shared=("--model",),
    server=True, examples=("--quick", "--model 4 --connections 500 --rounds 9 --json shm.json", "--transports shm --spin 50us"),
    notes=("asleep: both sides sleep at once; spinning: both poll first. calls/req: system calls of the server, in a",
           "pass of its own. Of an idle connection, user space: private memory of the server (RssAnon); segment: shared",
           "memory that it has touched; kernel objects: Slab of the machine, so both ends, and what other programs did",
           "meanwhile.",
           "Demanded: shm spinning has a p50 of at most 1 us, and a twentieth of that of TCP asleep; shm asleep at most",
           "1.15 times that of eventfds; 5 times the requests/s of TCP; 256 bytes of user space for an idle connection",
           "without its segment."))
