#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""run.py BUILD_TREE [--all | --some COUNT | NAME...]: each patch of this folder plants a defect, and a test must find it.

A patch is applied to a copy of its sources. Only these are compiled, and the test that has to find the defect is linked
with them and with the libraries of BUILD_TREE (Ninja, static libraries). All patches must apply; --some chooses COUNT of
them to compile and run, by the newest commit, or by the number in QUINTET_MUTANTS_SEED. Before its first "--- " a patch has
  Class: the kind of defect
  Found by: the test's program within the build tree, and its arguments
  Says: a text of which the failed test prints one (may be repeated)
  Environment: NAME=VALUE (may be repeated)
  Waits: why the test takes long to fail; --some leaves it out
"""
import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LONGEST = 120  # seconds of one test
SKIPPED = 77
AT_ONCE = 8  # tests, which mostly wait
compilers = threading.Semaphore(os.cpu_count())


class Wrong(Exception):
    """What is wrong with a mutant, in words for its author."""


def elsewhere(lines):
    """Where sources that have moved are now."""
    found = [str(path.relative_to(ROOT)) for path in ROOT.glob('*/**/*.cpp') if path.parts[len(ROOT.parts)] != 'build' and
             lines in path.read_text(errors='replace')]
    return f' ({", ".join(found)} has)' if found else ''


class Mutant:
    def __init__(self, path):
        self.name = path.stem
        self.where = path.relative_to(ROOT)
        head, marker, body = path.read_text().partition('--- a/')
        self.fields = {}
        for line in head.splitlines():
            key, _, value = line.partition(': ')
            self.fields.setdefault(key, []).append(value)
        if not marker or any(len(self.fields.get(key, [])) != 1 for key in ('Class', 'Found by')) or 'Says' not in self.fields:
            raise Wrong(f'{self.where}: needs lines "Class: ", "Found by: ", "Says: ", and then a unified diff')
        self.changes = [self.change(part) for part in (marker + body).split('--- a/')[1:]]
        self.program, *self.arguments = shlex.split(self.fields['Found by'][0])

    def change(self, text):
        """The path of a source, and pairs of the lines that it has and those of the mutant."""
        path = text.splitlines()[0].strip()
        hunks = []
        for hunk in re.split(r'^@@.*\n', text, flags=re.M)[1:]:
            lines = [line for line in hunk.splitlines(keepends=True) if line[0] in ' +-']
            hunks.append((''.join(line[1:] for line in lines if line[0] != '+'),
                          ''.join(line[1:] for line in lines if line[0] != '-')))
        if not path.endswith('.cpp') or not hunks:
            raise Wrong(f'{self.where}: {path}: only a .cpp can be replaced, by at least one change')
        return path, hunks

    def sources(self):
        """Yields the path and the changed text of each source. The numbers of lines need not fit."""
        for path, hunks in self.changes:
            text = (ROOT / path).read_text() if (ROOT / path).exists() else ''
            for old, new in hunks:
                if text.count(old) != 1:
                    raise Wrong(f'{self.where} does not apply: {path} has {"more than once" if old in text else "no longer"} '
                                f'these lines{elsewhere(old)}. Plant the same defect in that file as it is now '
                                f'(edit it, take `git diff -U1`, restore it):\n{old}')
                text = text.replace(old, new)
            yield path, text


class Tree:
    """The commands of a build tree."""

    def __init__(self, folder, programs):
        self.folder = pathlib.Path(folder).resolve()
        told = subprocess.run(['ninja', '-C', self.folder, '-t', 'commands', *sorted(programs)], text=True, capture_output=True)
        if told.returncode != 0:
            raise Wrong(f'{folder}: {told.stdout}{told.stderr}')
        self.compile, self.link = {}, {}
        for command in told.stdout.splitlines():
            if source := re.search(rf' -c {re.escape(str(ROOT))}/(\S+\.cpp)$', command):
                if re.search(r'quintet_[a-z]+\.dir/', command):
                    self.compile[source[1]] = command
            elif (output := re.search(r' -o (\S+) ', command)) and output[1] in programs:
                self.link[output[1]] = command

    def run(self, command):
        return subprocess.run(command, shell=True, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def build(self, mutant):
        """The path of the test's program with the defect in it."""
        folder = self.folder / 'mutants' / mutant.name
        folder.mkdir(parents=True, exist_ok=True)
        objects = []
        for path, text in mutant.sources():
            if path not in self.compile:
                raise Wrong(f'{mutant.where}: {mutant.program} is not linked with {path}')
            source = folder / pathlib.Path(path).name
            source.write_text(text)
            objects.append(str(source.with_suffix('.o')))
            command = re.sub(r' -o \S+ -c \S+$', '', re.sub(r' -M[TF] \S+| -MD', '', self.compile[path]))
            done = self.run(f'{command} -iquote {ROOT / pathlib.Path(path).parent} -o {objects[-1]} -c {source}')
            if done.returncode != 0:
                raise Wrong(f'{mutant.where}: {path} does not compile with the defect:\n{done.stdout}')
        program = folder / pathlib.Path(mutant.program).name
        command = re.sub(r' (\S+\.o) ', f' {" ".join(objects)} \\1 ', self.link[mutant.program], count=1)
        done = self.run(command.replace(f' -o {mutant.program} ', f' -o {program} '))
        if done.returncode != 0:
            raise Wrong(f'{mutant.where}: {mutant.program} cannot be linked; is {self.folder.name} built?\n{done.stdout}')
        return program

    def try_one(self, mutant):
        """Returns what the test says of the defect, and whether that is an error of the mutant."""
        try:
            with compilers:
                begun = time.monotonic()
                program = self.build(mutant)
            built = time.monotonic() - begun
            extra = dict(pair.split('=', 1) for pair in mutant.fields.get('Environment', []))
            found = self.look(mutant, program, os.environ | {'QUINTET_STALL_BOUND': '0'} | extra)
            return f'{mutant.name}: found ({built:.1f} s + {time.monotonic() - begun - built:.1f} s): {found}', False
        except Wrong as wrong:
            return str(wrong), True

    @staticmethod
    def look(mutant, program, environment):
        """Returns the line that shows the defect. Ends the test there: its other cases may wait long for what never comes."""
        # A session of its own, because a test may have children.
        test = subprocess.Popen([program, '--color_output=no', *mutant.arguments], env=environment, text=True, errors='replace',
                                cwd=program.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        watch = threading.Timer(LONGEST, kill_session, [test])
        watch.start()
        said = []
        try:
            for line in test.stdout:
                said.append(line)
                if any(text in line for text in mutant.fields['Says']):
                    return line.strip()
            status = test.wait()
        finally:
            is_late = not watch.is_alive()
            watch.cancel()
            kill_session(test)
        if is_late:
            raise Wrong(f'{mutant.where}: {mutant.program} has not ended after {LONGEST} s:\n{"".join(said)[-2000:]}')
        if status in (0, SKIPPED):
            raise Wrong(f'{mutant.where}: {mutant.program} does not find this defect ({mutant.fields["Class"][0]}). Extend the '
                        f'test, or plant the defect elsewhere if {", ".join(path for path, _ in mutant.changes)} has become immune.')
        raise Wrong(f'{mutant.where}: {mutant.program} fails, but for another reason than {mutant.fields["Says"]}:\n'
                    f'{"".join(said)[-2000:]}')


def kill_session(test):
    try:
        os.killpg(test.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    test.wait()


def commit():
    """Returns the commit's hash, or nothing outside of a clone or without git."""
    try:
        return subprocess.run(['git', 'rev-parse', 'HEAD'], cwd=ROOT, text=True, capture_output=True).stdout.strip()
    except FileNotFoundError:
        return ''


def choose(mutants, arguments):
    if not arguments or arguments == ['--all']:
        return mutants
    if arguments[0] != '--some':
        if unknown := set(arguments) - {m.name for m in mutants}:
            raise Wrong(f'no mutant is called {", ".join(sorted(unknown))}; there are: {" ".join(m.name for m in mutants)}')
        return [m for m in mutants if m.name in arguments]
    seed = os.environ.get('QUINTET_MUTANTS_SEED') or commit() or '1'
    quick = [m for m in mutants if 'Waits' not in m.fields]
    chosen = random.Random(seed).sample(quick, min(int(arguments[1]), len(quick)))
    print(f'by QUINTET_MUTANTS_SEED={seed}: {" ".join(m.name for m in chosen)}')
    return chosen


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    mutants, wrong = [], []
    for path in sorted(HERE.glob('*.patch')):
        try:
            mutants.append(Mutant(path))
            list(mutants[-1].sources())
        except Wrong as one:
            wrong.append(str(one))
    try:
        chosen = [] if wrong else choose(mutants, sys.argv[2:])
        tree = Tree(sys.argv[1], {m.program for m in mutants})
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for text, is_wrong in pool.map(tree.try_one, chosen):
                (wrong.append if is_wrong else print)(text)
    except Wrong as one:
        wrong.append(str(one))
    print(*wrong, sep='\n', file=sys.stderr)
    return bool(wrong) or not mutants


if __name__ == '__main__':
    sys.exit(main())
