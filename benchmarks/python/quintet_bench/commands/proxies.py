# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench proxies`: relays of TCP connections before the same server: the example proxy, HAProxy and nginx."""
import argparse
import functools
import pathlib
import sys
import tempfile
from typing import Any, NamedTuple

from ..build import Build
from ..child import Child
from ..columns import SPREAD, Column, rows_text
from ..demands import at_least, demand, exit_status, tempered
from ..foreign import add_example_options, example_program, free_port, pinned, raise_file_limit, require_files
from ..machine import allowed_cpus
from ..measuring import UsualRuns, add_measuring_options, run_plan, settings_of
from ..options import Parser, number_in, one_of
from ..plan import Contender, Run, Settings
from ..published import PUBLISHED
from ..results import Document, Result, label_of, summarise, write_results
from ..statistics import paired_ratio, ratio_text
from ..table import title_line
from ..text import grouped, micros
from ..verdict import CPU, SPEED
from ..web import (NGINX_RELAY, await_accepting, example_command, installed, load_short, nginx_command, serving_hello,
                   stream_module)

ABOUT = "Compares the example proxy with HAProxy and nginx before the same server, under short connections"
DEFAULT, QUICK = UsualRuns(5, 1.0, 0.2), UsualRuns(3, 0.3, 0.1)
COLUMNS: tuple[Column, ...] = (
    ("connections/s", 14, SPEED, grouped), SPREAD, ("CPU/conn", 10, CPU, micros), ("p50", 9, "p50_us", micros),
    ("p99", 9, "p99_us", micros))
WORDS = {SPEED: "connections", CPU: "CPU a connection", "p99_us": "p99"}
HAPROXY = """global
  nbthread {workers}
defaults
  mode tcp
  maxconn 10000
  timeout connect 5s
  timeout client 10s
  timeout server 10s
listen relay
  bind 127.0.0.1:{port} backlog 1024
  server back {back}
"""


class Programs(NamedTuple):
    proxy: str
    http_hello: str
    haproxy: str | None
    nginx: str | None
    module: str | None                  # of nginx

    @staticmethod
    def find(build: Build, arguments: argparse.Namespace) -> "Programs":
        nginx = installed("nginx")
        return Programs(example_program(build, "proxy", arguments.proxy),
                        example_program(build, "http_hello", arguments.http_hello), installed("haproxy"), nginx,
                        stream_module(nginx) if nginx else None)

    def missing(self) -> dict[str, str]:
        """The contenders that are not here, and what helps."""
        why = {"haproxy": "" if self.haproxy else "it is not installed; apt-get install haproxy",
               "nginx": "" if self.module is not None else "its stream module is missing; apt-get install "
               "libnginx-mod-stream" if self.nginx else "it is not installed; apt-get install nginx libnginx-mod-stream"}
        return {name: reason for name, reason in why.items() if reason}

    def relay(self, about: Result, folder: str, back: str) -> tuple[str, list[str]]:
        """Returns the port that the relay will listen on, and its command line."""
        port, workers = free_port(), about["loops"]
        if about["peer"] == "nginx":
            return port, nginx_command(str(self.nginx), folder, NGINX_RELAY, workers, port=port, back=back,
                                       module=str(self.module))
        if about["peer"] == "haproxy":
            file = pathlib.Path(folder, "haproxy.cfg")
            file.write_text(HAPROXY.format(workers=workers, port=port, back=back))
            return port, [str(self.haproxy), "-db", "-f", str(file)]
        return port, [*example_command(self.proxy, port, about), "--upstream", back]


def measure_relay(programs: Programs, result: Result, s: Settings, run: Run) -> None:
    """The figures of CPU are those of the relay alone."""
    behind = result | {"model": "loop_per_thread", "engine": "automatic", "accept": "reuse_port"}
    with tempfile.TemporaryDirectory(prefix="quintet-bench-relay-") as folder, \
            serving_hello(programs.http_hello, behind) as (_, back):
        port, command = programs.relay(result, folder, back)
        with Child(run.who.peer or "proxy", pinned(result["server_cpus"], command)) as relay:
            await_accepting(relay, port)
            load_short(result, s, run, relay, f"127.0.0.1:{port}", "--http")


def compose(document: Document, missing: dict[str, str]) -> dict[str, Any]:
    """The ratios are ours / the other, in each round that has both."""
    found, results = [], document.results
    for peer in dict.fromkeys(r["peer"] for r in results if r["peer"]):
        for metric, word in WORDS.items():
            if ratio := paired_ratio(results, "short", metric, lambda r: not r["peer"], lambda r: r["peer"] == peer):
                found.append(demand(f"proxy has {ratio_text(ratio, word, peer)}", ratio,
                                    at_least(1) if metric == SPEED else None, metric=metric, peer=peer))
    return document.figures() | {"ratios": tempered(found, results), "missing": missing, "published": PUBLISHED["proxies"]}


def table(results: list[Result], figures: dict[str, Any]) -> str:
    if not (summary := summarise(results)):
        return "Nothing was measured.\n"
    out = f"{title_line(summary[0])}, each through a relay; CPU is the relay's\n"
    out += rows_text(summary, COLUMNS, lambda row: {}, 36,
                     lambda row: f"  {row.label if row.is_peer else f'proxy, {label_of(row.first)}'}")
    out += "".join(f"  {name} is left out: {why}\n" for name, why in figures["missing"].items())
    out += "".join(f"  -> {ratio['sentence']}.\n" for ratio in figures["ratios"])
    about = figures["published"]
    return f"{out}  published, not measured: {about['published']}.\n  {about['correction']}.\n{figures['noise']}\n"


def add_options(parser: Parser, build: Build) -> None:
    parser.option("--model", one_of("loop_per_thread", "loop_per_thread_pool", "4", "5"), "of the example proxy: "
                  "loop_per_thread or loop_per_thread_pool (default: loop_per_thread)", default="4")
    parser.option("--accept", one_of(*build.accept), f"its accept strategy: {', '.join(build.accept)} (default: reuse_port)",
                  default="reuse_port")
    parser.option("--engine", build.engine, f"I/O engine: {', '.join(build.engines)} (default: automatic)", default="automatic")
    parser.option("--loops", number_in(1, 1024), "loops, threads or workers of each relay (default: one for each CPU)")
    parser.option("--connections", number_in(1, 9000), "concurrent connections (default: 100)", default=100)
    add_measuring_options(parser, DEFAULT, QUICK, within=True)
    add_example_options(parser, "proxy", "http_hello")
    parser.examples("quintet-bench proxies --rounds 9 --json proxies.json",
                    "quintet-bench proxies --accept reuse_port_cpu --quick")


def run(arguments: argparse.Namespace, build: Build) -> int:
    programs = Programs.find(build, arguments)
    missing = programs.missing()
    print("".join(f"{name} is left out: {why}\n" for name, why in missing.items()), end="", file=sys.stderr)
    work = build.workload("short").but(connections=arguments.connections, threads=arguments.loops or len(allowed_cpus()))
    require_files(2 * work.connections)  # a relay has two sockets for each
    raise_file_limit()
    who = [Contender(model=build.model(arguments.model), engine=arguments.engine, accept=arguments.accept),
           *(Contender(peer=name) for name in ("haproxy", "nginx") if name not in missing)]
    s = settings_of(arguments, build, DEFAULT, QUICK, workloads=[work], contenders=who, shared_cpus=True, counters=False)
    document = run_plan("proxies", s, build, functools.partial(measure_relay, programs))
    figures = compose(document, missing)
    write_results(table(document.results, figures), figures, s.json_file)
    return exit_status(document, figures["ratios"])
