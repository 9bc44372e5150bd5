#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_threads: doc/thread_safety.md has each public function with a thread tag, under the tag of its comment.

check_threads.py            compares the table with the public classes, the handler's functions, and hooks in options
check_threads.py --list     the functions and their tags
"""
import pathlib
import re
import sys

import check_surface
import cpp_outline

PAGE, TITLE = 'doc/thread_safety.md', '## Who may call what'
HANDLER = 'net/connection/handler.hpp', 'net/connection/urgent_frames.hpp'
TAG = re.compile(r'\[(any thread|baton|loop|before run)\]')
HOOK = re.compile(r'^  (?:std::function<.*>|\w+_hook|\w+_function) (\w+)\b', re.M)
# Classes that a public class has its functions from, and by which name users know them.
KNOWN_AS = {'server_core': 'server', 'basic_server': 'server', 'client_core': 'client', 'basic_client': 'client',
            'cork_guard': 'connection', 'connection_pool::lease': 'connection_pool'}
# For those who extend the library, as the header says: everything below this comment.
EXTENSIONS = {'event_loop': 'The following functions are for extensions',
              'connection_registry': 'For heartbeat_monitor'}
BACK = {'connection_registry': ('peer_of', 'drain')}  # below that comment, and not for extensions
# Parts of loops, of models and of tests. A line for the class says enough.
WHOLE = {'loop_timers', 'composed_model', 'memory_network', 'simulation', 'manual_clock'}


def is_public(lines, begin, at):
    """Whether line `at` is in a public part of the class that begins at `begin` (both from 1)."""
    head = lines[begin - 1]
    indent = len(head) - len(head.lstrip())
    for line in reversed(lines[begin:at]):
        access = re.match(rf'^ {{{indent + 1}}}(public|protected|private):', line)
        if access:
            return access[1] == 'public'
    return not re.match(r'\s*class\b', head)


def tags_above(lines, at):
    """The tags of the comment before line `at`, which may be that of a group of functions; or none."""
    at -= 2
    while at >= 0 and lines[at].strip() and '///' not in lines[at]:
        at -= 1
    if at < 0 or not lines[at].strip().startswith('///'):
        return set()
    while lines[at - 1].strip().startswith('///'):
        at -= 1
    first = re.match(r'\s*/// ((?:\[[\w ]+\][, ]*(?:or )?)+)', lines[at])
    return set(TAG.findall(first[1])) if first else set()


def functions_of(text, types):
    """Class, function and tags of each public function with a tag."""
    lines = text.split('\n')
    for one in cpp_outline.outline(text).functions:
        owner = one.member_of
        if not owner or one.name == owner.name or one.name.startswith(('~', 'operator')):
            continue
        known = KNOWN_AS.get(owner.full_name(), owner.full_name())
        if known not in types or known in WHOLE or not is_public(lines, owner.line, one.line):
            continue
        begin = next((n for n, line in enumerate(lines, 1) if EXTENSIONS.get(known, '\0') in line), len(lines))
        if one.line > begin and one.name not in BACK.get(known, ()):
            continue
        tags = tags_above(lines, one.line)
        if tags:
            yield known, one.name, tags


def table(page):
    """The tags of each function in the table. Functions have their class, if the cell names one."""
    found = {}
    for line in page[page.index(TITLE):].split('\n'):
        if line.startswith('## ') and line != TITLE:
            break
        if not line.startswith('| '):
            continue
        cells = line.split(' | ')
        owner, tags = 'handler' if cells[0].startswith('| handler') else '', set(TAG.findall(cells[1]))
        for name, colon in re.findall(r'`([\w:~]+)[^`]*`(:?)', cells[0]):
            if colon:
                owner = name
                continue
            if '::' in name:
                owner, name = name.rsplit('::', 1)
            found.setdefault((owner, name), set()).update(tags)
    return found


def public_texts():
    for header in sorted(check_surface.closure(check_surface.public_headers())):
        yield header, pathlib.Path(header).read_text()


def public_types():
    page = pathlib.Path(check_surface.LIST).read_text()
    listed = (check_surface.ROW.match(line) for line in page.split('\n'))
    return {name for row in listed if row for name in re.findall(r'`([^`]+)`', row[4])}


def complaints(texts, types, page):
    written = table(page)
    for header, text in texts:
        for owner, name, tags in functions_of(text, types):
            if (owner, name) not in written:
                yield f'{header}: {owner}::{name} [{", ".join(sorted(tags))}] is not in the table of {PAGE}'
            elif not tags & written[owner, name]:
                yield f'{header}: {owner}::{name} is [{", ".join(sorted(tags))}] here, and not in {PAGE}'
        hooks = HOOK.findall(text) if '/options/' in header or header.endswith('_options.hpp') else []
        if header in HANDLER:
            hooks += re.findall(r'^///   (\w+)\(connection|H::(\w+)\(', text, re.M)
        for name in {one for hook in hooks for one in ([hook] if isinstance(hook, str) else hook) if one}:
            if not any(name == known for _, known in written):
                yield f'{header}: the function {name}, which a program gives, is not in the table of {PAGE}'


def main(arguments):
    texts, types = list(public_texts()), public_types()
    if arguments[:1] == ['--list']:
        for _, text in texts:
            for owner, name, tags in functions_of(text, types):
                print(f'{owner}::{name} {sorted(tags)}')
        return 0
    return cpp_outline.report(complaints(texts, types, pathlib.Path(PAGE).read_text()))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
