# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench peers`: the same echo over other libraries; kv beside redis-server; instructions for each request."""
import argparse
import sys
import time
from collections.abc import Sequence

from .. import valgrind
from ..build import Build, Workload
from ..child import Child
from ..columns import SPREAD, Column, rows_text
from ..errors import UsageError
from ..measuring import UsualRuns, add_measuring_options, exit_status, run_plan, settings_of
from ..options import Parser, number_in, one_of
from ..plan import Contender, Run, Settings
from ..redis_load import PING, PIPELINE, RedisPrograms, measure_redis_load
from ..results import Combination, Document, Result, Sample, label_of, summarise, workload_names, write_results
from ..runner import PATIENCE_S, server_command
from ..statistics import paired_ratio, ratio_json, ratio_text
from ..table import title_line
from ..text import grouped, mebibytes, micros, significant
from ..verdict import CPU, SPEED, cost_of, noise_sentence

ABOUT = "Compares Quintet's echo server with other libraries' and hand-written ones"
DEFAULT, QUICK = UsualRuns(5, 0.5, 0.1), UsualRuns(3, 0.2, 0.1)
DEFAULT_LIST, QUICK_LIST, COUNTED_LIST = "echo,large,pipeline,latency", "echo,large", "echo,latency"
THREADED = ("blocking", "asio-shared", "asio-separate")  # only if they are named, because the others have a single loop
EPOLL, REDIS = Contender(peer="epoll"), Contender(peer="redis")

Standing = tuple[Combination, Sample | None]  # a server, and its cost over the reference's in each round
COUNTED: tuple[Column, ...] = (("instructions", 14, "instructions_per_request", grouped), ("ratio", 8, "ratio", str))
COLUMNS: tuple[Column, ...] = (
    ("CPU/req", 10, CPU, micros), ("ratio", 7, "ratio", str), ("its rounds", 14, "range", str),
    ("syscalls", 10, "syscalls_per_request", significant), ("requests/s", 12, SPEED, grouped), SPREAD,
    ("p50", 9, "p50_us", micros), ("p99", 9, "p99_us", micros))


def reference_in(workload: str) -> Contender:
    return REDIS if workload.startswith("kv") else EPOLL


def standings(results: Sequence[Result], summary: Sequence[Combination], workload: str) -> list[Standing]:
    def ratio(row: Combination, peer: str | None) -> Sample | None:
        return None if row.first["peer"] == peer else paired_ratio(
            results, workload, cost_of(row)[0], lambda r: label_of(r) == row.label, lambda r: r["peer"] == peer)
    return [(row, ratio(row, reference_in(workload).peer)) for row in summary if row.workload == workload]


def verdict_on(found: Sequence[Standing], workload: str) -> str:
    reference, compared = reference_in(workload).label, [(row, ratio) for row, ratio in found if ratio]
    ours = [f"{row.label} needs {ratio_text(ratio, cost_of(row)[1], reference)}." for row, ratio in compared if not row.is_peer]
    peers = sorted(((ratio.median, row.label) for row, ratio in compared if row.is_peer), key=lambda peer: peer[0])
    if not ours:
        return f"Nothing to say: one of ours or {reference} gave no figures."
    if len(peers) < 2:
        return ours[0] + "".join(f" {label}: {median:.2f} times." for median, label in peers)
    return (f"{ours[0]} Of the other peers {peers[0][1]} needs least ({peers[0][0]:.2f} times), "
            f"{peers[-1][1]} most ({peers[-1][0]:.2f} times).")


def _memory_text(rows: Sequence[Combination]) -> str:
    """Memory for each connection, if there are enough of them to measure it."""
    each = [(row, row.samples["bytes_per_connection"].median) for row in rows if "bytes_per_connection" in row.samples]
    return "".join([f"  the server's memory for each of {grouped(row.first['connections'])} connections (RSS; the kernel's own "
                    "comes on top)\n" for row, _ in each[:1]] +
                   [f"  {row.label:<34}{grouped(size):>8} B   {mebibytes(1e6 * size)} for 1 million, "
                    f"{mebibytes(2e6 * size)} for 2 million\n" for row, size in each])


def table(results: Sequence[Result]) -> str:
    """A block for each workload: a line for each server, then the verdict."""
    summary, out = summarise(results), ""
    for name in workload_names(summary):
        found = standings(results, summary, name)
        ratios = {row.label: ratio for row, ratio in found}

        def texts(row: Combination) -> dict[str, str]:
            ratio = ratios[row.label]
            return {"ratio": f"{ratio.median:.2f}" if ratio else "1",
                    "range": f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio and len(ratio.values) > 1 else ""}
        rows = [row for row, _ in found]
        columns = COLUMNS if cost_of(rows[0])[0] == CPU else COUNTED
        out += title_line(rows[0]) + "\n" + rows_text(rows, columns, texts, 36, lambda row: f"  {row.label}")
        out += _memory_text(rows) + f"  -> {verdict_on(found, name)}\n\n"
    return out + (noise_sentence(summary) + "\n" if any(SPEED in row.samples for row in summary) else "")


def measure_instructions(result: Result, s: Settings, run: Run) -> None:
    """Counts with callgrind, as the slope between two runs of different length: start and stop cancel out. All requests of
    a turn arrive before the server wakes."""
    result["server_cpus"] = result["client_cpus"] = str(valgrind.cpu())
    few, many, per_turn = valgrind.bounded_load(run.work)
    command = server_command(s, run, result)
    less, more = (valgrind.collected_instructions(valgrind.log_under_valgrind(valgrind.CALLGRIND, command, run.work, turns))
                  for turns in (few, many))
    result |= {"requests": (few + many) * per_turn, "failed": 0,
               "instructions_per_request": (more - less) / ((many - few) * per_turn)}


