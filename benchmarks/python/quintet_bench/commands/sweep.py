# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench sweep`: one thing varies; who leads from where on, and whether throughput has the published shape.

Two servers are apart at a value if the ranges of their rounds do not overlap and their medians differ by more than rounds
usually move. Among the many pairs of points in a sweep, chance separates some in all their rounds, but not by more."""
import argparse
import dataclasses
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..build import Build, Workload
from ..demands import at_least, at_most, demand, tempered
from ..errors import UsageError
from ..experiment import Experiment, Plan
from ..foreign import require_files
from ..options import Parser, list_of, number_in, one_of, parse_duration, size_in
from ..plan import Run, Settings, UsualRuns, contenders_of
from ..results import Combination, Document, Result, Sample, combination_key, number, summarise
from ..runner import Measure, measure_load
from ..statistics import paired, ratio_text
from ..study.perf_tool import Window, per_request
from ..table import Layout, cell, failure_remarks, placement_text
from ..text import grouped, joined, micros, percent, significant
from ..verdict import CPU, SPEED, kept

ABOUT = "Varies one thing, such as connections: the curves, and which leads from where on"
CLAIMS = "4.7 4.8 4.9 4.12 4.13"
# requests/s over connections, of a hand-written echo of 8 bytes on one epoll loop of a virtual machine (i5-3470, 4 cores)
PUBLISHED = {1: 10_000, 5: 90_000, 10: 190_000, 30: 200_000, 100: 200_000, 300: 150_000, 500: 130_000, 1000: 110_000,
             5000: 90_000}
NEAR_PEAK, FALLEN = 0.9, 0.75           # fractions of the peak


@dataclasses.dataclass(frozen=True)
class Point(Sample):
    client_bound: bool = False          # the client was the bottleneck, so the server may be faster


Curve = dict[float, Point]              # a figure over the values of an axis, in ascending order
Curves = dict[str, Curve]               # by the server's label


def curves_of(summary: Iterable[Combination], field: str, figure: str) -> Curves:
    out: Curves = {}
    for row in sorted(summary, key=lambda row: row.first[field] or 0):
        if figure in row.samples and row.first[field] is not None:
            out.setdefault(row.label, {})[row.first[field]] = Point(row.samples[figure].values, row.client_bound)
    return out


def peak(curve: Curve) -> float:
    """Returns the value with the highest median."""
    return max(curve, key=lambda value: curve[value].median)


def _apart(a: Point, b: Point, noise: float) -> bool:
    return not a.overlaps(b) and abs(a.median - b.median) > noise * min(a.median, b.median)


def _zeros(a: Curve, b: Curve, start: float, end: float) -> list[float]:
    """Returns where two curves meet from start to end. Time per request is linear in a request's cost; throughput is not."""
    values = np.array([value for value in a if value in b and start <= value <= end])
    gaps = np.array([1 / b[value].median - 1 / a[value].median for value in values])
    at = np.flatnonzero(np.diff(gaps > 0))
    return list(map(float, values[at] + np.diff(values)[at] * gaps[at] / (gaps[at] - gaps[at + 1])))


def leads(curves: Curves) -> list[dict[str, Any]]:
    """Returns the leader from each place on, with the servers that are apart from it at no value of its stretch. The lead
    changes where a curve is apart from the leader and above it. A failed run does not end a lead."""
    noise = statistics.median([point.spread for curve in curves.values() for point in curve.values()] or [0.0])
    out: list[dict[str, Any]] = []
    since: list[float] = []             # the measured values at which the leaders took the lead
    for value in sorted({value for curve in curves.values() for value in curve}):
        leader = curves[out[-1]["server"]] if out else {}
        now, points = leader.get(value), {label: curve[value] for label, curve in curves.items() if value in curve}
        ahead = {label: point.median for label, point in points.items()
                 if (point.median > now.median and _apart(point, now, noise) if now else not out)}
        if ahead:
            best = max(ahead, key=lambda label: ahead[label])
            zeros = _zeros(leader, curves[best], since[-1], value) if out else []
            out.append({"from": zeros[-1] if zeros else value, "server": best})
            since.append(value)
    for lead, start, end in zip(out, since, [*since[1:], float("inf")]):
        leader = {value: point for value, point in curves[lead["server"]].items() if start <= value < end}
        met = {label: [_apart(leader[value], point, noise) for value, point in curve.items() if value in leader]
               for label, curve in curves.items() if label != lead["server"]}
        lead["as_good"] = [label for label, aparts in met.items() if aparts and not any(aparts)]
    return out


