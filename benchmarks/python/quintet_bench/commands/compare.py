# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench compare`: the five models under several workloads, and advice: a model for each kind of handler and
connection, whether loops should accept for themselves, and the library's cost beside hand-written code."""
import argparse
import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..build import Build
from ..demands import GATE, REPORT, Verdict, at_most, tempered
from ..experiment import Experiment, Work, compared, matching
from ..measuring import run_plan
from ..options import Parser, output_file
from ..plan import COUNTERPARTS, Contender, Settings, UsualRuns, contenders_of
from ..results import Combination, Document, Result, Sample, read_document, summarise, workload_names
from ..statistics import may_lead, ratio_text
from ..table import Layout
from ..text import joined, micros, percent
from ..verdict import CPU, HEARTBEAT, SPEED, compute_verdict, disturbance, kept, metric_of, rank, sentence_of

ABOUT = "Compares the five threading models under several workloads: table, JSON, HTML report"
CLAIMS = "2.15 5.2"
# For each handler the first measured workload gives the answer.
QUESTIONS = {"cheap": ("echo", "pipeline", "large"), "computing": ("cpu", "mixed"), "blocking": ("blocking",)}

LOOP, MOST_OVER_PEER = "loop_per_thread", 1.25    # CPU for a request, over hand-written code
USER, SOFTIRQ, BUSY = "server_user_us_per_request", "machine_softirq_fraction", "machine_busy_fraction"
ENOUGH_CORES = 8                        # from Fastsocket's list of suitable servers, like the questions themselves
SEVERAL_LOOPS = ("loop_per_thread", "loop_per_thread_pool")     # each of them can accept
ANSWERS = {True: "yes", False: "no", None: "not known"}


def _answer(handler: str, combinations: Sequence[Combination], workload: str) -> tuple[str | None, list[str], str]:
    """Returns the recommended model, None if the noise is too large; those as good; and the reason."""
    others, by_cpu = disturbance(combinations, workload), rank(combinations, workload, CPU)
    # If other programs used the CPUs, only CPU per request distinguishes the models, and only for a cheap handler.
    if handler == "cheap" and others and by_cpu.level and not by_cpu.too_noisy:
        best, *rest = by_cpu.leaders
        return best, rest, (f"{sentence_of(by_cpu)} Judged by CPU per request alone, since other programs had "
                            f"{percent(others)} of the CPUs.")
    by_speed = rank(combinations, workload, metric_of(workload))
    reason, names = sentence_of(by_speed), by_speed.leaders
    if len(names) < 2:
        return names[0] if names else None, [], reason
    first, *behind = by_speed.level
    alike = [c for c in behind if by_speed.metric != SPEED or not may_lead(first.samples[SPEED], c.samples[SPEED])]
    model, frugal = None if by_speed.too_noisy else names[0], rank([first, *alike], workload, CPU)
    if len(frugal.level) == 1 and not frugal.single_round:
        model = frugal.leaders[0]
        reason += f" Of these {model} needs least CPU: {micros(frugal.level[0].samples[CPU].median)} a request."
    return model, [name for name in names if name != model], reason


def advise(combinations: Sequence[Combination], questions: Mapping[str, tuple[str, ...]] = QUESTIONS) -> list[dict[str, Any]]:
    names, out = workload_names(combinations), []
    for handler, wanted in questions.items():
        measured = [name for family in wanted for name in names if name.partition(":")[0] == family]
        model, as_good, reason = (_answer(handler, combinations, measured[0]) if measured else
                                  (None, [], f'Not measured; add "{wanted[0]}" to --workloads.'))
        out.append({"handler": handler, "workload": next(iter(measured), None), "model": model, "as_good": as_good,
                    "reason": reason})
    return out