def _workloads(build: Build, text: str) -> list[Workload]:
    out = {part: PING if part == "kv" else build.workload(part) for part in text.split(",")}
    for work in out.values():
        if work.kind != "echo":
            raise UsageError(f'the peers only echo; "{work.name}" does more')
    return list(out.values())


def _peers(build: Build, text: str) -> list[str]:
    names = list(map(one_of(*build.peers), text.split(",")))
    for name in build.missing_peers.keys() & set(names):
        raise UsageError(f"{name}: {build.missing_peers[name]}")
    return names


def _usable(program: str, engine: str) -> bool:
    """The kernel may refuse io_uring; `serve` then uses epoll."""
    with Child(engine, [program, "serve", "--port", "0", "--engine", engine, "--exit-with-parent"]) as server:
        used = server.await_line("engine ", time.monotonic() + PATIENCE_S)
    if used != engine:
        print(f"{engine}: the kernel refuses it", file=sys.stderr)
    return used == engine


def _contenders(arguments: argparse.Namespace, build: Build, program: str) -> list[Contender]:
    """The reference, ours with each engine, ours in coroutines, and the peers."""
    names = arguments.peers
    if not names:
        names = [name for name in build.peers if name not in THREADED and name not in build.missing_peers]
        print("".join(f"{name}: {why}\n" for name, why in build.missing_peers.items()), end="", file=sys.stderr)
    refused = ("automatic", "uring") if arguments.count else ("automatic",)  # valgrind does not support io_uring
    ours = [Contender(model=arguments.model, engine=name) for name in build.engines
            if name not in refused and (name != "uring" or _usable(program, name))]
    ours.append(Contender(model=arguments.model, engine="epoll", handler="coroutine"))
    return list(dict.fromkeys([EPOLL, *ours, *(Contender(peer=name) for name in names)]))


def add_options(parser: Parser, build: Build) -> None:
    parser.option("--workload", lambda text: _workloads(build, text), f"comma-separated (default: {DEFAULT_LIST}; {QUICK_LIST} "
                  "with --quick); kv: the example kv beside redis-server, under redis-benchmark", dest="workloads")
    parser.option("--workloads", lambda text: _workloads(build, text), "the same")
    parser.option("--peers", lambda text: _peers(build, text), f"comma-separated: {', '.join(build.peers)} (default: all with "
                  "one thread); epoll, the reference, is always included")
    parser.option("--model", build.model, "model of Quintet's server (default: single_reactor)", default="single_reactor")
    parser.option("--count", one_of("instructions"), "instructions: count user-space instructions of each server with "
                  "callgrind, instead of time")
    parser.option("--connections", number_in(1, 20_000), "concurrent connections (default: by workload)")
    add_measuring_options(parser, DEFAULT, QUICK)
    parser.flag("--no-counters", "do not count system calls")
    parser.option("--kv", str, "path of the example kv, for the workload kv (default: that of this build)", metavar="FILE")
    parser.examples("quintet-bench peers --json peers.json", "quintet-bench peers --workload pipeline --peers asio,libuv",
                    "quintet-bench peers --count instructions", "quintet-bench peers --workload kv")


def compose(document: Document) -> dict[str, object]:
    summary, ratios, verdicts = summarise(document.results), [], []
    for name in workload_names(summary):
        found = standings(document.results, summary, name)
        verdicts.append({"workload": name, "sentence": verdict_on(found, name)})
        ratios += [ratio_json({"workload": name, **{key: row.first[key] for key in ("model", "engine", "handler", "peer")},
                               "reference": reference_in(name).peer}, cost_of(row)[0], ratio) for row, ratio in found if ratio]
    return document.figures() | {"ratios": ratios, "verdicts": verdicts}


def run(arguments: argparse.Namespace, build: Build) -> int:
    usual = COUNTED_LIST if arguments.count else QUICK_LIST if arguments.quick else DEFAULT_LIST
    works = [work.but(connections=arguments.connections or work.connections)
             for work in arguments.workloads or build.workload_list(usual)]
    echoes = [work for work in works if work.name != PING.name]
    kv = [work.but(connections=arguments.connections or 100) for work in (PING, PIPELINE)] if len(echoes) < len(works) else []
    obstacle = "instructions are counted of echoes only, not of kv" if kv else valgrind.obstacle()
    if arguments.count and obstacle:
        raise UsageError(f"--count: {obstacle}")
    s = settings_of(arguments, build, DEFAULT, QUICK, workloads=echoes, one_cpu=True,
                    counters=not arguments.no_counters and not arguments.count)
    s.rounds = 1 if arguments.count else s.rounds
    redis = RedisPrograms.find(build, arguments.kv) if kv else None
    document = None
    if echoes:
        s.contenders = _contenders(arguments, build, s.program)
        document = run_plan("peers", s, build, *[measure_instructions] * bool(arguments.count))
    if redis and not (document and document.interrupted):
        s.workloads, s.contenders = kv, [REDIS, Contender(model=arguments.model)]
        more = run_plan("peers", s, build, measure_redis_load(redis))
        more.results[:0] = document.results if document else []
        document = more
    assert document
    write_results(table(document.results), compose(document), s.json_file)
    return exit_status(document)