def _part(curve: Curve, value: float, top: float) -> Sample:
    """Throughput at a value over that of the peak, in each round that has both."""
    return Sample(tuple(one / most for one, most in zip(curve[value].values, curve[top].values)))


def shape(curve: Curve) -> list[dict[str, Any]]:
    """Does throughput over connections rise and fall as published? At least 90 % of the peak at 10 to 30 connections, less
    with fewer than 10, and at most 75 % with 5,000. "met" is None where rounds disagree; without a demand no value can tell."""
    top, first, last = peak(curve), min(curve), max(curve)
    part = {value: point.median / curve[top].median for value, point in curve.items()}
    name = {value: f"{grouped(value)} connection{'' if value == 1 else 's'}" for value in curve}
    rise, fall = ({"part": part, "metric": SPEED, "demand": None, "met": None, "sentence": f"the {part}: not judged; it needs "
                   f"a value {needed}."} for part, needed in (("rise", "from 10 to 30"), ("fall", "of 5000 or more")))
    if early := [value for value in curve if 10 <= value <= 30]:
        best = max(early, key=lambda value: part[value])
        steps = {kept(_part(curve, best, top), NEAR_PEAK), first >= 10 or kept(_part(curve, first, top), high=NEAR_PEAK)}
        met = False if False in steps else None if None in steps else True
        begin = f", {part[first] * 100:.0f} % at {name[first]}" if first < 10 else ""
        bound = ", where the client was the bottleneck" if curve[top].client_bound else ""
        rise = demand(f"the rise: {part[best] * 100:.0f} % of its peak at {name[best]}{begin} (its peak: "
                      f"{grouped(curve[top].median)} requests/s at {name[top]}{bound}).", _part(curve, best, top),
                      at_least(NEAR_PEAK, f"{NEAR_PEAK * 100:.0f} % from 10 to 30 connections, less before"), metric=SPEED,
                      met=met, decided=True, part="rise")
    if last >= 5000:
        fall = demand(f"the fall: {part[last] * 100:.0f} % of its peak is left at {name[last]} (published: "
                      f"{PUBLISHED[5000] / max(PUBLISHED.values()) * 100:.0f} %).", _part(curve, last, top),
                      at_most(FALLEN, f"at most {FALLEN * 100:.0f} %"), metric=SPEED, part="fall")
    return [rise, fall]


BAR_WIDTH = 24
UNITS = {"connections": "connections", "message_bytes": "B", "pipeline": "in flight for each"}
MEGABYTES, CLIENT_CPU, MIGRATIONS = "mb_per_s", "client_cpu_us_per_request", "migrations_per_request"
COSTS = ((CPU, "server CPU", micros), (CLIENT_CPU, "client CPU", micros), (MIGRATIONS, "migrations", significant))


def _handler_us(text: str) -> int:
    us = parse_duration(f"{text}us" if text.isdigit() else text) * 1e6
    if us > 50_000 or abs(us - round(us)) > 1e-6:  # longer handlers would answer too few requests in a run
        raise UsageError(f'"{text}" is not a handler time; it must be whole microseconds from 0us to 50ms')
    return round(us)


class Axis(NamedTuple):
    name: str
    about: str
    unit: str                           # follows a value in a sentence
    field: str                          # the key of a result that has the value
    workload: str                       # the defaults
    models: str
    values: str
    parse: Callable[[str], int]
    apply: Callable[[Workload, int], Workload]
    figure: str = SPEED                 # plotted over the values
    text: Callable[[float], str] = grouped

    def measured(self, value: float) -> str:
        return f"{self.text(value)} {self.unit}".strip()

    def place(self, value: float) -> str:
        """Of an interpolated value, which has few digits."""
        return f"{significant(value)} {self.unit}" if self.unit else micros(value)


