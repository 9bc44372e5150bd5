#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_commands [--list]: the commands that README.md, RELEASE_NOTES.md, doc/ and examples/README.md show have the options that
they name.

A command is a span or a line of code with a command of quintet-bench, a script of scripts/ or a program of examples/. Other tests
run commands; this one finds options that were renamed or removed. check_docs looks for the programs. Decisions are history: they
may name what is no longer there. --list prints what is checked."""
import pathlib
import re
import sys

from check_specification import project

COMMAND = re.compile(r'(?<![\w/.-])(?:sudo )?(?:build/\w+/)?(?:benchmarks/)?'
                     r'(quintet-bench [a-z][\w-]*|scripts/[a-z/-]+[a-z]|examples/(?:tutorial/)?\w+)(?![\w/.*-])([^`|&;#\n]*)')
OPTION = re.compile(r'(?<![\w-])(--[a-z][\w-]*)')
PIECES = re.compile(r'^```(\w*)\n(.*?)^```|`([^`]+)`', re.MULTILINE | re.DOTALL)


def commands(text, bench=()):
    """Yields the line, program and arguments of each command in the code of a page. `bench`: the commands of quintet-bench, which
    the pages of results name without the program."""
    for piece in PIECES.finditer(text):
        language, block, span = piece.groups()
        if block is not None and language not in ('', 'console', 'sh', 'bash'):
            continue
        code = block.replace('\\\n', '  ') if span is None else span.replace('\n', ' ')  # a span may be broken into lines
        line = text.count('\n', 0, piece.start(3 if span else 2)) + 1
        if span and span.split()[:1] and span.split()[0] in bench:
            code = 'quintet-bench ' + code
        for found in COMMAND.finditer(code):
            yield line + code.count('\n', 0, found.start()), found.group(1), found.group(2)


def sources(root, program):
    """Returns the text that must have the options of a script or an example; nothing if there is no such program."""
    if program.startswith('scripts/'):
        path = root / program
        if not path.is_file():
            return ''
        more = (root / 'benchmarks/python').rglob('*.py') if program == 'scripts/compare' else []
        return '\n'.join(file.read_text(encoding='utf-8') for file in [path, *more])
    name = program.rpartition('/')[2]
    files = [*(root / 'examples').glob(f'{name}.cpp'), *(root / 'examples').glob(f'tutorial/{name}.cpp'),
             *(root / 'examples').glob(f'{name}/*.cpp')]
    common = [*(root / 'examples/common').glob('*.[hc]pp'), *(root / 'examples/tutorial').glob('*.hpp')]
    return '\n'.join(file.read_text(encoding='utf-8') for file in files + common) if files else ''


def complaints(pages, root, bench):
    for name, text in sorted(pages.items()):
        for line, program, arguments in commands(text, bench.options):
            options = [option for option in OPTION.findall(arguments) if option not in ('--help', '--version')]
            if program.startswith('quintet-bench '):
                words = [program.split()[1], *options]
                if words[0] in bench.options and (wrong := bench.about_command(words)):
                    yield f'{name}:{line}: {wrong}'
                continue
            source = sources(root, program) if options else ''
            for option in options if source else []:
                if not re.search(rf'{option}(?![\w-])', source):
                    yield f'{name}:{line}: {program} has no option {option}'


def main():
    root = pathlib.Path()
    files = [root / 'README.md', root / 'RELEASE_NOTES.md', root / 'examples/README.md', *root.glob('doc/**/*.md')]
    pages = {path.as_posix(): path.read_text(encoding='utf-8') for path in files if path.parent.name != 'decisions'}
    bench = project(root)
    if '--list' in sys.argv:
        for name, text in sorted(pages.items()):
            for line, program, arguments in commands(text, bench.options):
                print(f'{name}:{line}: {program}{arguments}')
        return 0
    found = list(complaints(pages, root, bench))
    print(*found, sep='\n', file=sys.stderr, end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