def peer_ratios(results: Sequence[Result]) -> list[Verdict]:
    """CPU per request of a model over that of its hand-written counterpart, round by round. One loop is demanded to be as
    cheap; threads for connections are expected to be, since the scheduler decides more about them."""
    out = list[Verdict]()
    for workload in dict.fromkeys(r["workload"] for r in results):
        for model, peer in COUNTERPARTS.items():
            out += compared(results, workload, CPU, matching(model=model), matching(peer=peer), lambda ratio: (
                f"{model} needs {ratio_text(ratio, 'CPU', f'a hand-written {peer} server')}."), at_most(MOST_OVER_PEER),
                kind=GATE if peer == "epoll" else REPORT, workload=workload, model=model, peer=peer)
    return tempered(out, results)


def _sample(results: Sequence[Result], workload: str, figure: Callable[[Result], float]) -> Sample | None:
    """A figure of loop_per_thread, or else of the first model, under a workload. Rounds without a part of it do not count."""
    runs, values = [r for r in results if r["workload"] == workload], list[float]()
    models = [r["model"] for r in runs]
    for r in (r for r in runs if r["model"] == (LOOP if LOOP in models else models[0])):
        with contextlib.suppress(TypeError, ZeroDivisionError):
            values.append(figure(r))
    return Sample(tuple(values)) if values else None


def _is_most(share: Sample | None, why: str) -> tuple[bool | None, str]:
    """Whether a share exceeds one half, and the reason."""
    if not share:
        return None, "not measured: add short and echo to --workloads"
    at_most = kept(share, high=0.5)
    return (None, f"too noisy to say: {why}") if at_most is None else (not at_most, why)


def _opening(results: Sequence[Result]) -> tuple[bool | None, str]:
    """Whether connections cost more than what is sent on them."""
    short, echo = (_sample(results, name, lambda r: r[CPU] / 1) for name in ("short", "echo"))
    if not short or not echo:
        return _is_most(None, "")
    return _is_most(Sample((1 - echo.high / short.low, 1 - echo.low / short.high)), f"a connection for one request takes "
                    f"{micros(short.median)} of CPU, a request on an open one {micros(echo.median)}")


def _kernel(results: Sequence[Result]) -> tuple[bool | None, str]:
    kernel = _sample(results, "short", lambda r: 1 - r[USER] / r[CPU])
    softirq = _sample(results, "short", lambda r: r[SOFTIRQ] / r[BUSY])
    parts = ((kernel, "of the server's CPU in the kernel"), (softirq, "of the machine's in softirqs"))
    return _is_most(kernel, joined([f"{percent(share.median)} {where}" for share, where in parts if share]))


def _handlers(results: Sequence[Result]) -> tuple[bool | None, str]:
    names = dict.fromkeys(r["workload"] for r in results)
    blocking = [name for name in names if name.startswith("blocking")]
    others = [name for name in names if name not in blocking]
    return (bool(others) if names else None), f"do not block: {joined(others) or 'none'}; block: {joined(blocking) or 'none'}"


def suitability(document: Document) -> list[dict[str, Any]]:
    """Five questions that tell whether a server gains from accepting on every loop, answered from what was measured. The last
    entry is the conclusion."""
    results = [r for r in document.results if not r["error"] and not r["peer"]]
    cores = document.environment.get("cores")
    acceptors = max((1 if r["accept"] in (None, Contender().accept) else r["loops"] or 1 for r in results), default=0)
    found = {"enough cores": (cores and cores >= ENOUGH_CORES, f"{cores or 'unknown'}, of at least {ENOUGH_CORES}"),
             "short connections": _opening(results), "work in kernel and softirqs": _kernel(results),
             "handlers that do not block": _handlers(results),
             "several threads that accept": (acceptors > 1 if acceptors else None, f"{acceptors}; advanced.accept decides")}
    # The last one is what would be changed.
    lacking = {missing: joined([name for name, (answer, _) in list(found.items())[:4] if answer is missing])
               for missing in (False, None)}
    pays = False if lacking[False] else None if lacking[None] else True
    found["accept on every loop"] = pays, (f"it lacks {lacking[False]}" if lacking[False] else f"unknown: {lacking[None]}"
                                           if lacking[None] else "quintet-bench accept compares the ways to do it")
    return [{"question": question, "answer": answer, "sentence": f"{question}: {ANSWERS[answer]} ({why})."}
            for question, (answer, why) in found.items()]


