# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench advise`: a program of yours under each model, driven by a load of yours, and which model to take."""
import argparse
import collections
import functools
import math
import re
import shlex
import socket
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from ..build import Build
from ..child import Child
from ..demands import demand
from ..errors import RunError
from ..experiment import Experiment, Probes
from ..foreign import sample, spent_between
from ..machine import allowed_cpus
from ..options import Parser, number_in, run_duration
from ..plan import UsualRuns
from ..results import Document, Result, Sample
from ..statistics import ENOUGH_CONFIDENCE, may_lead, ratio_interval, samples_by
from ..table import Columns, aligned, arrows, figure_rows
from ..text import grouped, joined, mebibytes, micros, percent, significant
from ..verdict import BEARABLE, FOREIGN
from ..web import await_accepting

ABOUT = "Recommends a model for your own server under your own load"
RATE = re.compile(r"([\d,]+(?:\.\d+)?) *(?:requests|transactions|messages|req)(?:/s\b| per second)|Requests/sec: +([\d.]+)|"
                  r"Requests per second: +([\d.]+)|\btps = ([\d.]+)")
WANTED = "a model"
LOAD_S, CLEARLY = 300.0, 0.03           # most for a load; a lead below 3 % is no reason
ENOUGH_ROUNDS = 3
COLUMNS: Columns = {
    "rate": ("requests/s", grouped), "wall_s": ("load took", lambda s: micros(s * 1e6)),
    "cpu_s": ("CPU", lambda s: micros(s * 1e6)), "switches": ("switches", grouped), "threads": ("threads", grouped),
    "rss": ("memory", mebibytes), "waited_s": ("run queue", lambda s: micros(s * 1e6)), FOREIGN: ("others", percent)}
WHY = {  # of the model that is taken: what speaks for its structure
    "thread_per_connection": "a request that waits holds up nobody else",
    "single_reactor": "one loop does it all: no locks, no handing over",
    "reactor_pool": "workers keep long requests off the loop that reads and writes",
    "loop_per_thread": "each connection stays on one loop, and nothing is handed over",
    "loop_per_thread_pool": "loops keep cheap requests, and workers take the long ones"}


def rate_of(output: str) -> float | None:
    """Requests a second as the load tells them, of the last line that does. Known: redis-benchmark, wrk, hey, ab, pgbench and
    quintet-bench load. Else the time that the load takes counts, which must then do a fixed amount of work."""
    found: list[tuple[str, ...]] = RATE.findall(output.replace("\r", "\n"))
    return float("".join(found[-1]).replace(",", "")) if found else None


def used(before: dict[str, Any], now: dict[str, Any]) -> Result:
    """What the server has used since a sample of /proc, and has now."""
    spent = spent_between(before, now)
    switches = [spent[key] for key in ("voluntary_switches", "involuntary_switches") if key in spent]
    return {"switches": sum(switches) if switches else None, "threads": len(now["threads"]), "rss": now["rss"],
            "waited_s": spent["run_queue_us"] / 1e6 if "run_queue_us" in spent else None,
            "cpu_s": spent["cpu_s"], "wall_s": spent["wall_s"]}


def highest(one: Result, other: Result) -> Result:
    """Of two moments of a load: a thread that ends takes its counts with it."""
    known = {key: [r[key] for r in (one, other) if r.get(key) is not None] for key in other}
    return {key: max(values) if values else None for key, values in known.items()}


def watched(pid: int, command: list[str]) -> Result:
    """Runs the load, and watches the server in /proc, at most a twentieth of the time, while a thread reads what the load
    writes. The pool waits for that thread, so the child ends first."""
    before, seen, pause_s = sample(pid), dict[str, Any](), 0.0
    with ThreadPoolExecutor(1) as pool, Child("the load", command) as child:
        reading = pool.submit(child.output, time.monotonic() + LOAD_S)
        while not wait([reading], pause_s).done:
            start = time.monotonic()
            seen = highest(seen, used(before, sample(pid)))
            pause_s = max(0.05, 20 * (time.monotonic() - start))
        text = reading.result()
        return highest(seen, used(before, sample(pid))) | {"rate": rate_of(f"{text}\n{child.errors()}")}


