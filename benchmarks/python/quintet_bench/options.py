# SPDX-License-Identifier: BSL-1.0
"""Strict parsing of the command line. Each error says which values are allowed."""
import argparse
import math
import os
import re
from collections.abc import Callable
from typing import Any, NoReturn

from .errors import UsageError

UNITS = {"us": 1e-6, "ms": 1e-3, "min": 60.0, "s": 1.0, "": 1.0}


class Parser(argparse.ArgumentParser):
    """Reports each wrong option as a UsageError."""

    def __init__(self, program: str, about: str) -> None:
        super().__init__(prog=program, description=about, allow_abbrev=False,
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

    def examples(self, *lines: str) -> None:
        self.epilog = ("Example: " if len(lines) == 1 else "Examples:\n  ") + "\n  ".join(lines)


def parse_duration(text: str) -> float:
    """"5", "0.5", "500ms", "200us", "2min"; without a unit seconds. Returns seconds."""
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(us|ms|min|s|)", text)
    if not found or float(found[1]) * UNITS[found[2]] > 1e6:
        raise UsageError(f'"{text}" is not a duration; write 5, 0.5s, 200us, 20ms or 2min')
    return float(found[1]) * UNITS[found[2]]


def run_duration(text: str) -> float:
    value = parse_duration(text)
    if not 0.05 <= value <= 3600:
        raise UsageError(f'"{text}" is out of range; it must be from 50ms to 60min')
    return value


def number_in(low: int, high: int | None = None) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and int(text) >= low and (high is None or int(text) <= high):
            return int(text)
        allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise UsageError(f'"{text}" is not a whole number {allowed}')
    return parse


def real_in(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise UsageError(f'"{text}" is not a number from {low:g} to {high:g}')
        return value
    return parse


def size_in(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        found = re.fullmatch(r"(\d+)([km]?)", text)
        value = int(found[1]) * {"k": 1024, "m": 1024 * 1024, "": 1}[found[2]] if found else -1
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


def parse_range(text: str, most: int = 10_000) -> str:
    """"1..4", or "4" for 4..4. Returns "MIN..MAX"."""
    found = re.fullmatch(r"(\d{1,5})(?:\.\.(\d{1,5}))?", text)
    low = int(found[1]) if found else 0
    high = int(found[2] or found[1]) if found else 0
    if not 1 <= low <= high <= most:
        raise UsageError(f'"{text}" is not a range; write MIN..MAX with 1 <= MIN <= MAX <= {most}, or one number')
    return f"{low}..{high}"


def output_file(path: str) -> str:
    """Checks before the runs that the file can be written after them; "-" is standard output."""
    if path == "-":
        return path
    if not path:
        raise UsageError("the name of the file is empty")
    if os.path.isdir(path):
        raise UsageError(f'"{path}" is a directory')
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(f'cannot create the directory of "{path}"') from error
    special = os.path.exists(path) and not os.path.isfile(path)  # a device or a pipe is not replaced
    if not os.access(path if special else folder, os.W_OK):
        raise UsageError(f'cannot write "{path}": Permission denied')
    return path
