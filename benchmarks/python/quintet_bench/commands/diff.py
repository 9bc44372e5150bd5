# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench diff`: how each combination changed between two files, or that the noise is too large to tell."""
import argparse
import itertools
import math
import statistics
from typing import Any

from ..build import Build
from ..demands import Verdict, at_most, demand
from ..errors import UsageError
from ..experiment import Experiment, Work
from ..options import Parser, list_of, one_of, real_in
from ..plan import Settings, UsualRuns
from ..results import (METRICS, NAMES, Combination, Document, Result, Sample, combination_key, label_of, number,
                       read_document, summarise, workload_names)
from ..statistics import ENOUGH_CONFIDENCE, Interval, ratio_interval
from ..table import aligned, arrows, shape_text
from ..text import percent, significant
from ..verdict import CPU, disturbance, metric_of

ABOUT = "Compares the results of two dates or builds: faster, slower, no difference, or noise"
VERDICTS = ("faster", "slower", "no difference", "too noisy")
MORE_IS_BETTER = ("requests_per_s", "mb_per_s")
SETTINGS = ("connections", "message_bytes", "pipeline", "handler_us", "duration_s", "requests", "failed",
            "client_cpu_fraction", "foreign_cpu_fraction", "loops", "client_threads")  # and figures about a run's reliability
Change = dict[str, Any]                 # a member of "changes" or "not_compared", as the JSON file has it
COMPARED = [key for key in METRICS if key not in SETTINGS]
SHAPE = ("connections", "message_bytes", "pipeline", "loops", "client_threads")
FACTS = {"cpu_model": "CPU", "cores": "number of CPUs", "memory_bytes": "memory", "os": "operating system",
         "kernel": "kernel", "compiler": "compiler", "flags": "compiler flags", "boost": "Boost", "allocator": "allocator",
         "duration_s": "duration of a run", "warm_up_s": "warm-up"}


def classify(ratio: Interval, more_is_better: bool, usual: float, tolerance: float) -> str:
    """`usual`: the usual movement between rounds; among many combinations some intervals miss by chance."""
    if ratio.confidence < ENOUGH_CONFIDENCE:
        return "too noisy"
    if not ratio.contains(1) and abs(ratio.ratio - 1) > usual:
        return "faster" if (ratio.ratio > 1) == more_is_better else "slower"
    return "no difference" if 1 / (1 + tolerance) <= ratio.low and ratio.high <= 1 + tolerance else "too noisy"


def _same(a: Combination, b: Combination) -> bool:
    """A value that one file lacks counts as equal: the file may be older than the key."""
    keys = ("accept", "offload", "loops", "client_threads")
    unknown = {key: None for key in keys if None in (a.first[key], b.first[key])}
    return combination_key(a.first | unknown) == combination_key(b.first | unknown)


def _classified(pairs: list[tuple[Combination, Combination]], metrics: list[str] | None, tolerance: float) -> list[Change]:
    # If nothing was timed, instructions were counted.
    found = [(a.first, key, a.samples[key], b.samples[key], ratio) for a, b in pairs
             for key in metrics or (metric_of(a.workload), CPU, "instructions_per_request")
             if key in a.samples and key in b.samples
             and (ratio := ratio_interval(b.samples[key].values, a.samples[key].values))]
    usual = {metric: statistics.median(side.spread for _, key, *sides, _ in found if key == metric for side in sides)
             for _, metric, *_ in found}
    return [_names(what) | {
        "metric": key, "before": _figures(before), "after": _figures(after), "ratio": number(ratio.ratio),
        "interval": [number(ratio.low), number(ratio.high)], "confidence": number(ratio.confidence),
        "verdict": classify(ratio, key in MORE_IS_BETTER, usual[key], tolerance)} for what, key, before, after, ratio in found]


def _names(what: Result) -> dict[str, Any]:
    return {key: what[key] for key in (*NAMES, *SHAPE)}


def _figures(s: Sample) -> dict[str, Any]:
    return {"median": number(s.median), "min": number(s.low), "max": number(s.high), "rounds": len(s.values)}


def find_differences(before: list[Result], after: list[Result], metrics: list[str] | None = None,
                     tolerance: float = 0.1) -> tuple[list[Change], list[Change]]:
    """Returns the changes, and the combinations that are not compared. Those that gave figures before and fail now are
    "broken"."""
    first, second = summarise(before), summarise(after)
    pairs, others = list[tuple[Combination, Combination]](), list[Change]()
    for a in first:
        b = next((c for c in second if _same(a, c)), None)
        if b is None:
            others.append(_names(a.first) | {"why": "only in the first", "broken": False})
        elif a.rounds and b.rounds:
            pairs.append((a, b))
        else:
            failed, where = (b, "second") if a.rounds else (a, "first")
            why = f"failed in the {where}: {failed.error or 'no figures'}"
            others.append(_names(a.first) | {"why": why, "broken": a.rounds > 0})
    others += [_names(b.first) | {"why": "only in the second", "broken": False}
               for b in second if not any(_same(a, b) for a in first)]
    return _classified(pairs, metrics, tolerance), others


def loss(change: Change) -> float:
    """A fraction of the earlier figure; below 0 for an improvement."""
    return float(1 - change["ratio"] if change["metric"] in MORE_IS_BETTER else change["ratio"] - 1)