def perform(server: list[str], load: list[str], port: int, model: str) -> Result:
    """One run under a model: its figures, or why it has none. The program's output is not read, so it goes nowhere."""
    try:
        with socket.socket() as attempt:
            if not attempt.connect_ex(("127.0.0.1", port)):
                raise RunError(f"another program listens on port {port}; end it first")
        with Child("the server", ["sh", "-c", 'exec "$@" > /dev/null', "sh", *server], {"QUINTET_MODEL": model}) as child:
            await_accepting(child, str(port))
            return {"model": model, "error": None} | watched(child.pid, load)
    except (RunError, OSError) as error:
        return dict.fromkeys(COLUMNS) | {"model": model, "error": str(error)}


def speeds(results: Sequence[Result]) -> dict[str, Sample]:
    """What the load tells; else loads a second, by the time that it took."""
    walls = samples_by(results, "model", "wall_s")
    return samples_by(results, "model", "rate") or {
        model: Sample(tuple(1 / s for s in one.values)) for model, one in walls.items()}


def apart(best: Sample, other: Sample) -> bool | None:
    """Whether the best is ahead of another by more than the noise and CLEARLY; None: there are too few rounds to tell."""
    ratio = ratio_interval(best.values, other.values)
    if not ratio or ratio.confidence < ENOUGH_CONFIDENCE:
        return None
    return ratio.low > 1 and ratio.ratio > 1 + CLEARLY


def undisturbed(results: Sequence[Result]) -> list[Result]:
    """Without the runs in which other programs used the CPUs, of models that have enough others."""
    quiet = [r for r in results if r["error"] or r[FOREIGN] <= BEARABLE]
    left = collections.Counter(r["model"] for r in quiet)
    return [r for r in results if r in quiet or left[r["model"]] < ENOUGH_ROUNDS]


def thrift(results: Sequence[Result]) -> Sample:
    """Work for a second of CPU in rounds of a model: the same load each time, unless it tells how much it did."""
    told = all(r["rate"] is not None for r in results)
    return Sample(tuple((r["rate"] * r["wall_s"] if told else 1.0) / max(r["cpu_s"], 1e-9) for r in results))


def advise(results: Sequence[Result]) -> dict[str, Any]:
    """The fastest model, or of those that are as fast the one that needs least CPU for the same work. None: too noisy, which is
    if nobody can be told apart by either, if a model may be as fast or far behind, or if others had too much of the CPUs."""
    failed = {r["model"]: r["error"] for r in results if r["error"]}
    reasons = [f"{model} failed: {error}" for model, error in failed.items()]

    def undecided(why: str, as_good: Sequence[str] = (), met: bool | None = None) -> dict[str, Any]:
        return {"model": None, "as_good": list(as_good), "reasons": [why, *reasons], "met": met}
    if not speeds(results):
        return undecided("no model served the load", met=False)
    others = statistics.median(r[FOREIGN] for r in results if not r["error"])
    if others > BEARABLE:
        return undecided(f"too noisy: other programs had {percent(others)} of the CPUs")
    results = undisturbed(results)
    speed = speeds(results)
    order = sorted(speed, key=lambda model: -speed[model].median)
    behind = {model: apart(speed[order[0]], speed[model]) for model in order[1:]}
    level = [order[0], *(model for model in order[1:] if not behind[model])]
    if unclear := [model for model in level[1:] if may_lead(speed[order[0]], speed[model])]:
        return undecided(f"too noisy: whether {joined(unclear)} can do what {order[0]} does; more --rounds tell", level)
    cpu = {model: thrift([r for r in results if r["model"] == model]) for model in level}
    thrifty = max(level, key=lambda model: cpu[model].median)
    saved = {model: apart(cpu[thrifty], cpu[model]) for model in level if model != thrifty}
    as_good = [model for model, less in saved.items() if not less]
    if len(speed) > 1 and len(as_good) == len(speed) - 1:
        why = ("too few rounds to tell" if None in saved.values() else
               "no model can be told from the others (does the program set config::model?)")
        return undecided(f"too noisy: {why}", list(speed))
    return {"model": thrifty, "as_good": as_good, "met": True, "reasons": [
        *_reasons(thrifty, level, order, speed, cpu), WHY.get(thrifty, ""), *reasons]}


