# SPDX-License-Identifier: BSL-1.0
"""What the scripts measure of benchmarks/ have in common: their options, tables with bounds, what missed them, the file of all,
and how they watch a server."""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'python'))

from quintet_bench.errors import RunError  # noqa: E402
from quintet_bench.foreign import raise_file_limit, sample  # noqa: E402
from quintet_bench.machine import bytes_in, read_text, value_in  # noqa: E402

PACKAGES = {'pgbench': 'postgresql-contrib', 'psql': 'postgresql-client'}   # of other tools: the same name
PATIENCE_S = 60


class Measured:
    def __init__(self, width, of_figure):
        self._width, self._of_figure = width, of_figure     # characters of a row's name, and of a figure
        self.tables, self.missed = {}, []

    def begin(self, part, heads):
        """A table. `part` names it in the file too."""
        self.tables[part] = {'heads': heads, 'rows': []}
        self._line(part, heads)

    def report(self, what, figures, misses=False):
        """A row of it; `misses`: a bound is not kept."""
        self.missed += [what] if misses else []
        self.tables[next(reversed(self.tables))]['rows'].append([what, *figures, misses])
        self._line(what, figures, '  MISSED' if misses else '')

    def _line(self, what, cells, end=''):
        print(f'{what:<{self._width}} ' + ' '.join(f'{cell:>{self._of_figure}}' for cell in cells) + end, flush=True)

    def end(self, file=None, **more):
        """Writes the file, if there is one, and returns the exit status."""
        if file:
            about = {'date': time.strftime('%Y-%m-%d'), 'cpu': value_in('/proc/cpuinfo', 'model name') or 'unknown',
                     'cpus': os.cpu_count()}
            stored = about | more | {'load_average': os.getloadavg()[0], 'tables': self.tables}
            pathlib.Path(file).write_text(json.dumps(stored, indent=1) + '\n', encoding='utf-8')
        if self.missed:
            print('Missed: ' + '; '.join(self.missed))
        return 1 if self.missed else 0


class Parser(argparse.ArgumentParser):
    """The options of all scripts, and what ends them with status 2."""

    def __init__(self, about, example):
        super().__init__(description=about, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=f'Example: {example}')
        self.add_argument('--json', metavar='FILE', help='also writes the figures, with date and machine')
        self.add_argument('--build', default='build/release', metavar='TREE', help='build tree [%(default)s]')

    def number(self, name, usual, what):
        self.add_argument(f'--{name}', type=int, default=usual, metavar='N', help=f'{what} [%(default)s]')

    def require(self, tools, programs, numbers=()):
        if min(numbers, default=1) < 1:
            self.error('numbers must be at least 1')
        for tool in tools:
            if not shutil.which(tool):
                self.error(f'{tool} is not installed: apt-get install {PACKAGES.get(tool, tool)}')
        for program in programs:
            if not os.access(program, os.X_OK):
                self.error(f'{program} is not built: cmake --preset release; cmake --build --preset release')


def run(main):
    """Ends the script with the status that main() returns, with as many descriptors as the machine allows."""
    raise_file_limit()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except RunError as error:
        sys.exit(str(error))


def ended(server):
    """Ends a child in order, and returns what it has said to standard error."""
    server.kill(signal.SIGTERM)
    server.wait(time.monotonic() + PATIENCE_S)
    return server.errors()


def cpu_ns(pid):
    """The CPU time that a process and its children have used."""
    return sample(pid)['cpu_s'] * 1e9


def memory(pid, name):
    """Bytes of a process, of the kind that the kernel calls so."""
    return bytes_in(read_text(f'/proc/{pid}/smaps_rollup'), name)


def slope(count, few, many):
    """What one more unit adds to the count of a run: its start and its end cancel out."""
    return (count(many) - count(few)) / (many - few)


def calls_in(file):
    """The number of each system call, as `strace -c -o FILE` has counted them."""
    rows = re.findall(r'^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$', read_text(file), re.MULTILINE)
    return collections.Counter({name: int(count) for count, name in rows if name != 'total'})