# The usual side, another, and the ratio of their requests/s, usual / other, round by round.
Pair = NamedTuple("Pair", [("usual", Combination), ("other", Combination), ("ratio", Sample)])
PLAIN = "single_reactor,thread_per_connection"
AXES = {axis.name: axis for axis in (
    Axis("connections", "how many connections", "connections", "connections", "echo", PLAIN, "1,5,10,30,100,300,500,1000,5000",
         number_in(1, 20_000), lambda work, value: work.but(connections=value)),
    Axis("size", "bytes of a request", "B", "message_bytes", "echo", PLAIN, "8,64,512,4k,16k,64k",
         size_in(8, 64 << 20), lambda work, value: work.but(message_bytes=value), MEGABYTES),
    Axis("pipeline", "requests in flight for each connection", "in flight", "pipeline", "pipeline", PLAIN,
         "1,2,4,8,16,32,64", number_in(1, 10_000), lambda work, value: work.but(pipeline=value)),
    Axis("threads", "loops of models 4 and 5, workers of models 3 and 5", "threads", "loops", "cpu",
         "reactor_pool,loop_per_thread,loop_per_thread_pool", "1,2,4,8", number_in(1, 1024),
         lambda work, value: work.but(threads=value)),
    Axis("client-threads", "threads of the epoll client, on the client's CPUs", "client threads", "client_threads", "echo",
         "single_reactor", "1,2,4,8", number_in(1, 64), lambda work, value: work.but(client_threads=value)),
    Axis("handler-us", "how long the handler computes (sleeps, with --workload blocking) for a request", "", "handler_us",
         "cpu", "all", "0,10,20,50,100,200,500,1000,2000,5000", _handler_us,
         lambda work, value: work.but(name=f"{work.family}:{value}us", cost_us=value),
         text=lambda us: f"{us:g} us" if us < 1000 else f"{us / 1000:g} ms"))}


def parse_values(axis: Axis, text: str) -> list[int]:
    """Returns the values in ascending order, each once."""
    try:
        values = sorted(list_of(axis.parse)(text))
        if len(values) < 2:
            raise UsageError(f'"{text}" has too few values; give two values or more')
    except UsageError as error:
        raise UsageError(f"--values: {error}") from error
    return values


def parse_base(axis: Axis, build: Build, name: str) -> Workload:
    base, *more = build.workload_list(name)
    why = (f'"{name}" is more than one workload' if more else
           f'"{name}" has no handler time to vary; write cpu or blocking'
           if axis.name == "handler-us" and name not in ("cpu", "blocking") else
           "short connections send one request each; there is nothing to vary" if axis.name == "pipeline" and base.short else
           "requests of timestamp have 8 bytes each" if axis.name == "size" and base.kind == "timestamp" else None)
    if why:
        raise UsageError(f"--workload: {why}")
    return base


def has_published(axis: Axis, summary: Sequence[Combination]) -> bool:
    """Published was an echo of 8 bytes, over connections."""
    return axis.name == "connections" and all(c.workload == "echo" and c.first["message_bytes"] == 8 for c in summary[:1])


def _lead_sentence(axis: Axis, found: list[dict[str, Any]]) -> str:
    who = [lead["server"] for lead in found]
    good = [f" ({joined(lead['as_good'])} cannot be told apart from it)" if lead["as_good"] else "" for lead in found]
    if len(found) == 1:
        return f"{who[0]} serves most requests throughout{good[0]}."
    begin = [axis.place(lead["from"]) for lead in found]
    between = "".join(f"; from there to {end} {one}{level}" for end, one, level in zip(begin[2:], who[1:], good[1:]))
    return f"Up to {begin[1]} {who[0]} serves most requests{good[0]}{between}; from {begin[-1]} on {who[-1]}{good[-1]}."


def measure_migrations(result: Result, s: Settings, run: Run) -> None:
    with Window() as window:
        measure_load(result, s, run, window)
    spent = per_request(window.before, window.after, result["requests"], result["duration_s"])
    result[MIGRATIONS] = spent.get(MIGRATIONS)


def find_pairs(axis: Axis, summary: Sequence[Combination], results: Sequence[Result]) -> list[Pair]:
    """Returns what has sentences of its own: at each value the usual client or pinning with the other, and the fewest client
    threads with each other number."""
    rows, out = {combination_key(row.first): row for row in summary}, []
    least = min((row.first[axis.field] for row in summary), default=None)
    usual = {axis.field: least} if axis.name == "client-threads" else {"client": None, "pinning": None}
    for key, other in rows.items():
        usual_key = combination_key(other.first | usual)
        one, another = ((lambda r, key=key: combination_key(r) == key) for key in (usual_key, key))
        if usual_key in rows and usual_key != key and (ratio := paired(results, SPEED, one, another, other.workload)):
            out.append(Pair(rows[usual_key], other, ratio))
    return out


