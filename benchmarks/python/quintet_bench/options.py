# SPDX-License-Identifier: BSL-1.0
"""Strict parsing of the command line. Each error says which values are allowed."""
import argparse
import contextlib
import math
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .errors import UsageError

STATUSES = ("Exit status: 0: all demands are met, 1: one is not met, or runs failed; 2: wrong arguments;\n"
            "3: a demand is too noisy to say, and none is missed; 130: Ctrl-C")
UNITS = {"us": 1e-6, "ms": 1e-3, "min": 60.0, "s": 1.0, "": 1.0}


class Parser(argparse.ArgumentParser):
    """Reports each wrong option as a UsageError."""

    def __init__(self, program: str, about: str) -> None:
        super().__init__(prog=program, description=about, allow_abbrev=False, epilog=STATUSES,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    def option(self, name: str, parse: Callable[[str], Any], help_text: str, **more: Any) -> None:
        """Adds an option with a value; the last one given counts. `parse` may raise UsageError."""
        def parse_named(text: str) -> Any:
            try:
                return parse(text)
            except UsageError as error:
                raise UsageError(f"{name}: {error}") from error
        more.setdefault("metavar", "VALUE")
        self.add_argument(name, type=parse_named, help=help_text.replace("%", "%%"), **more)

    def flag(self, name: str, help_text: str) -> None:
        self.add_argument(name, action="store_true", help=help_text.replace("%", "%%"))

    def explain(self, examples: Sequence[str], notes: Sequence[str] = ()) -> None:
        """Puts command lines above the statuses, and above them what a reader of the tables has to know."""
        heading = "Example: " if len(examples) == 1 else "Examples:\n  "
        self.epilog = "\n".join((*notes, heading + "\n  ".join(examples), STATUSES))


def parse_duration(text: str) -> float:
    """"5", "0.5", "500ms", "200us", "2min"; without a unit seconds. Returns seconds."""
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(us|ms|min|s|)", text)
    seconds = float(found[1]) * UNITS[found[2]] if found else math.inf
    if seconds > 1e6:
        raise UsageError(f'"{text}" is not a duration; write 5, 0.5s, 200us, 20ms or 2min')
    return seconds


def duration_in(low: str, high: str) -> Callable[[str], float]:
    def parse(text: str) -> float:
        if not parse_duration(low) <= parse_duration(text) <= parse_duration(high):
            raise UsageError(f'"{text}" is out of range; it must be from {low} to {high}')
        return parse_duration(text)
    return parse


run_duration = duration_in("50ms", "60min")


def number_in(low: int, high: float = math.inf) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and low <= int(text) <= high:
            return int(text)
        allowed = f"of at least {low}" if high == math.inf else f"from {low} to {high}"
        raise UsageError(f'"{text}" is not a whole number {allowed}')
    return parse


def real_in(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        with contextlib.suppress(ValueError):
            if low <= float(text) <= high:
                return float(text)
        raise UsageError(f'"{text}" is not a number from {low:g} to {high:g}')
    return parse


def size_in(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        found = re.fullmatch(r"(\d+)([km]?)", text)
        value = int(found[1]) << {"": 0, "k": 10, "m": 20}[found[2]] if found else -1
        if not low <= value <= high:
            raise UsageError(f'"{text}" is not a number of bytes from {low} to {high}; write 512, 4k or 1m')
        return value
    return parse


def one_of(*names: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in names:
            raise UsageError(f'"{text}" is not allowed; it must be one of: {", ".join(names)}')
        return text
    return parse


def list_of(parse: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """For values separated by commas. Each counts once."""
    return lambda text: list(dict.fromkeys(map(parse, text.split(","))))


def parse_range(text: str, most: int = 10_000) -> str:
    """"1..4", or "4" for 4..4. Returns "MIN..MAX"."""
    found = re.fullmatch(r"(\d{1,5})(?:\.\.(\d{1,5}))?", text)
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high <= most:
        raise UsageError(f'"{text}" is not a range; write MIN..MAX with 1 <= MIN <= MAX <= {most}, or one number')
    return f"{low}..{high}"


def output_file(path: str) -> str:
    """Checks before the runs that the file can be written after them; "-" is standard output. Changes nothing: a wrong path
    must not leave directories behind."""
    folder = os.path.dirname(path) or "."
    if not path or os.path.isdir(path):
        raise UsageError(f'"{path}" is a directory' if path else "the name of the file is empty")
    if path != "-" and not os.path.isdir(folder):
        raise UsageError(f'cannot write "{path}": "{folder}" is not a directory; make it first')
    if path != "-" and not os.access(path if is_special(path) else folder, os.W_OK):
        raise UsageError(f'cannot write "{path}": permission denied')
    return path


def is_special(path: str) -> bool:
    """A device or a pipe, which a new file does not replace."""
    return os.path.exists(path) and not os.path.isfile(path)
