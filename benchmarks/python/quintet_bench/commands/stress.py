# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench stress`: scenarios under each model, or attacks on any server."""
import argparse
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from ..build import Build
from ..demands import demand
from ..errors import UsageError
from ..experiment import Experiment, Probes
from ..foreign import raise_file_limit, require_files
from ..options import Parser, duration_in, number_in, one_of
from ..plan import UsualRuns
from ..results import Document, Result, Sample
from ..stress.attack import ATTACKS, DIALECTS, MOST_PEERS, perform as perform_attack
from ..stress.findings import Findings, text_of
from ..stress.peers import AT_ONCE, resolve
from ..stress.run import Run
from ..stress.scenarios import SCENARIOS, perform

ABOUT = "Tests whether a server still serves others under hostile or very many peers"
CLAIMS = "1.14 5.10 5.12"
OF_SCENARIOS = ("model", "engine", "accept", "loops", "own_descriptors", "rounds", "deadline", "memory", "limit", "program")
OPTIONS = {"limit": "within"}           # those whose names differ from their keys
OF_ATTACKS = ("protocol", "bound", "allow_remote")
Kind = tuple[str, Callable[[], Result]]


def options(parser: Parser, build: Build) -> None:
    duration = duration_in("1us", "10000min")
    parser.add_argument("scenario", nargs="?", metavar="NAME", help="one of those below, or all")
    for name in ("--model", "--models"):
        parser.option(name, build.model_list, "comma-separated names or numbers (default: all five)", dest="model")
    parser.option("--engine", build.engine, f"I/O engine of the server: {', '.join(build.engines)}")
    parser.option("--accept", one_of(*build.accept), f"accept strategy: {', '.join(build.accept)} (default: main_reactor)")
    parser.option("--loops", number_in(1, 1024), "event loops of models 4 and 5 (default: one for each CPU)")
    parser.flag("--own-descriptors", "give each loop a descriptor table of its own (model 4 with --accept reuse_port)")
    parser.option("--peers", number_in(1, 100_000_000), "number of peers (default: by scenario)")
    parser.option("--window", duration, "how long the good client is measured each time (default: 2; non-readers: 10); with "
                  "--server: length of an attack (default: 3)")
    parser.option("--deadline", duration, "slow-writers: the server's message_timeout (default: 5)")
    parser.option("--memory", number_in(1 << 20), "non-readers: bytes of the server's memory group (default: 512 MiB)")
    parser.option("--within", duration, "time limit of a run (default: some minutes, more for more peers)", dest="limit")
    parser.option("--program", str, "path of the quintet-bench that serves (default: this one)", metavar="FILE")
    parser.option("--server", lambda text: (text, resolve(text)), "attack this running server", metavar="HOST:PORT")
    parser.option("--protocol", one_of(*DIALECTS), "of --server: echo (the same bytes come back), resp (Redis), http (GET /) "
                  "(default: echo)")
    parser.option("--bound", duration, "with --server: longest time that a reply may take (default: 1)")
    parser.flag("--allow-remote", "allow a --server that is not on the loopback interface")


def complete(s: argparse.Namespace, forbidden: Collection[str], why: str, **defaults: object) -> None:
    for name in forbidden:
        if getattr(s, name):
            raise UsageError(f"--{OPTIONS.get(name, name).replace('_', '-')} {why}")
    vars(s).update({name: value for name, value in defaults.items() if not getattr(s, name, None)})


def chosen(s: argparse.Namespace, table: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Any, int]]:
    """Yields name, entry and number of peers of each scenario or attack that the user wants."""
    if s.scenario not in ("all", *table):
        raise UsageError(f'"{s.scenario}" is not {kind}; it must be one of: {", ".join(table)}, or all')
    for name in table if s.scenario == "all" else [s.scenario]:
        yield name, table[name], s.peers or table[name].peers // (10 if s.quick else 1)


def kind(about: str, test: Callable[[], Findings], **subject: str) -> Kind:
    """`about`: what the peers do. `subject`: the scenario, and the model or server that it meets."""
    label = f"{', '.join(subject.values())}: {about}"

    def measure() -> Result:
        if not sys.stderr.isatty():     # there the bar tells it
            print(label, file=sys.stderr, flush=True)
        return test().json() | subject
    return label, measure


