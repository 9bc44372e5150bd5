#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""cpp_tokens: a C++ source as tokens with their lines, without comments, directives and what strings contain."""
import bisect
import re
from dataclasses import dataclass

TOKEN = re.compile(
    r'''(?P<skip>\s+|//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)")
      | (?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
      | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<op>::|->|&&|\|\||\.\.\.|\[\[|[^\w\s])''', re.X | re.S)


class not_understood(Exception):
    pass


@dataclass
class token:
    text: str
    line: int


def without_directives(text):
    """The lines with directives emptied, and those in all branches of an #if but the first."""
    lines, taken, continued = text.split('\n'), [], False
    for number, line in enumerate(lines):
        word = re.match(r'\s*#\s*(\w*)', line)
        if continued or word:
            if word and not continued:
                if word[1].startswith('if'):
                    taken.append(not re.match(r'\s*#\s*if\s+0\b', line))
                elif word[1] in ('elif', 'else'):
                    taken[-1] = False
                elif word[1] == 'endif':
                    taken.pop()
            continued = line.endswith('\\')
            lines[number] = ''
        elif not all(taken):
            lines[number] = ''
    return '\n'.join(lines)


def tokens_of(text):
    text = without_directives(text)
    starts = [0] + [match.end() for match in re.finditer('\n', text)]
    result, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        line = bisect.bisect_right(starts, at)
        if not match:
            raise not_understood(f'{line}: cannot read {text[at:at + 20]!r}')
        at = match.end()
        if match['skip']:
            continue
        word = '""' if match['raw'] or match['text'] else match[0]
        if word == '&&' and not text[match.start() - 1].isspace():
            word = '&'  # a reference
        result.extend([token('[', line), token('[', line)] if word == '[[' else [token(word, line)])
    return result
