# SPDX-License-Identifier: BSL-1.0
"""Finds the command, and turns each failure into one line and an exit status."""
import importlib
import pathlib
import re
import sys

from .build import Build
from .errors import RunError, UsageError
from .options import Parser

# Each is a module of commands/ with ABOUT, an EXPERIMENT, and CLAIMS, the rows of doc/specification.md that it proves.
COMMANDS = ("advise", "compare", "sweep", "peers", "accept", "proxies", "study", "stress", "diff", "contention", "memlat",
            "hash", "allocators", "merging", "moon", "shm", "bus", "scaling", "forecast")
EXAMPLE = "Example: quintet-bench load 127.0.0.1:7007 --workload echo --duration 5"
PACKAGES = {"numpy": "python3-numpy", "jinja2": "python3-jinja2", "simpy": "python3-simpy3"}


def told_of(name: str, what: str) -> str:
    """What a command says of itself. It is not loaded, so this needs no package."""
    source = (pathlib.Path(__file__).parent / "commands" / f"{name}.py").read_text(encoding="utf-8")
    found = re.search(f'^{what} = "(.*)"$', source, re.MULTILINE)
    return found[1] if found else ""


def overview(build: Build) -> str:
    lines = [f"  {name:<12} {about}" for name, about in build.commands.items()]
    lines += [f"  {name:<12} {told_of(name, 'ABOUT')}" for name in COMMANDS]
    lines += [f"  {'list':<12} Prints all experiments, with the rows of doc/specification.md that they prove"]
    return ("Measures Quintet servers: five threading models, several workloads, its own load generator.\n\n"
            "Usage: quintet-bench COMMAND [OPTION]...    quintet-bench COMMAND --help\n\n"
            + "\n".join(lines) + f"\n\n{EXAMPLE}\n")


def run(arguments: list[str], build: Build) -> int:
    if arguments and arguments[0] in ("--help", "-h"):
        print(overview(build), end="")
        return 0
    if arguments == ["list"]:
        for name in COMMANDS:
            print(f"  {name:<12} {told_of(name, 'CLAIMS')}".rstrip())
        return 0
    names = ", ".join((*build.commands, *COMMANDS))
    if not arguments:
        raise UsageError(f"a command is missing; it must be one of: {names}")
    if arguments[0] not in COMMANDS:
        raise UsageError(f'"{arguments[0]}" is not a command; it must be one of: {names}')
    module = importlib.import_module(f".commands.{arguments[0]}", __package__)
    parser = Parser(f"quintet-bench {arguments[0]}", module.ABOUT)
    parser.add_argument("--version", action="version", version=f"quintet-bench {build.version}", help="print the version")
    module.EXPERIMENT.add_options(parser, build)
    return int(module.EXPERIMENT.run(parser.parse_args(arguments[1:]), build))


def main(arguments: list[str]) -> int:
    known = bool(arguments) and arguments[0] in COMMANDS
    name = f"quintet-bench {arguments[0]}" if known else "quintet-bench"
    try:
        return run(arguments, Build.of_environment())
    except UsageError as error:
        text = " ".join(str(error).split()).rstrip(".")
        print(f"{name}: {text} (see {name} --help)", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        package = PACKAGES.get(error.name or "")
        if not package:
            raise
        print(f"{name}: Python has no module {error.name}: apt-get install {package}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # else Python complains about it at exit
    except (RunError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
    return 1
