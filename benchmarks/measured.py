# SPDX-License-Identifier: BSL-1.0
"""What the scripts measure of benchmarks/ have in common: tables with bounds, what missed them, and the file of all."""
import json
import os
import pathlib
import re
import time


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
            cpu = re.search('^model name\\s*: (.*)', pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8'), re.MULTILINE)
            about = {'date': time.strftime('%Y-%m-%d'), 'cpu': cpu[1] if cpu else 'unknown', 'cpus': os.cpu_count()}
            stored = about | more | {'load_average': os.getloadavg()[0], 'tables': self.tables}
            pathlib.Path(file).write_text(json.dumps(stored, indent=1) + '\n', encoding='utf-8')
        if self.missed:
            print('Missed: ' + '; '.join(self.missed))
        return 1 if self.missed else 0