def warnings(before: Document, after: Document) -> list[str]:
    """Reasons other than the code why the files may differ. A value that one of them lacks counts as equal."""
    a, b = (d.environment | d.settings for d in (before, after))
    out = [f"another {name}: {a[key]}, then {b[key]}" for key, name in FACTS.items()
           if key in a and key in b and a[key] != b[key]]
    if before.command != after.command:
        out.append(f"another command: {before.command}, then {after.command}")
    placed = {combination_key(r): (r["server_cpus"], r["client_cpus"]) for r in after.results}
    moved = [(r["workload"], r["server_cpus"], r["client_cpus"], *placed[combination_key(r)]) for r in before.results
             if placed.get(combination_key(r)) not in (None, (r["server_cpus"], r["client_cpus"]))]
    out += ["other CPUs: {} had the server on CPU {} and the client on CPU {}, then on {} and {}".format(*m) for m in moved[:1]]
    for which, summary in (("first", summarise(before.results)), ("second", summarise(after.results))):
        out += [f"while {name} was measured for the {which} file, other programs had {percent(share)} of the CPUs"
                for name in workload_names(summary) if (share := disturbance(summary, name))]
    return out


def _name(what: Change, changes: list[Change]) -> str:
    """The server's name, and what distinguishes it from others of the same name."""
    alike = [c for c in changes if shape_text(c) == shape_text(what) and label_of(c) == label_of(what)]
    forms = {"accept": ", {}", "offload": ", offload {}", "loops": ", {} loops",
             "client_threads": ", {} client threads"}
    return label_of(what) + "".join(form.format(what[key]) for key, form in forms.items()
                                    if what[key] and any(other[key] != what[key] for other in alike))


def diff_table(sides: dict[str, Document], changes: list[Change], others: list[Change]) -> str:
    """`sides`: the two documents by their titles."""
    out = "".join(f"{title}: quintet {d.quintet or 'not known'}, {d.command}, {d.environment.get('date') or 'not known'}\n"
                  for title, d in sides.items())
    out += "".join(f"warning: {warning}\n" for warning in warnings(*sides.values()))
    heads = ["", "", "before", "after", "ratio", "interval", "", ""]
    for shape, group in itertools.groupby(changes, shape_text):
        rows = [[_name(c, changes), c["metric"], *(significant(c[side]["median"]) for side in ("before", "after")),
                 f"{c['ratio']:.3f}", "{:.3f} to {:.3f}".format(*c["interval"]), percent(c["confidence"]), c["verdict"]]
                for c in group]
        out += f"\n{shape}\n{aligned([heads, *rows], left=(0, 1, 7))}"
    out += "\n" * bool(others)
    out += "".join(f"not compared: {shape_text(u)}, {label_of(u)}: {u['why']}\n" for u in others)
    counts = ", ".join(f"{sum(c['verdict'] == verdict for c in changes)} {verdict}" for verdict in VERDICTS)
    return out + (f"\n{counts}. A ratio is after / before. The interval contains it with the given confidence, as far as "
                  "noise between rounds is concerned.\n")


def parse_percent(text: str) -> float:
    return real_in(0.001, 1000)(text.removesuffix("%")) / 100


def verdicts_on(changes: list[Change], others: list[Change], above: float) -> list[Verdict]:
    """Nothing is slower by more than `above`, and nothing fails that did not."""
    bound, out = at_most(above, f"at most {above * 100:g} %"), []
    for c in changes:
        how = f"{abs(loss(c)) * 100:.1f} % {'worse' if loss(c) > 0 else 'better'}"
        met = None if c["verdict"] == "too noisy" else c["verdict"] != "slower" or loss(c) <= above
        out.append(demand(f"{c['workload']}, {label_of(c)}: {c['metric']} is {how}", Sample((loss(c),)), bound,
                          metric=c["metric"], met=met, decided=True))
    return out + [demand(f"{u['workload']}, {label_of(u)}: {u['why']}", Sample((math.nan,)), (0, 0, "figures, as before"),
                         met=False, decided=True) for u in others if u["broken"]]


def options(parser: Parser, build: Build) -> None:
    parser.add_argument("before", help="earlier results: a --json file of compare, peers or sweep")
    parser.add_argument("after", help="later results")
    parse_metrics = list_of(one_of(*COMPARED))
    parser.option("--metric", parse_metrics, "comma-separated keys of figures (default: the main figure of each workload, "
                  "and CPU per request)")
    parser.option("--tolerance", parse_percent, "report noise if a change of this size is possible (default: 10%)", default=0.1)
    parser.option("--fail-above", parse_percent, "exit status 1 only if something is slower by more than this, or fails "
                  "now (default: 0%)", default=0.0)


def plan(arguments: argparse.Namespace, build: Build) -> Work:
    paths = [arguments.before, arguments.after]
    before, after = documents = [read_document(path) for path in paths]
    changes, others = find_differences(before.results, after.results, arguments.metric, arguments.tolerance)
    if not changes and not any(u["broken"] for u in others):
        raise UsageError(f"{paths[0]} and {paths[1]} have no combination of workload and server in common with such figures")

    def perform(_: Settings) -> tuple[Document, dict[str, Any], str]:
        verdicts = verdicts_on(changes, others, arguments.fail_above)
        sides = {side: {"file": path, "quintet": d.quintet, "command": d.command, "environment": d.environment}
                 for side, path, d in zip(("before", "after"), paths, documents)}
        table = diff_table({f"before {paths[0]}": before, f"after  {paths[1]}": after}, changes, others)
        return Document("diff", build.version, {}, {}, []), sides | {
            "warnings": warnings(before, after), "changes": changes, "not_compared": others, "verdicts": verdicts}, (
                table + arrows(one for one in verdicts if one["met"] is False))
    return Work(perform)


EXPERIMENT = Experiment(
    "diff", UsualRuns(), UsualRuns(), plan, options=options,
    examples=("yesterday.json today.json", "main.json branch.json --metric server_cpu_us_per_request --fail-above 10%"))
