# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench stress`: its options, then scenarios or attacks, lines, JSON and exit status."""
import argparse
import resource
import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from ..build import Build
from ..errors import UsageError
from ..machine import Environment
from ..options import Parser, number_in, one_of, output_file, parse_duration
from ..results import pretty, write_output
from ..stress.attack import ATTACKS, MOST_PEERS, perform as perform_attack
from ..stress.dialect import DIALECTS
from ..stress.findings import Findings
from ..stress.peers import AT_ONCE, resolve
from ..stress.run import Run
from ..stress.scenarios import SCENARIOS, perform

ABOUT = "Tests whether a server still serves others under hostile or very many peers"
OF_SCENARIOS = ("model", "engine", "accept", "loops", "own_descriptors", "rounds", "deadline", "memory", "within", "program")
OF_ATTACKS = ("protocol", "bound", "allow_remote")
OWN_FILES = 200
Test = tuple[str, str, str, str, Callable[[], Findings]]  # name, about, "model" or "server", which one, how to perform it
TEXT = """
With --server no server is started: the attacks go to a running server of any kind. Meanwhile a well-behaved
client sends 50 requests a second. The server passes an attack if it answers each of them within --bound, and
answers a new client at most 5 s after the attack.
Exit status: 0 if the server passes every test, 1 if it fails one, 130 after Ctrl-C.
"""


def duration(text: str) -> float:
    if (value := parse_duration(text)) <= 0:
        raise UsageError(f'"{text}" is out of range; it must be more than 0')
    return value


def add_options(parser: Parser, build: Build) -> None:
    parser.add_argument("scenario", nargs="?", metavar="NAME", help="one of those below, or all")
    for name in ("--model", "--models"):
        parser.option(name, build.model_list, "comma-separated names or numbers (default: all five)", dest="model")
    parser.option("--engine", build.engine, f"I/O engine of the server: {', '.join(build.engines)}")
    parser.option("--accept", one_of(*build.accept), f"accept strategy: {', '.join(build.accept)} (default: main_reactor)")
    parser.option("--loops", number_in(1, 1024), "event loops of models 4 and 5 (default: one for each CPU)")
    parser.flag("--own-descriptors", "give each loop a descriptor table of its own (model 4 with --accept reuse_port)")
    parser.option("--peers", number_in(1, 100_000_000), "number of peers (default: by scenario)")
    parser.option("--rounds", number_in(1, 1000), "how often the peers come and leave (default: 3)")
    parser.option("--window", duration, "how long the good client is measured each time (default: 2; non-readers: 10); with "
                  "--server: length of an attack (default: 3)")
    parser.option("--deadline", duration, "slow-writers: the server's message_timeout (default: 5)")
    parser.option("--memory", number_in(1 << 20), "non-readers: bytes of the server's memory group (default: 512 MiB)")
    parser.option("--within", duration, "time limit of a run (default: about a minute, more for more peers)")
    parser.flag("--quick", "one round with short windows and a tenth of the peers, for a first look")
    parser.option("--json", output_file, "write all figures to this file; -: standard output", metavar="FILE")
    parser.option("--program", str, "path of the quintet-bench that serves (default: this one)", metavar="FILE")
    parser.option("--server", lambda text: (text, resolve(text)), "attack this running server", metavar="HOST:PORT")
    parser.option("--protocol", one_of(*DIALECTS), "of --server: echo (the same bytes come back), resp (Redis), http (GET /) "
                  "(default: echo)")
    parser.option("--bound", duration, "with --server: longest time that a reply may take (default: 1)")
    parser.flag("--allow-remote", "allow a --server that is not on the loopback interface")
    parser.examples("quintet-bench stress resets --model 4 --peers 1000000",
                    "quintet-bench stress idle --model 4 --peers 100000 --loops 6 --accept reuse_port --own-descriptors",
                    "quintet-bench stress --server 127.0.0.1:6379 --protocol resp",
                    "quintet-bench stress non-readers --server 127.0.0.1:7007 --peers 200 --window 10")
    lines = ["Scenarios, and how many peers each has by default:"]
    lines += [f"  {name:<14}{s.about} ({s.peers})" for name, s in SCENARIOS.items()]
    lines += ["Attacks on --server, and how many peers each has by default (default: all attacks):"]
    lines += [f"  {name:<14}peers that {a.about} ({a.peers})" for name, a in ATTACKS.items()]
    parser.epilog = "\n".join(lines) + TEXT + str(parser.epilog)