def _limit(row: Combination) -> str:
    return (row.bottleneck or "not known").replace("_cpu", " CPU")


def _pair_sentence(axis: Axis, pair: Pair) -> str:
    names = [f"{row.label}, {axis.measured(row.first[axis.field])}" for row in pair[:2]]
    told = [f"{what} a request {' and '.join(form(row.median(key) or 0) for row in pair[:2])}" for key, what, form in COSTS
            if all(row.median(key) is not None for row in pair[:2])]
    told.append(f"bottleneck {' and '.join(map(_limit, pair[:2]))}")
    own, others = (row.median(CLIENT_CPU) for row in pair[:2])
    alone = (f" Were the client the only limit, it would be {others / own:.2f} times."
             if pair.other.first["client"] and own and others else "")
    return f"{names[0]}: {ratio_text(pair.ratio, 'requests/s', names[1])}; {', '.join(told)}.{alone}"


def _client_threads_sentences(pairs: Sequence[Pair]) -> list[str]:
    out = []
    for usual in {pair.usual.label: pair.usual for pair in pairs}.values():
        ratios = [pair.ratio for pair in pairs if pair.usual is usual]
        verdict = ("serve more than every other number" if all(ratio.low > 1 for ratio in ratios) else
                   "serve less than another number" if any(ratio.high < 1 for ratio in ratios) else
                   "cannot be told apart from some other number")
        out.append(f"{usual.label}: the fewest client threads ({usual.first['client_threads']}) {verdict}; the bottleneck with "
                   f"them: {_limit(usual)}.")
    return out


def conclude(axis: Axis, summary: Sequence[Combination], results: Sequence[Result] = ()) -> dict[str, Any]:
    """Returns all that follows from the curves, and from the pairs in the results, as the JSON file has it."""
    curves, speeds = curves_of(summary, axis.field, axis.figure), curves_of(summary, axis.field, SPEED)
    leading = leads(speeds) if len(speeds) > 1 else []
    out: dict[str, Any] = {"leads": [lead | {"from": number(lead["from"])} for lead in leading]}
    said: list[str] = []
    if has_published(axis, summary):
        shapes = [{"server": label} | part for label, curve in curves.items() for part in shape(curve)]
        out["published"] = [{"connections": count, "requests_per_s": speed} for count, speed in PUBLISHED.items()]
        out["shape"] = shapes = tempered(shapes, results)
        said += [f"{part['server']}, {part['sentence']}" for part in shapes]
    elif axis.name != "handler-us":     # throughput is expected to rise with the values, up to a peak
        form, unit = (significant, "MB/s") if axis.figure == MEGABYTES else (grouped, "requests/s")
        for label, curve in curves.items():
            most = curve[peak(curve)].median
            near = next(value for value, point in curve.items() if point.median >= NEAR_PEAK * most)
            said.append(f"{label} has {percent(NEAR_PEAK)} of its peak ({form(most)} {unit}) from {axis.measured(near)} on.")
    said += [_lead_sentence(axis, leading)] if leading else []
    if pairs := find_pairs(axis, summary, results):
        out["ratios"] = [demand(_pair_sentence(axis, pair), pair.ratio, None, metric=SPEED, server=pair.usual.label,
                                reference=pair.other.label, **{axis.field: pair.other.first[axis.field]}) for pair in pairs]
        said += [ratio["sentence"] for ratio in out["ratios"]]
        said += _client_threads_sentences(pairs) if axis.name == "client-threads" else []
    if any(len(point.values) < 2 for curve in curves.values() for point in curve.values()):
        said.append("All this in a single round; more rounds would show what of it holds.")
    return out | {"verdicts": said}


