# SPDX-License-Identifier: BSL-1.0
"""A child process that is told and watched by lines. It ends with its `with` block."""
import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, Self

from .errors import RunError

PATIENCE_S = 30.0                       # to allocate memory, in addition to the measured time
STARTING_S = 0.1


def probe(program: str, arguments: list[str], duration_s: float) -> dict[str, Any]:
    deadline = time.monotonic() + duration_s + PATIENCE_S
    with Child("the probe", [program, "probe", *arguments, "--duration", f"{duration_s:.3f}"]) as child:
        return dict(json.loads(child.output(deadline)))


@contextlib.contextmanager
def postponed_interrupts() -> Iterator[list[int]]:
    """Ctrl-C only counts within the block, which would leave a process behind. Only the main thread hears of it."""
    counted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield counted
        return
    before = signal.signal(signal.SIGINT, lambda number, _: counted.append(number))
    try:
        yield counted
    finally:
        signal.signal(signal.SIGINT, before)


class Child:
    """Runs a program in a process group of its own, so that Ctrl-C reaches only this program, which ends it."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.name = name
        self._errors = tempfile.TemporaryFile()
        self._buffer = b""
        with postponed_interrupts() as interrupts:
            try:
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                 stderr=self._errors, process_group=0,
                                                 env={**os.environ, **(environment or {})})
            except OSError as error:
                raise RunError(f"cannot start {name}: {command[0]}: {error.strerror}") from error
        assert self._process.stdout
        self._output = self._process.stdout
        if interrupts:
            self.__exit__()
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with postponed_interrupts() as interrupts:
            if self._process.poll() is None:
                self.kill(signal.SIGTERM)
                try:
                    self._process.wait(2)
                except subprocess.TimeoutExpired:
                    self.kill(signal.SIGKILL)
            self._process.wait()
            self._output.close()
            self._errors.close()
        if interrupts:
            raise KeyboardInterrupt

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def errors(self) -> str:
        """All that it has written to standard error."""
        return os.pread(self._errors.fileno(), 1 << 26, 0).decode(errors="replace")

    def ending(self) -> str:
        """Says how it ended, with its last line on standard error."""
        status = self._process.returncode
        how = ("did not end" if status is None else
               f"was ended by signal {-status}" if status < 0 else f"ended with status {status}")
        lines = self.errors().strip().splitlines()
        return f"{how}: {lines[-1]}" if lines else how

    def line(self, deadline: float) -> str | None:
        """Returns the next line of standard output; None at its end. `deadline` is a time.monotonic()."""
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._output], [], [], left)[0]:
                raise RunError(f"{self.name} did not answer in time")
            data = os.read(self._output.fileno(), 65536)
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace")

    def await_line(self, beginning: str, deadline: float) -> str:
        """Returns the rest of the next line that begins so."""
        while (line := self.line(deadline)) is not None:
            if line.startswith(beginning):
                return line[len(beginning):]
        self.wait(deadline)
        raise RunError(f"{self.name} {self.ending()}")

    def output(self, deadline: float) -> str:
        """Returns the lines until its end. Raises RunError unless that is a success."""
        text = "\n".join(iter(lambda: self.line(deadline), None))
        if self.wait(deadline) != 0:
            raise RunError(f"{self.name} {self.ending()}")
        return text

    def wait(self, deadline: float) -> int:
        try:
            return self._process.wait(max(0.01, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise RunError(f"{self.name} did not end in time") from error
