#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_functions [--list] [FOLDER]: a function has at most 40 lines and a cyclomatic complexity of at most 15.

Lines are counted from the one that the declaration begins on to the closing brace. Complexity is one, and one more for
each if, for, while, case, catch, ?, && and ||; lambdas count where they stand, as for lizard. At most five functions
have more than 12. --list prints the largest.
"""
import sys

import cpp_outline

MOST_LINES, MOST_COMPLEXITY = 40, 15
COMPLEX, MOST_COMPLEX = 12, 5

# File and function: allowed lines and complexity.
WAIVED = {}


def functions_of(root):
    for path in cpp_outline.sources(root):
        try:
            for found in cpp_outline.outline((root / path).read_text()).functions:
                if found.defined:
                    yield path, found
        except cpp_outline.not_understood as error:
            sys.exit(f'{path}:{error}')


def complaints(functions, waived):
    unused, complex_ones = set(waived), 0
    for path, found in functions:
        key = (str(path), found.full_name())
        lines, complexity = waived.get(key, (MOST_LINES, MOST_COMPLEXITY))
        if found.lines() > MOST_LINES or found.complexity > MOST_COMPLEXITY:
            unused.discard(key)
        complex_ones += found.complexity > COMPLEX
        where = f'{path}:{found.line}: {found.full_name()}'
        if found.lines() > lines:
            yield f'{where} has {found.lines()} lines; a function has at most {lines}'
        if found.complexity > complexity:
            yield f'{where} has a cyclomatic complexity of {found.complexity}; a function has at most {complexity}'
    if complex_ones > MOST_COMPLEX:
        yield f'{complex_ones} functions have a complexity above {COMPLEX} (check_functions.py --list), ' \
              f'not {MOST_COMPLEX}'
    for path, name in sorted(unused):
        yield f'check_functions.py: {name} of {path} keeps within the bounds, or is gone: remove its waiver'


def main(arguments):
    functions = list(functions_of(cpp_outline.root_of(arguments)))
    if '--list' in arguments:
        print('complexity lines function')
        for path, found in sorted(functions, key=lambda entry: (-entry[1].complexity, -entry[1].lines())):
            if found.complexity > COMPLEX or found.lines() > MOST_LINES:
                print(f'{found.complexity:10} {found.lines():5} {found.full_name()}  {path}:{found.line}')
    return cpp_outline.report(complaints(functions, WAIVED))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
