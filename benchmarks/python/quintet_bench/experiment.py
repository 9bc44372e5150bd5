# SPDX-License-Identifier: BSL-1.0
"""The frame of the commands that measure in rounds. An experiment is data: what it measures, in which columns it shows that,
and what it demands. The frame has the options, the rounds, the table, the file and the exit status."""
import argparse
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .build import Build
from .demands import Bound, Verdict, demand, exit_status, tempered
from .measuring import add_measuring_options, run_plan, run_probes, settings_of
from .options import Parser, number_in, one_of, parse_range
from .plan import Settings, UsualRuns
from .results import Document, Result, Sample, summarise, write_results
from .runner import Measure, measure_load
from .statistics import Filter, paired, ratio_text

OF_SERVERS = ("--loops=models", "--workers", "--offload", "--engine")
SHARDED = one_of("loop_per_thread", "loop_per_thread_pool", "4", "5")


def add_shared_option(parser: Parser, name: str, build: Build) -> None:
    """Adds an option that several experiments have. Behind "=" stands which of two kinds it is."""
    options: dict[str, tuple[Callable[[str], Any], str, Any]] = {     # what parses a value, text for --help, and default
        "--models": (build.model_list, "comma-separated names or numbers (default: all five)", build.models),
        "--model": (build.model, "model of the server (default: single_reactor)", "single_reactor"),
        "--model=sharded": (lambda text: build.model(SHARDED(text)), "loop_per_thread or loop_per_thread_pool, since in others "
                            "only the main loop accepts (default: loop_per_thread)", "loop_per_thread"),
        "--engine": (build.engine, f"I/O engine: {', '.join(build.engines)} (default: automatic, which is epoll unless "
                     "QUINTET_ENGINE names another)", "automatic"),
        "--connections": (number_in(1, 20_000), "concurrent connections (default: by workload)", None),
        "--loops": (number_in(1, 1024), "loops, threads or workers of the server (default: its CPUs)", None),
        "--loops=models": (number_in(1, 1024), "loops of models 4 and 5 (default: the server's CPUs)", None),
        "--workers": (parse_range, "MIN..MAX workers of models 3 and 5 (default: 1..4)", "1..4"),
        "--offload": (one_of(*build.offload), f"batches that models 3 and 5 hand off to workers: {', '.join(build.offload)} "
                      "(default: automatic, which is adaptive in model 5)", "automatic")}
    parse, text, usual = options[name]
    parser.option(name.partition("=")[0], parse, text, default=usual)


class Plan(NamedTuple):
    """What an experiment measures with the options of a user."""
    settings: dict[str, Any]            # fields of Settings, such as workloads and contenders
    measure: Measure = measure_load
    about: Mapping[str, Any] = {}       # more settings for the file
    more: Mapping[str, Any] = {}        # more keys for the file


class Probes(NamedTuple):
    """The same for measurements that are no load of a server: each kind is measured once in each round. Without `repeat` it is
    measured once, as it has rounds of its own."""
    kinds: Callable[[Settings], list[tuple[str, Callable[[], Result]]]]     # a label, and what measures it
    tell: Callable[[Result], str]       # the outcome, while it runs
    about: Mapping[str, Any] = {}
    more: Mapping[str, Any] = {}
    repeat: bool = True


class Work(NamedTuple):
    """The same for an experiment that orders its runs itself. It gives the document, what follows from it, and the table."""
    perform: Callable[[Settings], tuple[Document, dict[str, Any], str]]
    settings: Mapping[str, Any] = {}
    page: Callable[[dict[str, Any]], str] | None = None     # for --html


def matching(**wanted: Any) -> Filter:
    return lambda result: all(result[key] == value for key, value in wanted.items())


def compared(results: Sequence[Result], workload: str | None, metric: str, one: Filter, other: Filter,
             text: Callable[[Sample], str], bound: Bound | None = None, /, **about: Any) -> list[Verdict]:
    """The verdict on the ratio of two servers, one / other, in each round that has both; [] if no round has. None: of
    all workloads."""
    ratio = paired(results, metric, one, other, workload)
    return [demand(text(ratio), ratio, bound, metric=metric, **about)] if ratio else []


