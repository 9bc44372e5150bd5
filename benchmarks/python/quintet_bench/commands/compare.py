# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench compare`: plan, table, JSON and page."""
import argparse
from typing import Any

from ..advice import advise, peer_ratios
from ..build import Build
from ..errors import UsageError
from ..measuring import UsualRuns, add_measuring_options, add_server_options, exit_status, run_plan, settings_of
from ..options import Parser
from ..plan import contenders_of
from ..results import Document, read_document, summarise, workload_names, write_results
from ..table import console_table
from ..verdict import compute_verdict

ABOUT = "Compares the five threading models under several workloads: table, JSON, HTML report"
DEFAULT_LIST, QUICK_LIST = "echo,pipeline,cpu:200us,blocking:2ms,mixed,heartbeat", "echo,cpu:200us,mixed"
DEFAULT, QUICK = UsualRuns(3, 1.0, 0.2), UsualRuns(3, 0.4, 0.1)


def add_options(parser: Parser, build: Build) -> None:
    parser.option("--workloads", build.workload_list, f"comma-separated (default: {DEFAULT_LIST}; {QUICK_LIST} with --quick)")
    parser.option("--models", build.model_list, "comma-separated names or numbers (default: all five)", default=build.models)
    add_measuring_options(parser, DEFAULT, QUICK, within=True, html=True)
    add_server_options(parser, build)
    parser.flag("--no-peers", "do not measure the hand-written servers")
    parser.flag("--no-counters", "do not count system calls")
    parser.option("--from", str, "do not measure; show an earlier --json file", metavar="FILE", dest="from_file")
    parser.option("--with", str, "add a section to the report: a --json file of another command; repeatable",
                  metavar="FILE", dest="with_files", action="append", default=[])
    parser.examples("quintet-bench compare --quick",
                    "quintet-bench compare --workloads echo,cpu:500us --rounds 5 --json results.json --html report.html",
                    "quintet-bench compare --from results.json --with sweep.json --with study.json --html report.html")


def compose(document: Document) -> dict[str, Any]:
    summary = summarise(document.results)
    return document.figures() | {"advice": advise(summary),
                                 "verdicts": [compute_verdict(summary, name) for name in workload_names(summary)],
                                 "peer_ratios": peer_ratios(document.results)}


def run(arguments: argparse.Namespace, build: Build) -> int:
    works = arguments.workloads or build.workload_list(QUICK_LIST if arguments.quick else DEFAULT_LIST)
    who = contenders_of(arguments.models, not arguments.no_peers, engine=arguments.engine)
    s = settings_of(arguments, build, DEFAULT, QUICK, workloads=works, contenders=who, counters=not arguments.no_counters)
    if arguments.with_files and not s.html_file:
        raise UsageError("--with: it adds sections to the report; give --html as well")
    if s.html_file:  # before the runs, so that a missing package fails early
        from ..report.others import read_other
        from ..report.page import comparison_page
    try:
        others = [read_other(path) for path in arguments.with_files]
        earlier = read_document(arguments.from_file) if arguments.from_file else None
    except ValueError as error:
        raise UsageError(str(error)) from error
    document = earlier or run_plan("compare", s, build)
    figures = compose(document)
    write_results(console_table(document), figures, s.json_file)
    if s.html_file:
        write_results("", {}, None, s.html_file, comparison_page(figures, others))
    return 0 if earlier else exit_status(document)  # the command that measured has told its failures
