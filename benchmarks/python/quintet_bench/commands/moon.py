# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench moon`: short framed messages with and without a read cache, or the two forms of redis-benchmark's PING."""
import argparse
from collections.abc import Sequence
from typing import Any

from ..build import Build
from ..demands import Verdict, at_most
from ..errors import UsageError
from ..experiment import Experiment, Plan, compared, matching, of_one
from ..foreign import require_files
from ..options import Parser, list_of, size_in
from ..plan import Contender, Run, Settings, UsualRuns
from ..published import PUBLISHED
from ..redis_load import INLINE, PING, RedisPrograms, measure_redis_load
from ..results import Combination, Document, Result, Sample, number
from ..runner import Measure, await_listening, counted_server, load_command, run_load, server_command
from ..table import Layout, aligned, arrows
from ..text import grouped, significant
from ..verdict import CPU, SPEED
from .memlat import size_text

ABOUT = "Compares short framed messages with and without a read cache, or the forms of redis-benchmark's PING"
CLAIMS = "3.1 3.5 3.7 3.8 3.12"
OFF, WHOLE = 2, 64 * 1024               # bytes of a receive: a length prefix, then exactly the rest; the library's default
DEMANDED = {1: 1.0, 16: 0.25}           # messages in flight for each connection, and receives of a message at most
MOST_CPU, MOST_BULK = 0.952, 1.1        # 5 % more requests for the same CPU; p50 of the array form over that of the inline form
FORMS = {INLINE.name: "PING_INLINE", PING.name: "PING_MBULK"}
FRAMES = ("cache", "receives_per_request", SPEED, "spread", CPU, "p50_us", "p99_us", "mode_ms")
PINGS = (SPEED, "spread", CPU, "p50_us", "p99_us", "max_us")


def measure_frames(result: Result, s: Settings, run: Run) -> None:
    """Receives are counted from the server's start to its end. All messages are alike, so that changes nothing."""
    with counted_server(server_command(s, run, result)) as (server, total):
        run_load(result, load_command(s, run, result, await_listening(server, result)), server, run.expected_s(s))
    result["receives_per_request"] = total["receives"] * run.work.message_bytes / total["bytes_received"]


def frame_verdicts(results: Sequence[Result]) -> list[Verdict]:
    """Receives of a message with the whole cache, and what the cache saves: CPU with it / without it in each round."""
    def saved(ratio: Sample) -> str:
        return (f"{model}: the read cache changes CPU per request by {100 * ratio.median - 100:+.1f} %, which is "
                f"{100 / ratio.median - 100:+.1f} % requests for the same CPU; CPU with it over CPU without it")
    out = list[Verdict]()
    for model, depth in dict.fromkeys((r["model"], r["pipeline"]) for r in results):
        cached = matching(model=model, pipeline=depth, receive_size=WHOLE)
        out += of_one(results, "framed", "receives_per_request", cached, lambda each: (
            f"{model}, {depth} in flight for each connection: {significant(each.median)} receives of a message"),
            at_most(DEMANDED[depth]), model=model, pipeline=depth)
    for model in dict.fromkeys(r["model"] for r in results):
        whole, off = (matching(model=model, pipeline=1, receive_size=size) for size in (WHOLE, OFF))
        out += compared(results, "framed", CPU, whole, off, saved, at_most(MOST_CPU), model=model, reference="off")
    return out


def ping_verdicts(results: Sequence[Result]) -> list[Verdict]:
    out = list[Verdict]()
    for model in dict.fromkeys(r["model"] for r in results):
        mbulk, inline = (matching(model=model, workload=form.name) for form in (PING, INLINE))
        out += compared(results, None, "p50_us", mbulk, inline, lambda ratio: (
            f"{model}: the p50 of PING_MBULK is {ratio.median:.2f} times that of PING_INLINE"), at_most(MOST_BULK), model=model)
    return out


def percent_up_to(result: Result, bound: float) -> float:
    """redis-benchmark leaves out bounds that add no latency."""
    return max((percent for at, percent in result["distribution"].items() if at <= bound), default=0.0)