def _advice(scenario: str, answer: Mapping[str, Any], why: str, options: str = "") -> dict[str, Any]:
    """`options`: of `serve`, for a model that has several loops."""
    options = options if answer["model"] in SEVERAL_LOOPS else ""
    if not answer["workload"]:
        sentence = "not measured" + answer["reason"].removeprefix("Not measured")
    elif not answer["model"]:
        sentence = f"too noisy to say (measured with {answer['workload']})."
    else:
        names = joined([answer["model"], *answer["as_good"]]).replace(" and ", " or ")
        sentence = f"{names}; {why}{f' (serve {options})' * bool(options)}. Measured with {answer['workload']}."
    return {"scenario": scenario, "workload": answer["workload"], "model": answer["model"], "options": options,
            "sentence": f"{scenario}: {sentence}"}


def machine_sentence(environment: Mapping[str, Any]) -> str:
    cpus, cores, nodes = (environment.get(key) or 0 for key in ("cores", "physical_cores", "numa_nodes"))
    out = f"This machine: {cpus} CPUs; a loop for each, as by default."
    if cpus == 1:
        out = "This machine: one CPU, on which more loops only take turns; single_reactor is enough."
    elif 0 < cores < cpus:
        out = (f"This machine: {cpus} CPUs that are threads of {cores} core{'s' * (cores > 1)}; begin with a loop for each "
               f"core (serve --loops {cores} --pin-loops=idle), and measure whether {cpus} loops do more.")
    if nodes > 1:
        out += (f" It has {nodes} NUMA nodes: keep the loops of a server on one of them (serve --pin-loops=LIST), and run a "
                "server for each node on the same port.")
    return out * bool(cpus)


def advise_scenarios(combinations: Sequence[Combination], environment: Mapping[str, Any]) -> list[dict[str, Any]]:
    cheap, _, blocking = advise(combinations)
    short, = advise(combinations, {"short": ("short",)})
    out = [_advice("Long connections", cheap, "what counts is the cost of a request",
                   "--accept main_reactor, which spreads evenly"),
           _advice("Short connections", short, "what counts is accepting, whose ways quintet-bench accept compares"),
           _advice("Synchronous handlers", blocking, "a call that waits holds a thread, so what counts is threads"),
           _advice("Asynchronous handlers", cheap, "co_await holds no thread, so one that waits counts as cheap")]
    return out + [{"scenario": "This machine", "workload": None, "model": None, "options": "", "sentence": sentence}
                  for sentence in [machine_sentence(environment)] if sentence]


DEFAULT_LIST, QUICK_LIST = "echo,pipeline,cpu:200us,blocking:2ms,mixed,heartbeat", "echo,cpu:200us,mixed"
USUAL_COLUMNS = (SPEED, "spread", "p50_us", "p99_us", "p999_us", CPU, "syscalls_per_request", "context_switches_per_request",
                 "server_threads", "server_rss_bytes")
HEARTBEAT_COLUMNS = (*USUAL_COLUMNS[:6], "heartbeat_p50_us", "heartbeat_p99_us", "heartbeat_max_us")
LAYOUT = Layout(lambda row: HEARTBEAT_COLUMNS if metric_of(row.workload) == HEARTBEAT else USUAL_COLUMNS, lambda row: row.label)


