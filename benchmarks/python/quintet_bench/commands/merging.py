# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench merging`: messages on one connection, as fast as possible: merged writes beside a write for each."""
import argparse
import functools
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ..build import Build
from ..child import STARTING_S, Child, probe
from ..demands import Verdict, at_least, at_most, demand
from ..errors import RunError, UsageError
from ..experiment import Experiment, Probes
from ..machine import cpu_text
from ..options import Parser, list_of, number_in, parse_range
from ..plan import Settings, UsualRuns, place
from ..results import METRICS, Document, Result
from ..runner import PATIENCE_S, Observer, counted_server, run_load
from ..statistics import Filter, paired, ratio_text
from ..table import Format, aligned, arrows
from ..text import grouped, mebibytes, micros, percent, significant
from .bus import FLAT, STEEP, sizes_text
from .memlat import size_text

ABOUT = "Compares merged writes with one write for each message, on one connection"
CLAIMS = "1.4 1.10 1.17 1.19 1.22"
LARGEST = 65536
SIZES = ["8..128", "8..16384", "128..128", "16384..16384"]


class Variant(NamedTuple):
    """A way to send. Below `threshold` bytes, shared messages are copied and so merged; None: all are copied."""
    merging: bool = True
    threshold: int | None = None

    @property
    def label(self) -> str:
        return (f"copied below {size_text(self.threshold)}" if self.threshold else
                "merged" if self.merging else "a write for each message")

    @property
    def options(self) -> list[str]:
        return ["--no-merging"] * (not self.merging) + (["--merge-threshold", str(self.threshold)] if self.threshold else [])

    @property
    def about(self) -> dict[str, Any]:
        return {"merging": self.merging, "merge_threshold": self.threshold}


def variant_of(result: Result) -> Variant:
    return Variant(result["merging"], result.get("merge_threshold"))


MERGED, SINGLE, USUAL = Variant(), Variant(False), Variant(threshold=4096)
Columns = dict[str, tuple[str, Format]]  # the first one is compared
COLUMNS: Columns = {
    "messages_per_s": ("messages/s", grouped), "bytes_per_s": ("MB/s", lambda v: significant(v / 1e6)),
    "writes_per_message": ("writes/msg", significant), "sender_cpu_us_per_message": ("CPU/message", micros),
    "sender_cpu": ("its CPU", percent), "receiver_cpu": ("receiver", percent), "sender_rss_bytes": ("memory", mebibytes)}
LATENCY_COLUMNS: Columns = {"p50_us": ("p50", micros), "p99_us": ("p99", micros), "requests_per_s": ("messages/s", grouped),
                            "server_cpu_us_per_request": ("CPU/message", micros)}


def measure(sender_command: list[str], s: Settings, cpus: list[str], sizes: str, variant: Variant) -> Result:
    """Starts a sender, receives from it, and ends it. `cpus`: of the sender and of the receiver."""
    with counted_server([*sender_command, "--pieces", sizes, "--pin", cpus[0], *variant.options]) as (sender, total):
        address = sender.await_line("listening on ", time.monotonic() + PATIENCE_S)
        found = probe(s.program, ["receive", address, "--server-pid", str(sender.pid), "--sizes", sizes,
                                  "--cpus", cpus[1]], s.duration_s)
    found["writes_per_message"] = total["sends"] / (total["bytes_sent"] / found["mean_message_bytes"])
    return {"sizes": sizes} | variant.about | {key: found[key] for key in COLUMNS}


def measure_latency(sender_command: list[str], s: Settings, cpus: list[str], sizes: str, variant: Variant) -> Result:
    """Measures one message at a time, which would have to wait for others if merging depended on a timer."""
    result: Result = dict.fromkeys(METRICS)
    with Child("the server", [*sender_command, "--pin", cpus[0], *variant.options]) as sender:
        address = sender.await_line("listening on ", time.monotonic() + PATIENCE_S)
        command = [s.program, "load", address, "--workload", "ask", "--connections", "1", "--size", sizes, "--pin", cpus[1],
                   "--duration", f"{s.duration_s:.3f}", "--warm-up", f"{STARTING_S:.3f}"]
        run_load(result, command, sender, s.duration_s, Observer())
    if result["failed"]:
        raise RunError(f"{result['failed']} requests failed")
    return {"sizes": sizes} | variant.about | {key: result[key] for key in LATENCY_COLUMNS}


def is_variant(variant: Variant, sizes: str) -> Filter:
    return lambda result: variant_of(result) == variant and result["sizes"] == sizes


