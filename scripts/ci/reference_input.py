#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""reference_input: what Doxygen reads for the reference; see scripts/ci/reference.

reference_input.py --list     the public headers, and those that define a type of doc/reference.md or a base of one
reference_input.py FILE       a header, or doc/reference.md, as Doxygen shall read it

Doxygen knows one way to document a declaration. The headers have four, and this filter adds a comment for the other three,
in the declaration's line, so that line numbers in warnings stay right:
1. a comment of its own;
2. the comment of the declaration above, if there is no blank line between them: "See size().";
3. a concept, which says what the function must do: "See the concept codec.";
4. its name: a move, and what the compiler or the loop's own classes need (protected functions, friends).
"""
import pathlib
import re
import sys

SCOPE = re.compile(r'(?:template <.*> )?(?:inline )?(?:namespace|class|struct|union|enum(?: class)?)\b[^;()]*\{$')
HEAD = re.compile(r'template <.*>$|requires\b')  # of the declaration that follows
OTHER = re.compile(r'(?:public|protected|private):|[#}]|//|friend (?:class |struct )?[\w:]+;|(?:class|struct) \w+;|static_assert')
STRING = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//.*')
NAME = re.compile(r'((?:operator\W+|~?\w+)\(|\w+(?= = |;|\{))')
MOVE = re.compile(r'(\w+)\(\1&& \w+\)|\w+& operator=\(\w+&& \w+\)')
UNDOCUMENTED = re.compile(r'~\w+\(|= (?:delete|default);')  # Doxygen does not ask for a comment
CONCEPTS = {' parse(bytes': 'codec', ' widened(': 'transparent_codec', ' wrap(': 'wrapping_codec',
            ' operator()(connection&': 'handler', ' on_': 'handler', ' start(event_loop&': 'thread_model',
            ' place(': 'thread_model', ' run(work_item&': 'thread_model', ' stop() noexcept {': 'thread_model',
            ' enum_names<': 'named_enum'}
END = '}  // namespace quintet'  # behind it: specialisations of templates of other namespaces


def headers_to_read():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'cmake/tests'))
    import check_surface
    import check_threads
    headers, names = check_surface.public_headers(), set(check_threads.KNOWN_AS)
    for line in pathlib.Path(check_surface.LIST).read_text().split('\n'):
        row = check_surface.ROW.match(line)
        names.update(re.findall(r'`([^`]+)`', row[4]) if row else ())
    defined = re.compile(r'\b(?:(?:class|struct|enum class)(?: \[\[\w+\]\])? (\w+)\b(?! *;)|(?:concept|using) (\w+) =)')
    return headers | {header for header in check_surface.closure(headers)
                      if any(names & set(found) for found in defined.findall(pathlib.Path(header).read_text()))}


def with_links(page):
    """doc/reference.md with a link for each type instead of each header, and none to other pages, which Doxygen does not read.
    A type that the reference lacks is a warning."""
    page = re.sub(r'\[([^\]]+)\]\((?:\.\./[\w/.]+\.hpp|[\w/.]+\.md(?:#[\w-]+)?)\)', r'\1', page)
    return '\n'.join(re.sub(r'(?<=[|,] )`(\w+)`', rf'\\ref {namespace_of(row)}::\1 "\1"', row) for row in page.split('\n'))


def namespace_of(row):
    """The namespace of the types in a row of doc/reference.md."""
    return 'quintet::testing' if 'simulation.hpp' in row else 'quintet'


def comment_for(text, next_line, above):
    """The comment of a declaration without one of its own."""
    if '///<' in text or next_line.strip().startswith('///<') or UNDOCUMENTED.search(text):
        return ''
    if MOVE.search(text):
        return '/** Moves. */ '
    concept = next((name for call, name in CONCEPTS.items() if call in text), None)
    see = f'the concept {concept}' if concept else above
    return f'/** See {see}. */ ' if see else ''


def filtered(lines):
    above, documented = '', False   # the documented declaration above; a comment precedes
    inside = 0                      # a declaration that has not ended: its open brackets, and 1
    for line, next_line in zip(lines, [*lines[1:], '']):
        text = line.strip()
        code = STRING.sub('', text).strip()
        if inside:
            inside += count(code)
        elif text == END:
            yield line
            return
        elif text.startswith('///'):
            documented = True
        elif HEAD.match(text):
            pass
        elif not text or OTHER.match(text) or SCOPE.match(code):
            above, documented = '', False
            line = '' if text.startswith('friend') else line.replace('protected:', 'private:')
        else:
            if documented:
                name = NAME.search(text)
                above = name[1].replace('(', '()') if name else ''
            else:
                line = comment_for(text, next_line, above) + line
            documented, inside = False, 1 + count(code)
        if inside == 1 and code.endswith((';', '}')):
            inside = 0
        yield line


def count(code):
    return sum(map(code.count, '({[')) - sum(map(code.count, ')}]'))


if __name__ == '__main__':
    if sys.argv[1] == '--list':
        print('\n'.join(sorted(headers_to_read())))
    else:
        text = pathlib.Path(sys.argv[1]).read_text()
        print(with_links(text) if sys.argv[1].endswith('.md') else '\n'.join(filtered(text.split('\n'))))
