#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_specification [--draft] [FOLDER]: what doc/specification.md says of each row exists.

1. Each row is there once, in the table of its work, with seven cells and a claim of at most 12 words.
2. Its status is allowed, says what is missing, and is counted at the top. Its sources exist. Its proofs are tests of this project, or commands of quintet-bench with
   options that they have. So are proofs that a note below a table names.
3. A row that demands a figure has one, and figures have a date. Nothing is left to measure; with --draft this is only
   told.
"""
import collections
import pathlib
import re
import shlex
import sys

import cpp_outline

PAGE = 'doc/specification.md'
COLUMNS = ['row', 'claim', 'status', 'source', 'proof', 'ours', 'published']
ROWS = [f'{work}.{row}' for work, last in enumerate((22, 18, 12, 13, 16), 1) for row in range(1, last + 1)]
PLANNED = '1.1 1.15 1.16 1.18 1.20'.split()     # shared memory
SIMULATED = '2.9 2.10 2.14 5.8 5.11'.split()    # need hardware or a kernel that is not here
WITH_FIGURE = ('1.7 1.13 1.14 1.15 1.16 1.17 1.18 1.19 1.20 2.1 2.4 2.5 2.8 2.11 2.12 3.1 3.2 3.5 3.7 3.8 3.12 '
               '4.3 4.4 4.6 4.7 4.8 4.9 4.13 5.4 5.6 5.8 5.9 5.15').split()
UNMEASURED = 'TO MEASURE'
MOST_WORDS, MOST_SOURCES, MOST_PROOFS = 12, 2, 3

TESTED = ('base', 'net', 'threadmodels', 'bus', 'examples', 'benchmarks')  # where CMake finds tests by their names
CASE = re.compile(r'BOOST_(AUTO|DATA|FIXTURE)_TEST_CASE(_TEMPLATE)?|QUINTET_(SCENARIO|ENGINE_TEST)')
MACRO = re.compile(r'^((?:BOOST|QUINTET)_\w+)\((\w*)', re.M)
FUNCTION = re.compile(r'^def (\w+)(.*?)(?=^def |\Z)', re.M | re.S)
TOOL = 'quintet-bench '
NOTED = re.compile(rf'\w+_test/|{TOOL}')     # proofs below a table


def cases_of(text):
    """The test cases in a C++ source, each behind its suites."""
    suites = []
    for macro, name in MACRO.findall(text):
        if macro.endswith('_TEST_SUITE'):
            suites.append(name)
        elif macro.endswith('_TEST_SUITE_END'):
            suites.pop()
        elif CASE.fullmatch(macro):
            yield '/'.join([*suites, name])


def program_of(layer, below):
    """The test program that cmake/QuintetTest.cmake makes from a source. `below`: its path in the layer's tests/."""
    if len(below.parts) == 1:
        return f'{layer}_{below.stem}' if below.stem.endswith('_test') else None
    return f'{layer}_{below.parts[0]}_test' if len(below.parts) == 2 and below.parts[0] != 'support' else None


def spans(cell):
    return re.findall(r'`([^`]+)`', cell)