def flatness(results: list[Result]) -> list[Verdict]:
    """MB/s of messages of the smallest size over MB/s of those of the largest. Merging makes the throughput nearly flat."""
    sizes = sorted({int(low) for low, high in (r["sizes"].split("..") for r in results if ".." in r["sizes"]) if low == high})
    out = []
    for variant, bound in ((MERGED, at_least(FLAT)), (SINGLE, at_most(STEEP))) if len(sizes) > 1 else ():
        small, large = (is_variant(variant, f"{size}..{size}") for size in (sizes[0], sizes[-1]))
        if ratio := paired(results, "bytes_per_s", small, large):
            text = (f"{variant.label}: {size_text(sizes[0])} carry {significant(ratio.median)} of the MB/s of "
                    f"{size_text(sizes[-1])}")
            out.append(demand(text, ratio, bound, metric="bytes_per_s") | variant.about | {"from": sizes[0], "to": sizes[-1]})
    return out


def table(results: list[Result], document: dict[str, Any]) -> str:
    columns = COLUMNS if "bytes_per_s" in results[0] else LATENCY_COLUMNS
    out, compared = "", next(iter(columns))
    for sizes in dict.fromkeys(r["sizes"] for r in results):
        variants = list(dict.fromkeys(variant_of(r) for r in results if r["sizes"] == sizes))
        rows = [["", *(title for title, _ in columns.values())]]
        for variant in variants:
            mine = list(filter(is_variant(variant, sizes), results))
            rows.append([variant.label, *(form(statistics.median(r[key] for r in mine)) for key, (_, form) in columns.items())])
        out += f"{sizes_text(sizes)}, one connection, {document['settings']['placement']}\n{aligned(rows)}"
        reference = next(one for one in (SINGLE, USUAL, variants[0]) if one in variants)
        for variant in variants:
            ratio = paired(results, compared, is_variant(variant, sizes), is_variant(reference, sizes))
            if variant != reference and ratio:
                times, least, most = map(significant, (ratio.median, ratio.low, ratio.high))
                told = (f"{times} times as many messages (rounds from {least} to {most})" if reference == SINGLE and columns is
                        COLUMNS else ratio_text(ratio, columns[compared][0], reference.label))
                out += f"  -> {variant.label}: {told}\n"
        out += "\n"
    return out + arrows(document["flatness"])


def compose(document: Document) -> dict[str, Any]:
    return {"flatness": flatness(document.results)}


def options(parser: Parser, build: Build) -> None:
    parser.option("--sizes", list_of(lambda text: parse_range(text, LARGEST)), "comma-separated: bytes of a message, or "
                  "MIN..MAX (default: 8..128,8..16384,128,16384)", default=SIZES)
    parser.option("--thresholds", list_of(number_in(1, 2 * LARGEST)), "instead, merge thresholds to compare, comma-separated: "
                  "messages of fewer bytes are copied, others sent from where they are")
    parser.flag("--latency", "instead, one message of 64 B at a time: does it wait for others?")
    parser.option("--static-output", number_in(0), "bytes of send buffers that the loop allocates in advance (default: 0)",
                  default=0)


def plan(arguments: argparse.Namespace, build: Build) -> Probes:
    a = arguments
    if a.latency and a.thresholds:
        raise UsageError("--latency and --thresholds exclude each other")
    variants = [Variant(threshold=size) for size in a.thresholds or ()] or [MERGED, SINGLE]
    perform, columns = (measure_latency, LATENCY_COLUMNS) if a.latency else (measure, COLUMNS)
    compared, (title, form) = next(iter(columns.items()))
    cpus = [cpu_text(some) for some in place(Settings(build.program), build.workload("echo"))]

    def kinds(s: Settings) -> list[tuple[str, Callable[[], Result]]]:
        sender = [s.program, "serve", "--model", a.model, "--engine", a.engine, "--workload", "ask", "--loops", "1",
                  "--static-output", str(a.static_output), "--exit-with-parent"]
        return [(f"{sizes} B {variant.label}", functools.partial(perform, sender, s, cpus, sizes, variant))
                for sizes in (["64"] if a.latency else a.sizes) for variant in variants]
    return Probes(kinds, lambda r: f"{title} {form(r[compared])}", {
        "model": a.model, "engine": a.engine, "static_output": a.static_output,
        "placement": f"{a.model} (sender on CPU {cpus[0]}, receiver on CPU {cpus[1]})"})


EXPERIMENT = Experiment(
    "merging", UsualRuns(5, 1), UsualRuns(3, 0.2), plan, compose, table, "flatness", options, shared=("--model", "--engine"),
    examples=("--sizes 8..128", "--model reactor_pool --rounds 9 --json merging.json",
              "--sizes 8..16384 --thresholds 1,512,1024,3072,4096,16384,65536", "--latency"))