def compose(document: Document) -> dict[str, Any]:
    return conclude(AXES[document.settings["axis"]], summarise(document.results), document.results)


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    """The settings that all points share, a block for each server, with a line and a bar for each value, then the
    conclusions."""
    axis, first = AXES[figures["settings"]["axis"]], summary[0].first
    shared = [f"{grouped(first[key])} {unit}" for key, unit in UNITS.items() if key != axis.field and first[key]]
    name = first["workload"].partition(":")[0] if axis.name == "handler-us" else first["workload"]
    published, most = has_published(axis, summary), max(row.median(axis.figure) or 0 for row in summary)
    columns = (SPEED, "spread", *[MEGABYTES] * (axis.figure == MEGABYTES), CPU,
               *[CLIENT_CPU] * bool(figures.get("ratios")), "p50_us", "p99_us", "failed", *["published"] * published, "bar=")

    def texts(row: Combination) -> dict[str, str]:
        bar = "#" * max(1, round((row.median(axis.figure) or 0) / (most or 1) * BAR_WIDTH))
        return {SPEED: cell(row, SPEED) + ("*" if row.client_bound else " "), "bar": f"{bar:<{BAR_WIDTH}}",
                "failed": grouped(row.samples["failed"].high) if "failed" in row.samples else "-",
                "published": grouped(PUBLISHED[row.first[axis.field]]) if row.first[axis.field] in PUBLISHED else ""}
    layout = Layout(lambda row: columns, lambda row: f"{axis.text(row.first[axis.field]):>14}", lambda row: row.label,
                    title=lambda rows: f"\n{rows[0].label}", texts=texts, after=failure_remarks, head=f"{axis.name:>14}")
    out = f"{name}: {', '.join(shared)}{placement_text(first)}\n{layout.text(summary)}"
    if any(row.client_bound for row in summary):
        out += "\n  * the client was the bottleneck: the server could do more"
    if published:
        out += "\n  published: requests/s of one epoll loop, hand-written, on another machine (4 cores, i5-3470)"
    return f"{out}\n" + "".join(f"  -> {sentence}\n" for sentence in figures["verdicts"]) + f"{figures['noise']}\n"


def options(parser: Parser, build: Build) -> None:
    parser.add_argument("axis", metavar="AXIS", type=one_of(*AXES), help="what to vary, one of those below")
    parser.option("--workload", str, "workload to vary (default: by axis)")
    parser.option("--models", build.model_list, "comma-separated names or numbers, or all (default: by axis)")
    parser.option("--values", str, "comma-separated values, two or more (default: by axis)")
    parser.option("--client", list_of(one_of("epoll", "blocking")), "comma-separated kinds of client: epoll, and blocking, a "
                  "thread for each connection (default: epoll)", default=["epoll"])
    parser.option("--pinning", list_of(one_of("on", "off")), "comma-separated: on, server and client on CPUs of their own "
                  "where I/O is measured; off, both on all CPUs (default: on)", default=["on"])


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    axis = AXES[arguments.axis]
    base = parse_base(axis, build, arguments.workload or axis.workload)
    values = parse_values(axis, arguments.values or axis.values)
    if axis.name == "threads" and (arguments.loops or arguments.workers != "1..4"):
        raise UsageError("--loops and --workers are varied by a sweep of threads; leave them out")
    works = [axis.apply(base, value) for value in values]
    require_files(max(work.connections for work in works))
    if axis.name == "client-threads" and "blocking" in arguments.client:
        raise UsageError("--client: the blocking client has a thread for each connection; it must be epoll")
    models = contenders_of(arguments.models or build.model_list(axis.models), False, engine=arguments.engine)
    kinds, pinning = ([None if name == usual else name for name in names]
                      for usual, names in (("epoll", arguments.client), ("on", arguments.pinning)))
    who = [dataclasses.replace(one, client=kind, pinning=pins) for one in models for kind in kinds for pins in pinning]
    choices: tuple[Measure, Measure] = measure_load, measure_migrations
    return Plan({"workloads": works, "contenders": who, "counters": False}, choices["off" in pinning],
                about={"axis": axis.name, "values": values})


EXPERIMENT = Experiment(
    "sweep", UsualRuns(3, 0.5, 0.1), UsualRuns(3, 0.2, 0.1), plan, compose, table, "shape", options, within=True, server=True,
    examples=(
        "connections --json connections.json",
        "handler-us --workload blocking --values 0,200,1000 --rounds 5",
        "connections --values 100,300 --models 2 --client epoll,blocking",
        "connections --values 1,100 --models 2 --pinning on,off", "size --models all --within 2min"),
    notes=("The axes, with their default workload, models and values:",
           *(f"  {a.name:<16}{a.about}\n{'':18}{a.workload}; {a.models}; {a.values}" for a in AXES.values())))
