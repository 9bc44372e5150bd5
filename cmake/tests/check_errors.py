#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_errors [FOLDER]: doc/errors.md has each exception that the library throws, and each event that it logs.

1. Each type that a source throws has a row in the section "Exceptions".
2. Each source that throws for a mistake of the program, such as config_error, is linked from a row of that type.
3. Each call of report() and report_of_peer() has a row in the section "A log": its text, and its severity.
4. Each row of the log names a text that a source logs.
"""
import posixpath
import re
import sys

import cpp_outline

PAGE = 'doc/errors.md'
# The program can avoid these: the page says where they come from.
MISTAKES = {'config_error', 'std::invalid_argument', 'std::length_error', 'std::logic_error'}
# Functions that only throw.
THROWERS = {'require': 'config_error', 'require_value': 'config_error',
            'throw_system_error': 'boost::system::system_error'}
ALIASES = {'aborted': 'boost::system::system_error'}
# Text of an event that another function makes.
MADE = {'net/watch/stall_watchdog.cpp': 'has been stalled for', 'net/loop/loop_log.cpp': ' threw an exception: '}
CODE = 'base/error.cpp', 'base/error.hpp', 'net/options/require.hpp'  # define the throwers

THROW = re.compile(r'\bthrow ([\w:]+)\(')
CALL = re.compile(r'\breport(?:_of_peer)?\((?!const |log, event\)|hook, event[),])')
TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')


def code_of(text):
    return re.sub(r'^\s*//.*$', '', text, flags=re.M)


def section(page, title):
    """The rows of a section's tables: number and cells."""
    inside = False
    for number, line in enumerate(page.split('\n'), 1):
        if line.startswith('## '):
            inside = line == f'## {title}'
        if inside and line.startswith('| '):
            yield number, [cell.strip() for cell in line.strip('|').split(' | ')]


def thrown_by(path, text):
    """The types that a source throws."""
    found = {ALIASES.get(name, name) for name in THROW.findall(text)}
    if re.search(r'#include "[.\/\w]*require\.hpp"', text):
        found |= {THROWERS[name] for name in re.findall(r'\b(require|require_value)\(', text)}
    if 'throw_system_error(' in text:
        found.add(THROWERS['throw_system_error'])
    return found


def stem(path):
    return path.rsplit('.', 1)[0]


def complaints_about_exceptions(files, page):
    rows = [(set(re.findall(r'`([\w:]+)`', cells[0])), cells) for _, cells in section(page, 'Exceptions')]
    linked = {(kind, stem(posixpath.normpath(posixpath.join(posixpath.dirname(PAGE), target))))
              for kinds, cells in rows for kind in kinds
              for target in re.findall(r'\]\(([^)#]+)\)', ' '.join(cells))}
    for path, text in files.items():
        if path in CODE:
            continue
        for kind in sorted(thrown_by(path, code_of(text))):
            if not any(kind in kinds for kinds, _ in rows):
                yield f'{path}: throws {kind}, which the table of exceptions in {PAGE} does not have'
            elif kind in MISTAKES and (kind, stem(path)) not in linked:
                yield f'{path}: throws {kind}; no row for it in {PAGE} has a link to this source, or to its header'


def events_of(path, text):
    """Line, text and severities of each event that a source logs."""
    code = code_of(text)
    for call in CALL.finditer(code):
        depth, end = 1, call.end()
        while depth:  # no text of an event has a lone bracket
            depth += {'(': 1, ')': -1}.get(code[end], 0)
            end += 1
        inside = code[call.end():end]
        texts = sorted((t.strip(' ;:()') for t in TEXT.findall(inside)), key=len)
        event = texts[-1] if texts and len(texts[-1]) > 3 else MADE.get(path)
        line = code.count('\n', 0, call.start()) + 1
        yield line, event, set(re.findall(r'severity::(\w+)', inside))


def complaints_about_events(files, page):
    rows = [(number, cells[0].replace('`', ''), cells) for number, cells in section(page, 'A log')
            if '`' in cells[0]]
    logged = set()
    for path, text in files.items():
        for line, event, severities in events_of(path, text):
            if event is None:
                yield f'{path}:{line}: {__file__}: cannot find the text of this event: add it to MADE'
                continue
            logged.add(event)
            found = [cells for _, shown, cells in rows if event in shown]
            if not found:
                yield f'{path}:{line}: logs "{event}", which the table of events in {PAGE} does not have'
            elif severities and not any(severities <= set(cells[1].split(', ')) for cells in found):
                yield f'{path}:{line}: {PAGE} has another severity for "{event}"'
    for number, shown, _ in rows:
        if not any(event in shown for event in logged):
            yield f'{PAGE}:{number}: no source logs this'


def complaints(files, page):
    yield from complaints_about_exceptions(files, page)
    yield from complaints_about_events(files, page)


def main(arguments):
    root = cpp_outline.root_of(arguments)
    files = {str(path): (root / path).read_text() for path in cpp_outline.sources(root)}
    return cpp_outline.report(complaints(files, (root / PAGE).read_text()))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
