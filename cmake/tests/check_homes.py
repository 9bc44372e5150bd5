#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_homes [FOLDER]: a member function is defined in the file that its class names.

1. A member function of a class that `name.hpp` declares is defined there, in `name.cpp`, or in one more source of the
   same folder, `name_<topic>.cpp`; a class that a source declares has all of its functions there.
2. A class within another class belongs to the files of that one.
3. A class with more than 12 functions has a header of its own name, or one whose first comment names it.
"""
import collections
import sys

import cpp_outline

SMALL = 12

# Class and source that break rule 1; to be corrected when these files are next divided.
WAIVED = set()


def first_comment(text):
    return text.split('#pragma once')[0]


def is_home(source, header):
    """Whether functions of a class of `header` may be defined in `source`: 0, 1, or 2 for a source with a topic."""
    if source == header or source == header.with_suffix('.cpp'):
        return 1
    is_topic = source.suffix == '.cpp' and source.parent == header.parent and source.stem.startswith(header.stem + '_')
    return 2 if is_topic and header.suffix == '.hpp' else 0


class homes:
    def __init__(self, files, waived):
        """`files`: path and text of each."""
        self.texts = dict(files)
        self.waived, self.unused = waived, set(waived)
        self.declared = collections.defaultdict(set)  # class: files with a class of this name outside of other classes
        self.outlines = {}
        for path, text in self.texts.items():
            try:
                self.outlines[path] = cpp_outline.outline(text)
            except cpp_outline.not_understood as error:
                sys.exit(f'{path}:{error}')
            for found in self.outlines[path].classes:
                if not found.outer:
                    self.declared[found.name.replace('<>', '')].add(path)

    def complaints(self):
        topics = collections.defaultdict(dict)  # class and header: its sources with a topic
        for path, outline in self.outlines.items():
            for found in outline.functions:
                name = next((scope for scope in found.scopes if scope in self.declared), None)
                if not found.defined or not name or found.member_of:
                    continue
                kinds = {header: is_home(path, header) for header in self.declared[name]}
                home = next((header for header, kind in kinds.items() if kind), None)
                where = f'{path}:{found.line}: {found.full_name()}'
                if home and kinds[home] == 2:
                    topics[name, home].setdefault(path, where)
                elif not home and not self.waives(name, path):
                    yield f'{where} is defined neither in {" nor ".join(sorted(map(str, kinds)))}, nor in its source'
        for (name, home), found in topics.items():
            extra = [path for path in sorted(found) if not self.waives(name, path)]
            for path in extra[1:]:
                yield f'{found[path]}: {extra[0]} is the second source of {home} already; there is no third'
        for path, outline in self.outlines.items():
            for found in outline.classes if path.suffix == '.hpp' else []:
                if not found.outer and len(found.functions) > SMALL and found.name != path.stem and not (
                        cpp_outline.names(first_comment(self.texts[path]), found.name)):
                    yield f'{path}:{found.line}: {found.name} has {len(found.functions)} functions; its header bears ' \
                          'its name, or names it in its first comment'
        for name, path in sorted(self.unused):
            yield f'check_homes.py: {path} has nothing of {name} that needs a waiver: remove it'

    def waives(self, name, path):
        self.unused.discard((name, str(path)))
        return (name, str(path)) in self.waived


def main(arguments):
    root = cpp_outline.root_of(arguments)
    files = [(path, (root / path).read_text()) for path in cpp_outline.sources(root)]
    return cpp_outline.report(homes(files, WAIVED).complaints())


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