def bottleneck_line(combinations: Iterable[Combination]) -> str:
    """"Bottleneck: server CPU (single_reactor and reactor_pool); none (loop_per_thread).", "Bottleneck: none (all).", or ""."""
    pairs = [(c.bottleneck, c.label) for c in combinations if c.bottleneck]
    groups = {name: joined([label for other, label in pairs if other == name]) for name, _ in pairs}
    told = groups if len(groups) > 1 else dict.fromkeys(groups, "all")
    text = "; ".join(f"{name.replace('_cpu', ' CPU')} ({labels})" for name, labels in told.items())
    return f"Bottleneck: {text.replace('machine CPU', 'CPU of the machine')}." if text else ""


def compose(document: Document) -> dict[str, Any]:
    summary = summarise(document.results)
    return document.figures() | {"advice": advise(summary), "scenarios": advise_scenarios(summary, document.environment),
                                 "verdicts": [compute_verdict(summary, name) for name in workload_names(summary)],
                                 "peer_ratios": peer_ratios(document.results), "suitability": suitability(document)}


def console_table(document: Document, figures: dict[str, Any]) -> str:
    """A block for each workload: a line per model and peer, then the verdict. The advice is last."""
    verdicts = {verdict["workload"]: verdict for verdict in figures["verdicts"]}

    def told(rows: Sequence[Combination]) -> str:
        verdict = verdicts[rows[0].workload]
        said = [verdict["sentence"], verdict["also"], verdict["caution"], bottleneck_line(rows)]
        said += [ratio["sentence"] for ratio in figures["peer_ratios"] if ratio["workload"] == rows[0].workload]
        return "".join(f"  -> {sentence}\n" for sentence in said if sentence) + "\n"
    out = LAYOUT.text(summarise(document.results), told)
    for a in filter(lambda a: a["workload"], figures["advice"]):
        good = f" As good: {joined(a['as_good'])}." if a["model"] and a["as_good"] else ""
        out += f"For a {a['handler']} handler: {a['model'] or 'too noisy to say'}.{good}\n"
    out += "".join(f"{advice['sentence']}\n" for advice in figures["scenarios"])
    asked = [a["sentence"] for a in figures["suitability"]]
    out += "".join(f"{'' if sentence == asked[-1] else '  '}{sentence}\n" for sentence in [asked[-1], *asked[:-1]])
    return f"{out}{figures['noise']}\n"


def options(parser: Parser, build: Build) -> None:
    parser.option("--workloads", build.workload_list, f"comma-separated (default: {DEFAULT_LIST}; {QUICK_LIST} with --quick)")
    parser.flag("--no-peers", "do not measure the hand-written servers")
    parser.flag("--no-counters", "do not count system calls")
    parser.option("--from", str, "do not measure; show an earlier --json file", metavar="FILE", dest="from_file")
    parser.option("--html", output_file, "write the report, a self-contained HTML page, to this file", metavar="FILE",
                  dest="html_file")


def plan(arguments: argparse.Namespace, build: Build) -> Work:
    who = contenders_of(arguments.models, not arguments.no_peers, engine=arguments.engine)
    page: Callable[[dict[str, Any]], str] | None = None
    if arguments.html_file:  # before the runs, so that a missing package fails early
        from ..report.page import comparison_page
        page = comparison_page

    def perform(s: Settings) -> tuple[Document, dict[str, Any], str]:
        document = read_document(arguments.from_file) if arguments.from_file else run_plan("compare", s, build)
        figures = compose(document)
        table = console_table(document, figures)
        if arguments.from_file:         # the command that measured has told its failures
            document = dataclasses.replace(document, results=[])
        return document, figures, table
    works = arguments.workloads or build.workload_list(QUICK_LIST if arguments.quick else DEFAULT_LIST)
    return Work(perform, {"workloads": works, "contenders": who, "counters": not arguments.no_counters}, page)


EXPERIMENT = Experiment(
    "compare", UsualRuns(3, 1.0, 0.2), UsualRuns(3, 0.4, 0.1), plan, demands="peer_ratios", options=options,
    shared=("--models",), within=True, server=True,
    examples=("--quick", "--workloads echo,cpu:500us --rounds 5 --json results.json --html report.html",
              "--from results.json --html report.html"))