def complete(s: argparse.Namespace, forbidden: Collection[str], why: str, **defaults: object) -> None:
    for name in forbidden:
        if getattr(s, name):
            raise UsageError(f"--{name.replace('_', '-')} {why}")
    vars(s).update({name: value for name, value in defaults.items() if not getattr(s, name)})


def chosen(text: str, table: Collection[str], kind: str) -> Collection[str]:
    if text != "all" and text not in table:
        raise UsageError(f'"{text}" is not {kind}; it must be one of: {", ".join(table)}, or all')
    return table if text == "all" else [text]


def count_peers(s: argparse.Namespace, name: str, default: int, more_files: int, keeps: bool = True) -> int:
    """Returns the number of peers, if there are descriptors for them."""
    peers: int = s.peers or default // (10 if s.quick else 1)
    needed, most = more_files + peers * keeps, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if needed > most and not (name == "idle" and s.own_descriptors):
        raise UsageError(f"--peers: {peers} peers of {name} need {needed} open files; this machine allows {most} (ulimit -Hn)")
    return peers


def scenario_tests(s: argparse.Namespace, build: Build) -> list[Test]:
    complete(s, OF_ATTACKS, "requires --server", rounds=1 if s.quick else 3, deadline=5, memory=512 << 20, engine="automatic",
             model=build.models, program=build.program)
    if not s.scenario:
        raise UsageError("a scenario is required: its name, or all; or give --server HOST:PORT")
    if s.deadline > 60:
        raise UsageError("--deadline must be at most 1min, because one byte a second completes the message by then")
    s.load_program = build.program
    tests: list[Test] = []
    for name in chosen(s.scenario, SCENARIOS, "a scenario"):
        one = SCENARIOS[name]
        peers = count_peers(s, name, one.peers, OWN_FILES + AT_ONCE, one.keeps_peers)
        for model in s.model:
            if s.accept not in (None, "main_reactor") and not model.startswith("loop_per_thread"):
                raise UsageError(f"--accept: {model} has no loops that accept; --model must be 4, 5 or both")
            planned = Run(s, model, peers, s.window or (1 if s.quick else one.window_s))
            tests.append((name, f"{one.about}, {peers} of them", "model", model, partial(perform, name, planned)))
    return tests


def attack_tests(s: argparse.Namespace) -> list[Test]:
    complete(s, OF_SCENARIOS, "and --server exclude each other", protocol="echo", bound=1, window=2 if s.quick else 3)
    where, s.target = s.server
    s.dialect = DIALECTS[s.protocol]
    names = chosen(s.scenario or "all", ATTACKS, "an attack on --server")
    if not s.target.is_loopback and not s.allow_remote:
        raise UsageError(f"--server: {where} is not a loopback address of this machine; attack another machine only if it is "
                         "yours, with --allow-remote")
    if not 2 * s.bound <= s.window <= 60:
        raise UsageError("--window is out of range; with --server it must be from twice --bound to 1min")
    if (s.peers or 1) > MOST_PEERS:
        raise UsageError(f"--peers is too large; with --server it must be at most {MOST_PEERS}")
    tests: list[Test] = []
    for name in names:
        peers = count_peers(s, name, ATTACKS[name].peers, 100)
        tests.append((name, f"{peers} peers {ATTACKS[name].about}", "server", where,
                      partial(perform_attack, ATTACKS[name], s, peers)))
    return tests


def run(arguments: argparse.Namespace, build: Build) -> int:
    tests = attack_tests(arguments) if arguments.server else scenario_tests(arguments, build)
    most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    machine, results, interrupted, told = Environment(build), list[dict[str, Any]](), False, ""
    try:
        for name, about, what, against, test in tests:
            if name != told:
                print(f"{name}: {about}", file=sys.stderr, flush=True)
            told, found = name, test()
            print(f"{name}, {against}: {'passed' if found.passed else 'FAILED'}\n{found.text()}", end="", flush=True)
            results.append(found.json() | {"scenario": name, what: against})
    except KeyboardInterrupt:
        interrupted = True
    if arguments.json:
        write_output(arguments.json, pretty({"command": "stress", "environment": machine.finish(), "interrupted": interrupted,
                                             "results": results}) + "\n")
    return 130 if interrupted else 0 if all(result["passed"] for result in results) else 1