class project:
    """What there is to be named: files, tests, and the commands of quintet-bench."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.cases = {}     # of each test program
        for tests in (path for layer in TESTED for path in (self.root / layer).rglob('tests')):
            for source in tests.rglob('*.cpp'):
                if program := program_of(tests.parent.name, source.relative_to(tests)):
                    self.cases.setdefault(program, set()).update(cases_of(source.read_text()))
        tool = self.root / 'benchmarks'
        python = tool / 'python/quintet_bench'
        shared = FUNCTION.findall((python / 'measuring.py').read_text())
        frame = (python / 'experiment.py').read_text().partition('class Experiment')[2]
        self.options = {}   # of each command: the sources that declare them
        names = re.search(r'^COMMANDS = \((.*?)\)', (python / 'main.py').read_text(), re.M | re.S)
        for name in re.findall(r'"([\w-]+)"', names[1]):
            text = (python / f'commands/{name}.py').read_text()
            if 'Experiment(' in text:       # its frame calls the functions that declare options
                text += frame
            for function, body in shared:   # those that others call come later
                text += body if f'{function}(' in text else ''
            self.options[name] = text
        for source in tool.rglob('*_command.cpp'):
            beside = source.parent.glob('*.cpp') if source.parent != tool else [source]
            for name in re.findall(r'app\.add_subcommand\("(\w+)"', source.read_text()):
                self.options[name] = ''.join(path.read_text() for path in beside)

    def about_command(self, words):
        """What is wrong with a command line of quintet-bench, or None."""
        if words[0] not in self.options:
            return f'quintet-bench has no command {words[0]}'
        for option in (word.split('=')[0] for word in words[1:] if word.startswith('--')):
            if not re.search(rf'"{option}(?![\w-])', self.options[words[0]]):
                return f'quintet-bench {words[0]} has no option {option}'
        return None

    def about_proof(self, text):
        """What is wrong with a proof, or None."""
        if text.startswith(TOOL):
            return self.about_command(shlex.split(text)[1:])
        file, _, name = text.partition('::')
        if text.endswith('.sh') or name:
            if not (self.root / file).is_file():
                return f'there is no {file}'
            missing = name and not re.search(rf'^def {name}\(', (self.root / file).read_text(), re.M)
            return f'{file} has no {name}' if missing else None
        program, _, case = text.partition('/')
        if program not in self.cases:
            return f'there is no test program {program}'
        return None if case in self.cases[program] else f'{program} has no case {case}'


def about_status(row, status):
    kind, _, reason = status.partition(': ')
    if status != 'works' and not (status == 'planned' and row in PLANNED) and not (
            reason and (kind == 'partly' or kind == 'simulated' and row in SIMULATED)):
        yield f'"{status}" is not allowed'


def about_row(cells, known):
    """Yields the cell's name and what is wrong with it."""
    row, claim, status, source, proof, ours, _ = cells
    if not 1 <= len(claim.split()) <= MOST_WORDS:
        yield 'claim', f'must have 1 to {MOST_WORDS} words'
    yield from (('status', text) for text in about_status(row, status))
    least = 0 if status == 'planned' else 1
    sources, proofs = spans(source), spans(proof)
    if not least <= len(sources) <= MOST_SOURCES:
        yield 'source', f'must name {least} to {MOST_SOURCES} files'
    yield from (('source', f'there is no {path}') for path in sources if not (known.root / path).exists())
    if not least <= len(proofs) <= MOST_PROOFS:
        yield 'proof', f'must name {least} to {MOST_PROOFS} tests or commands'
    wrong = [('proof', known.about_proof(text)) for text in proofs]
    wrong += [('ours', known.about_proof(text)) for text in spans(ours) if text.startswith(TOOL)]
    yield from ((name, text) for name, text in wrong if text)
    if not ours and row in WITH_FIGURE and status != 'planned':
        yield 'ours', 'is empty'
    if ours and UNMEASURED not in ours and not re.search(r'20\d\d-\d\d-\d\d', ours):
        yield 'ours', 'has no date'


def rows_of(text):
    """Yields the number of its line, that of its table, and its cells. A row of column names begins a table."""
    table = 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('|'):
            cells = [cell.strip() for cell in re.split(r'(?<!\\)\|', line.strip())[1:-1]]
            if cells[:1] == COLUMNS[:1]:
                table += 1
            if cells == COLUMNS or not set(''.join(cells)) - set('-:'):
                continue
            yield number, table, cells


def complaints(text, known):
    seen = {}
    for number, table, cells in rows_of(text):
        where = f'{PAGE}:{number}: row {cells[0]}'
        if len(cells) != len(COLUMNS) or cells[0] not in ROWS:
            yield f'{where}: {"is unknown" if len(cells) == len(COLUMNS) else f"has {len(cells)} cells, not 7"}'
            continue
        if cells[0] in seen:
            yield f'{where}: is in line {seen[cells[0]]} already'
        if not cells[0].startswith(f'{table}.'):
            yield f'{where}: is in table {table}'
        seen[cells[0]] = number
        yield from (f'{where}, {name}: {wrong}' for name, wrong in about_row(cells, known))
    yield from (f'{PAGE}: row {row} is missing' for row in ROWS if row not in seen)
    notes = [line for line in text.partition('\n|')[2].splitlines() if not line.startswith('|')]
    for proof in (proof for line in notes for proof in spans(line) if NOTED.match(proof)):
        if wrong := known.about_proof(proof):
            yield f'{PAGE}: a note: {wrong}'


def about_counts(text):
    """The page says at its top how many rows have each status."""
    kinds = collections.Counter(cells[2].partition(':')[0] for _, _, cells in rows_of(text) if len(cells) == len(COLUMNS))
    right = f'{kinds["works"]} rows work, {kinds["partly"]} partly, {kinds["simulated"]} are simulated'
    if right not in text.partition('\n|')[0]:
        yield f'{PAGE}: the top must say: {right}'


def unmeasured(text):
    for number, _, cells in rows_of(text):
        yield from (f'{PAGE}:{number}: row {cells[0]}, {name}: {cell}'
                    for name, cell in zip(COLUMNS, cells) if UNMEASURED in cell)


def main(arguments):
    root = cpp_outline.root_of(arguments)
    text = (root / PAGE).read_text()
    left = list(unmeasured(text))
    if '--draft' in arguments:
        for line in left:
            print(f'warning: {line}')
        left = []
    return cpp_outline.report([*complaints(text, project(root)), *about_counts(text), *left])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