def scenarios(s: argparse.Namespace, build: Build, rounds: int) -> Iterator[Kind]:
    complete(s, OF_ATTACKS, "requires --server", deadline=5, memory=512 << 20, engine="automatic",
             model=build.models, program=build.program, load_program=build.program, rounds=rounds)
    if not s.scenario:
        raise UsageError("a scenario is required: its name, or all; or give --server HOST:PORT")
    if s.deadline > 60:
        raise UsageError("--deadline must be at most 1min, because one byte a second completes the message by then")
    without = [model for model in s.model if not model.startswith("loop_per_thread")]
    if s.accept not in (None, "main_reactor") and without:
        raise UsageError(f"--accept: {without[0]} has no loops that accept; --model must be 4, 5 or both")
    for name, scenario, peers in chosen(s, SCENARIOS, "a scenario"):
        if not (name == "idle" and s.own_descriptors):
            require_files(AT_ONCE + peers * scenario.keeps_peers)
        for model in s.model:
            planned = Run(s, model, peers, s.window or (1 if s.quick else scenario.window_s))
            yield kind(f"{scenario.about}, {peers} of them", partial(perform, scenario, planned), scenario=name, model=model)


def attacks(s: argparse.Namespace) -> Iterator[Kind]:
    complete(s, OF_SCENARIOS, "and --server exclude each other", protocol="echo", bound=1, window=2 if s.quick else 3,
             scenario="all")
    where, s.target = s.server
    s.dialect = DIALECTS[s.protocol]
    if not s.target.is_loopback and not s.allow_remote:
        raise UsageError(f"--server: {where} is not a loopback address of this machine; attack another machine only if it is "
                         "yours, with --allow-remote")
    if not 2 * s.bound <= s.window <= 60:
        raise UsageError("--window is out of range; with --server it must be from twice --bound to 1min")
    for name, attack, peers in chosen(s, ATTACKS, "an attack on --server"):
        if peers > MOST_PEERS:
            raise UsageError(f"--peers is too large; with --server it must be at most {MOST_PEERS}")
        require_files(peers)
        yield kind(f"{peers} peers {attack.about}", partial(perform_attack, attack, s, peers), scenario=name, server=where)


def plan(arguments: argparse.Namespace, build: Build) -> Probes:
    raise_file_limit()
    return Probes(lambda s: list(attacks(arguments) if arguments.server else scenarios(arguments, build, s.rounds)),
                  lambda r: str(r["verdict"]), repeat=False)


def subject_of(r: Result) -> str:
    return f"{r['scenario']}, {r.get('model') or r.get('server')}"


def compose(document: Document) -> dict[str, Any]:
    """The verdicts of one run each: a promise is broken or not, and the findings know which figures noise may have moved."""
    out = []
    for r in document.results:
        failure = {r["failure"]: {"demand": "no failure", "met": False}} if r["failure"] else {}
        for key, one in (r["demands"] | failure).items():
            value = r["figures"].get(key)
            out.append(demand(f"{subject_of(r)}: {key.replace('_', ' ')}{'' if value is None else f' {value:g}'}",
                              Sample((math.nan if value is None else value,)), (-math.inf, math.inf, one["demand"]),
                              met=one["met"], decided=True, scenario=r["scenario"], model=r.get("model"), figure=key))
    return {"verdicts": out}


def table(results: list[Result], figures: dict[str, Any]) -> str:
    return "".join(f"{subject_of(r)}: {r['verdict']}\n{text_of(r)}" for r in results)


EXPERIMENT = Experiment(
    "stress", UsualRuns(3), UsualRuns(1), plan, compose, table, options=options,
    examples=("resets --model 4 --peers 1000000",
              "idle --model 4 --peers 100000 --loops 6 --accept reuse_port --own-descriptors",
              "--server 127.0.0.1:6379 --protocol resp", "non-readers --server 127.0.0.1:7007 --peers 200 --window 10"),
    notes=("Scenarios, and how many peers each has by default (with --quick a tenth, and short windows):",
           *(f"  {name:<14}{s.about} ({s.peers})" for name, s in SCENARIOS.items()),
           "Attacks on --server, and how many peers each has by default (default: all attacks):",
           *(f"  {name:<14}peers that {a.about} ({a.peers})" for name, a in ATTACKS.items()),
           "With --server no server is started: the attacks go to a running server of any kind. Meanwhile a well-behaved",
           "client sends 50 requests a second. The server passes an attack if it answers each of them within --bound, and",
           "answers a new client at most 5 s after the attack."))
