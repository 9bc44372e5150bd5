# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench proxies`: relays of TCP connections before the same server: the example proxy, HAProxy and nginx."""
import argparse
import functools
import pathlib
import sys
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..build import Build
from ..demands import at_least
from ..experiment import Experiment, Plan, compared, matching, times
from ..foreign import example_program, free_port, require_files
from ..machine import allowed_cpus
from ..options import Parser, list_of, number_in, one_of
from ..plan import Contender, Run, Settings, UsualRuns
from ..published import PUBLISHED
from ..results import Combination, Document, Result
from ..table import Layout, arrows, published, title_line
from ..verdict import CPU, SPEED
from ..web import NGINX_RELAY, accepting, example_command, installed, load_short, nginx_command, serving_hello, stream_module

ABOUT = "Compares the example proxy with HAProxy and nginx before the same server, under short connections"
CLAIMS = "2.10"
COLUMNS = (f"{SPEED}=connections/s", "spread", f"{CPU}=CPU/conn", "server_user_us_per_request", "syscalls_per_request",
           "p50_us", "p99_us")
USUAL = "reuse_port"                    # accept strategy of the proxy
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
        with accepting(run.who.peer or "proxy", result, port, command) as (relay, address):
            load_short(result, s, run, relay, address, "--http")
    if run.who.peer == "nginx":
        result["syscalls_per_request"] = result["futex_per_request"] = None     # its worker's are not counted


def compose(document: Document) -> dict[str, Any]:
    """The ratios of rounds that have both: ours by the first strategy / another relay, and by another strategy / the first."""
    results = document.results
    first = next((r["accept"] for r in results if not r["peer"]), USUAL)
    ours = matching(peer=None, accept=first)
    found = [one for peer in dict.fromkeys(r["peer"] for r in results if r["peer"]) for metric, word in WORDS.items()
             for one in compared(results, "short", metric, ours, matching(peer=peer), times("proxy has", word, peer),
                                 at_least(1) if metric == SPEED else None, peer=peer)]
    found += [one for name in dict.fromkeys(r["accept"] for r in results if not r["peer"]) if name != first
              for metric, word in WORDS.items()
              for one in compared(results, "short", metric, matching(peer=None, accept=name), ours,
                                  times(f"proxy by {name} has", word, f"proxy by {first}"), accept=name, reference=first)]
    return {"ratios": found, "published": PUBLISHED["proxies"]}


LAYOUT = Layout(lambda row: COLUMNS, lambda row: row.label if row.is_peer else f"proxy, {row.label}",
                title=lambda rows: f"{title_line(rows[0])}, each through a relay; CPU is the relay's")


def table(summary: Sequence[Combination], figures: dict[str, Any]) -> str:
    about = figures["published"]
    missing = "".join(f"  {name} is left out: {why}\n" for name, why in figures["missing"].items())
    return (LAYOUT.text(summary) + missing + arrows(figures["ratios"])
            + published([f"{about['published']}.\n  {about['correction']}"]) + f"{figures['noise']}\n")


def options(parser: Parser, build: Build) -> None:
    parser.option("--connections", number_in(1, 9000), "concurrent connections (default: 100)", default=100)
    usual = [USUAL, *(name for name in build.accept if name != USUAL)]
    parser.option("--accept", list_of(one_of(*build.accept)), f"comma-separated, of the proxy: {', '.join(usual)} (default: "
                  "all; the first is compared with the other relays)", default=usual)


def plan(arguments: argparse.Namespace, build: Build) -> Plan:
    programs = Programs.find(build, arguments)
    missing = programs.missing()
    print("".join(f"{name} is left out: {why}\n" for name, why in missing.items()), end="", file=sys.stderr)
    work = build.workload("short").but(connections=arguments.connections, threads=arguments.loops or len(allowed_cpus()))
    require_files(2 * work.connections)  # a relay has two sockets for each
    who = [*(Contender(model=arguments.model, engine=arguments.engine, accept=name) for name in arguments.accept),
           *(Contender(peer=name) for name in ("haproxy", "nginx") if name not in missing)]
    return Plan({"workloads": [work], "contenders": who, "shared_cpus": True},
                functools.partial(measure_relay, programs), more={"missing": missing})


EXPERIMENT = Experiment(
    "proxies", UsualRuns(5, 1.0, 0.2), UsualRuns(3, 0.3, 0.1), plan, compose, table, "ratios", options,
    shared=("--model=sharded", "--engine", "--loops"), programs=("proxy", "http_hello"), within=True,
    examples=("--rounds 9 --json proxies.json", "--accept reuse_port_cpu,main_reactor --quick"))