def _reasons(model: str, level: list[str], order: list[str], speed: dict[str, Sample], cpu: dict[str, Sample]) -> list[str]:
    out, slower = [], [other for other in order if other not in level]
    if slower:
        ends = [significant(speed[model].median / speed[other].median) for other in (slower[0], slower[-1])]
        out.append(f"it does {ends[0]} times what {slower[0]} does" +
                   (f", and {ends[1]} times what {slower[-1]} does" if len(slower) > 1 else ""))
    if len(level) > 1:
        worst = min(level, key=lambda other: cpu[other].median)
        out.append(f"{joined(level)} cannot be told apart by speed; of these it needs least CPU for the work, "
                   f"{significant(cpu[worst].median / cpu[model].median)} times that of {worst}")
    return out


def compose(document: Document) -> dict[str, Any]:
    if not document.results:
        return {}
    advice, speed = advise(document.results), speeds(document.results)
    told = f"take {advice['model']}" if advice["model"] else "no recommendation"
    good = f" As good: {joined(advice['as_good'])}." if advice["model"] and advice["as_good"] else ""
    text = f"{told}: {'; '.join(filter(None, advice['reasons']))}.{good}"
    return {"advice": advice, "verdicts": [demand(text, speed.get(advice["model"], Sample((math.nan,))), (0, math.inf, WANTED),
                                                  met=advice["met"], decided=True, model=advice["model"])]}


def table(results: Sequence[Result], document: dict[str, Any]) -> str:
    known = {key: found for key in COLUMNS if (found := samples_by(results, "model", key))}
    models = sorted({r["model"] for r in results}, key=lambda one: -speeds(results).get(one, Sample((0.0,))).median)
    rows = ((model, {key: found[model].median for key, found in known.items() if model in found}) for model in models)
    return aligned(figure_rows({key: COLUMNS[key] for key in known}, rows)) + arrows(document["verdicts"])


def options(parser: Parser, build: Build) -> None:
    parser.description = (f"{ABOUT}. The program runs under each model by QUINTET_MODEL, in turns; it must not set\n"
                          "config::model itself, and end by SIGTERM. Nothing of it changes.")
    parser.option("--port", number_in(1, 65535), "where the program listens, at 127.0.0.1", required=True)
    parser.option("--load", shlex.split, "the command that drives it, and ends: redis-benchmark, wrk, pgbench, or your own; if "
                  "it tells no requests a second, its time counts, and it must do the same work each time", required=True)
    parser.option("--expect", run_duration, "how long a load takes, for the bar of progress (default: 5s)", default=5.0,
                  dest="duration_s")
    parser.option("--seed", number_in(0), "seed of the random order of runs (default: 1)", default=1)
    parser.add_argument("server", nargs="+", metavar="COMMAND", help="after --: the program and its arguments")


def plan(arguments: argparse.Namespace, build: Build) -> Probes:
    measure = functools.partial(perform, arguments.server, arguments.load, arguments.port)
    return Probes(lambda s: [(model, functools.partial(measure, model)) for model in arguments.models],
                  lambda r: r["error"] or f"the load took {r['wall_s']:.2f} s",
                  {"server": arguments.server, "load": arguments.load, "cpus": len(allowed_cpus())})


EXPERIMENT = Experiment(
    "advise", UsualRuns(9), UsualRuns(3), plan, compose, table, options=options, shared=("--models",),
    examples=("--port 6380 --load 'redis-benchmark -p 6380 -t set -n 200000 -q' -- ./kv --port 6380",
              "--port 8080 --load 'wrk -d 5 http://127.0.0.1:8080/' --json advice.json -- ./server"))