def distributions(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The two forms at the same bounds, in all rounds together, which have equally many requests."""
    out = []
    for model in dict.fromkeys(r["model"] for r in results):
        mine = {name: [r for r in results if (r["model"], r["workload"]) == (model, name) and r.get("distribution")]
                for name in FORMS}
        if all(mine.values()):
            bounds = sorted({at for some in mine.values() for r in some for at in r["distribution"]})
            out.append({"model": model, "milliseconds": bounds} | {
                FORMS[name]: [number(sum(percent_up_to(r, at) for r in some) / len(some)) for at in bounds]
                for name, some in mine.items()})
    return out


def compose(document: Document) -> dict[str, Any]:
    frames = any(r["workload"] == "framed" for r in document.results)
    verdicts = (frame_verdicts if frames else ping_verdicts)(document.results)
    return {"verdicts": verdicts, "published": PUBLISHED["moon"]["figures"], "distributions": distributions(document.results)}


FRAMES_LAYOUT = Layout(lambda row: FRAMES, lambda row: str(row.first["model"]), group=lambda row: row.first["pipeline"],
                       texts=lambda row: {"cache": "off" if row.first["receive_size"] == OFF else
                                          size_text(row.first["receive_size"])})
PINGS_LAYOUT = Layout(lambda row: PINGS, lambda row: f"{row.first['model']:<23}{FORMS[row.workload]}",
                      group=lambda row: 0, title=lambda rows: (
                          f"redis-benchmark: {grouped(rows[0].first['connections'])} connections"))


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    frames, models = summary[0].workload == "framed", [row.first["model"] for row in summary]
    out = (FRAMES_LAYOUT.text(summary) if frames else
           PINGS_LAYOUT.text(sorted(summary, key=lambda row: models.index(row.first["model"]))))
    for side in figures["distributions"]:
        columns = [[title, *(f"{value:.2f}%" for value in side[title])] for title in FORMS.values()]
        out += f"  {side['model']}: latencies of at most\n" + aligned(
            list(zip(["", *(f"{at:g} ms" for at in side["milliseconds"])], *columns)), left=())
    said = PUBLISHED["moon"]["frames" if frames else "pings"]
    return f"{out}{arrows(figures['verdicts'])}\nPublished: {said}\n{figures['noise']}\n"


def options(parser: Parser, build: Build) -> None:
    def cache(text: str) -> int:
        return OFF if text == "off" else size_in(OFF + 1, WHOLE)(text)
    parser.option("--cache", list_of(cache), "comma-separated sizes of the read cache, which bounds a receive: bytes up to "
                  "64k, or off, which receives the length and then exactly the rest (default: off,64k)")
    parser.flag("--redis", "instead: PING_INLINE and PING_MBULK of redis-benchmark against the example kv")


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    a = arguments
    usual = PING if a.redis else build.workload("framed")
    work = usual.but(connections=a.connections or usual.connections)
    require_files(work.connections)
    if a.redis:
        if a.cache or a.engine != "automatic":
            raise UsageError("--redis: the example kv has neither --cache nor --engine")
        sizes: list[int | None] = [None]
        works = [INLINE.but(connections=work.connections), work]
        measure: Measure = measure_redis_load(RedisPrograms.find(build, a.kv, with_server=False))
    else:
        sizes, works, measure = a.cache or [OFF, WHOLE], [work.but(pipeline=depth) for depth in DEMANDED], measure_frames
    who = [Contender(model=model, engine=a.engine, receive_size=size) for model in a.models for size in sizes]
    return Plan({"workloads": works, "contenders": who, "counters": False}, measure)


EXPERIMENT = Experiment(
    "moon", UsualRuns(5, 1.0, 0.2), UsualRuns(3, 0.3, 0.1), plan, compose, table,
    options=options, shared=("--models", "--connections"), programs=("kv",), server=True,
    examples=("--quick", "--models 4 --cache off,512,8k,64k --rounds 9", "--redis --json pings.json"),
    notes=("cache: bytes that one receive takes at most; off takes the length and then exactly the rest, two receives a",
           "message. receives: receives for each message, from the server's start to its end. most in: the millisecond",
           "with most latencies."))