def of_one(results: Sequence[Result], workload: str | None, metric: str, server: Filter, text: Callable[[Sample], str],
           bound: Bound, /, **about: Any) -> list[Verdict]:
    """The verdict on a figure of one server; [] if no round has it."""
    values = tuple(r[metric] for r in results if workload in (None, r.get("workload")) and not r.get("error") and server(r)
                   and r[metric] is not None)
    return [demand(text(Sample(values)), Sample(values), bound, metric=metric, **about)] if values else []


def times(text: str, what: str, of_whom: str) -> Callable[[Sample], str]:
    """"proxy has 1.02 times the CPU of nginx"."""
    return lambda ratio: f"{text} {ratio_text(ratio, what, of_whom)}"


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A command as data. What a function is for stands beside it; the others are what several commands have in common."""
    name: str
    usual: UsualRuns
    quick: UsualRuns
    plan: Callable[[argparse.Namespace, Build], Plan | list[Plan] | Probes | Work]  # of several the results are joined
    compose: Callable[[Document], dict[str, Any]] = lambda document: {}     # what follows from the results: keys of the file
    table: Callable[[Any, dict[str, Any]], str] = lambda summary, figures: ""   # of probes from all results and the file
    demands: str = "verdicts"           # the key of the verdicts that decide the exit status
    options: Callable[[Parser, Build], None] = lambda parser, build: None
    shared: tuple[str, ...] = ()        # names of shared options
    programs: tuple[str, ...] = ()      # examples that it starts
    within: bool = False                # --within is allowed
    server: bool = False                # it has the options OF_SERVERS
    examples: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def add_options(self, parser: Parser, build: Build) -> None:
        self.options(parser, build)
        for name in (*self.shared, *OF_SERVERS * self.server):
            add_shared_option(parser, name, build)
        add_measuring_options(parser, self.usual, self.quick, within=self.within)
        for name in self.programs:
            parser.option(f"--{name}", str, f"path of the example {name} (default: that of this build)", metavar="FILE")
        parser.explain([f"quintet-bench {self.name} {line}".rstrip() for line in self.examples], self.notes)

    def run(self, arguments: argparse.Namespace, build: Build) -> int:
        plan, page = self.plan(arguments, build), ""
        settings = functools.partial(settings_of, arguments, build, self.usual, self.quick)
        if isinstance(plan, Work):
            s = settings(**plan.settings)
            document, found, table = plan.perform(s)
            figures = (document.figures() if document.results else document.raw()) | found
            page = plan.page(figures) if plan.page else ""
        elif isinstance(plan, Probes):
            s = settings()
            seed = {"seed": s.seed} if "seed" in arguments else {}      # then the order is random
            document = run_probes(self.name, s, build, plan.kinds(s), plan.tell, repeat=plan.repeat, **seed,
                                  **plan.about)
            figures = document.raw() | {"interrupted": document.interrupted} | self.judged(document, plan.more)
            table = self.table(document.results, figures) if document.results else ""
        else:
            results = list[Result]()
            for one in plan if isinstance(plan, list) else [plan]:
                s = settings(**one.settings)
                document = run_plan(self.name, s, build, one.measure)
                document.settings |= one.about
                document.results[:0] = results
                results = document.results
                if document.interrupted:
                    break
            figures = document.figures() | self.judged(document, one.more)
            table = self.table(summarise(results), figures) if results else "Nothing was measured.\n"
        write_results(table, figures, s.json_file, s.html_file, page)
        return exit_status(document, figures.get(self.demands, ()))

    def judged(self, document: Document, more: Mapping[str, Any]) -> dict[str, Any]:
        """What follows from the results. A demand on times stays open if other programs used the CPUs."""
        found = self.compose(document)
        return found | {self.demands: tempered(found.get(self.demands, ()), document.results), **more}
