#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_classes [--list] [FOLDER]: a class declares at most 60 member functions and has at most 12 flags.

Every function in the body of the class counts: overloads, constructors, operators, static ones. Inherited functions do
not, nor do those that are `= default` or `= delete`. A flag is a bool, an atomic bool or a field of one bit. A class
within another is a class of its own, unless it has no name. Local classes of functions are left to check_functions.
--list prints the ten largest.
"""
import sys

import cpp_outline

MOST_FUNCTIONS, MOST_FLAGS = 60, 12

# Class: allowed functions and flags, and the reason.
WAIVED = {
    'connection_facts': (0, 23),  # not states but arguments of next_step(), each a row of the table in doc/design.md
}


def classes_of(root):
    for path in cpp_outline.sources(root):
        try:
            for found in cpp_outline.outline((root / path).read_text()).classes:
                yield path, found
        except cpp_outline.not_understood as error:
            sys.exit(f'{path}:{error}')


def complaints(classes, waived):
    unused = set(waived)
    for path, found in classes:
        functions, flags = waived.get(found.name, (MOST_FUNCTIONS, MOST_FLAGS))
        if len(found.functions) > MOST_FUNCTIONS or found.flags > MOST_FLAGS:
            unused.discard(found.name)
        where = f'{path}:{found.line}: {found.full_name()}'
        if len(found.functions) > functions:
            yield f'{where} declares {len(found.functions)} member functions; a class has at most {functions}'
        if found.flags > flags:
            yield f'{where} has {found.flags} flags; a class has at most {flags}'
    for name in sorted(unused):
        yield f'check_classes.py: {name} keeps within the bounds, or is gone: remove its waiver'


def main(arguments):
    root = cpp_outline.root_of(arguments)
    classes = list(classes_of(root))
    if '--list' in arguments:
        print('functions flags class')
        for path, found in sorted(classes, key=lambda entry: -len(entry[1].functions))[:10]:
            print(f'{len(found.functions):9} {found.flags:5} {found.full_name()}  {path}:{found.line}')
        print()
        for path, found in sorted(classes, key=lambda entry: -entry[1].flags)[:10]:
            print(f'{len(found.functions):9} {found.flags:5} {found.full_name()}  {path}:{found.line}')
    return cpp_outline.report(complaints(classes, WAIVED))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
