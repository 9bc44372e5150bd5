#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""cpp_outline: the classes and functions of a C++ source, from its tokens alone: no compiler, no includes.

The checks of the project read the whole library with it in about a second; a compiler's view of it takes minutes. It
relies on the project's format (a `&&` between two spaces is the operator), follows the first branch of an #if, and
raises an error where braces do not match, so that it is never silently wrong about what follows.
"""
import pathlib
import re
import sys
from dataclasses import dataclass, field

from cpp_tokens import not_understood, tokens_of

LAYERS = ('base', 'net', 'threadmodels', 'bus')

DECISIONS = {'if', 'for', 'while', 'case', 'catch', '?', '&&', '||', 'and', 'or'}
# Words whose parentheses are no parameter list.
NOT_PARAMETERS = {'alignas', 'decltype', 'explicit', 'noexcept', 'requires', '__attribute__', 'sizeof'}
SPECIFIERS = {'static', 'inline', 'constexpr', 'const', 'mutable', 'extern', 'thread_local', 'constinit'}
CLASS_KEYS = {'class', 'struct', 'union'}
CLOSING = {'(': ')', '[': ']', '{': '}'}


@dataclass
class function:
    name: str  # without scopes
    scopes: list  # the classes (or namespaces) that the definition names before the name
    line: int
    last: int = 0
    complexity: int = 1
    defined: bool = False
    removed: bool = False  # `= default` or `= delete`
    member_of: object = None

    def full_name(self):
        return '::'.join(([self.member_of.full_name()] if self.member_of else self.scopes) + [self.name])

    def lines(self):
        return self.last - self.line + 1


@dataclass
class class_:
    name: str
    line: int
    outer: object = None
    functions: list = field(default_factory=list)  # declared or defined in its body
    flags: int = 0

    def full_name(self):
        return f'{self.outer.full_name()}::{self.name}' if self.outer else self.name


class outline:
    """The classes and functions of one file."""

    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.classes, self.functions = [], []
        self.scope(0, len(self.tokens), None)

    def fail(self, at, why):
        raise not_understood(f'{self.tokens[min(at, len(self.tokens) - 1)].line}: {why}')

    def text(self, at):
        return self.tokens[at].text if at < len(self.tokens) else ''

    def after(self, at):
        """Past the bracket that closes the one at `at`."""
        opened, begin = [], at
        while at < len(self.tokens):
            word = self.text(at)
            if word in CLOSING:
                opened.append(CLOSING[word])
            elif word in (')', ']', '}'):
                if not opened or opened.pop() != word:
                    self.fail(at, f'{word} closes nothing')
                if not opened:
                    return at + 1
            at += 1
        self.fail(begin, f'{self.text(begin)} is never closed')

    def after_angles(self, at):
        """Past the `>` of the `<` at `at`; or `at` where it is a comparison."""
        depth, here = 0, at
        while here < len(self.tokens):
            word = self.text(here)
            if word in ('(', '[', '{'):
                here = self.after(here)
                continue
            if word == '<':
                depth += 1
            elif word == '>':
                depth -= 1
                if depth == 0:
                    return here + 1
            elif word in (';', ')', ']', '}'):
                return at
            here += 1
        return at

    def after_template(self, at):
        """Past template <...>, and past its requires clause as far as that is in brackets or an expression of one."""
        while self.text(at) == 'template':
            at = self.after_angles(at + 1) if self.text(at + 1) == '<' else at + 1
            while self.text(at) == 'requires':
                at = self.after_constraint(at + 1)
        return at

    def after_constraint(self, at):
        while True:
            while self.text(at) == '!':
                at += 1
            if self.text(at) == 'requires':
                at += 1
                at = self.after(at) if self.text(at) == '(' else at
                at = self.after(at)
            elif self.text(at) == '(':
                at = self.after(at)
            else:  # name<...>, with namespaces before it
                while re.match(r'\w|::', self.text(at)):
                    at += 1
                    at = self.after_angles(at) if self.text(at) == '<' else at
                    if self.text(at) != '::' and self.text(at - 1) != '::':
                        break
            if self.text(at) not in ('&&', '||', 'and', 'or'):
                return at
            at += 1

    def scope(self, at, end, inside):
        """Declarations, of a namespace or (`inside`) a class."""
        while at < end:
            word = self.text(at)
            if word == ';':
                at += 1
            elif word in ('public', 'protected', 'private') and self.text(at + 1) == ':':
                at += 2
            else:
                at = self.declaration(at, inside)

    def declaration(self, begin, inside):
        at = self.after_template(begin)
        while self.text(at) == '[' and self.text(at + 1) == '[':
            at = self.after(at)
        word = self.text(at)
        if word in ('using', 'static_assert', 'typedef', 'concept', 'asm') or (
                word == 'friend' and self.text(at + 1) in CLASS_KEYS):
            return self.after_semicolon(at)
        if word == 'inline' and self.text(at + 1) == 'namespace':
            at, word = at + 1, 'namespace'
        if word == 'namespace' or (word == 'extern' and self.text(at + 1) == '""'):
            while self.text(at) not in ('{', ';'):
                at += 1
            if self.text(at) == ';':
                return at + 1
            last = self.after(at)
            if word == 'extern':
                self.scope(at + 1, last - 1, inside)
            else:
                self.scope(at + 1, last - 1, None)
            return last
        return self.entity(begin, at, inside)

    def after_semicolon(self, at):
        while self.text(at) != ';':
            at = self.after(at) if self.text(at) in CLOSING else at + 1
            if at >= len(self.tokens):
                self.fail(at, 'a declaration without an end')
        return at + 1

    def entity(self, begin, at, inside):
        """A class, an enumeration, a function or data."""
        start = at
        while self.text(at) in SPECIFIERS:
            at += 1
        if self.text(at) in CLASS_KEYS or self.text(at) == 'enum':
            defined = self.class_head(at)
            if defined is not None:
                return self.class_body(at, defined, inside)
        return self.function_or_data(begin, start, inside)

    def class_head(self, at):
        """The { of a class that is defined here, not only named; or None."""
        while True:
            word = self.text(at)
            if word == '{':
                return at
            if word in (';', '=', '') or (word == '(' and self.text(at - 1) != 'alignas'):
                return None
            if word == '<':
                past = self.after_angles(at)
                at = past if past > at else at + 1
            elif word in ('(', '['):
                at = self.after(at)
            elif word in ('*', '&'):
                return None
            else:
                at += 1

    def class_body(self, at, brace, inside):
        last = self.after(brace)
        if self.text(at) != 'enum':
            here, name = at + 1, ''
            while here < brace and self.text(here) not in (':', 'final'):
                if self.text(here) in ('[', '('):
                    here = self.after(here)
                    continue
                if self.text(here) == '<':  # a specialisation
                    name += '<>'
                    here = self.after_angles(here)
                    continue
                if self.text(here) != 'alignas':
                    name = self.text(here) if re.match(r'\w', self.text(here)) else name
                here += 1
            if name:
                made = class_(name, self.tokens[at].line, inside)
                self.classes.append(made)
            else:
                made = inside  # members of an unnamed class belong to the class around it
            self.scope(brace + 1, last - 1, made)
        return self.after_semicolon(last)

    def function_or_data(self, begin, start, inside):
        at, made, words = start, None, []
        in_initialisers = False  # of a constructor
        value = False  # after =
        is_data = False
        while True:
            word = self.text(at)
            if word == '':
                self.fail(start, 'a declaration without an end')
            if word == 'operator' and not made and not value:
                at, name = self.after_operator_name(at)
                words.append(name)
                made = self.begin_function(begin, words)
                at = self.after(at)
            elif word == '(':
                has_name = words and re.match(r'\w', words[-1]) and words[-1] not in NOT_PARAMETERS
                if has_name and not made and not is_data:
                    if self.text(at + 1) in ('*', '&'):
                        is_data = True  # a pointer to a function
                    else:
                        made = self.begin_function(begin, words)
                if words and words[-1] in NOT_PARAMETERS:
                    words.pop()
                at = self.after(at)
            elif word == '[':
                at = self.after(at)
            elif word == '<' and not value:
                past = self.after_angles(at)
                words.append('<>')
                if not made and [t.text for t in self.tokens[at - 3:past]] == ['std', '::', 'atomic', '<', 'bool', '>']:
                    words.append('atomic bool')
                at = past if past > at else at + 1
            elif word == 'requires' and made:
                at = self.after_constraint(at + 1)
            elif word == '=':
                value = is_data = True
                if made and not in_initialisers:
                    made.removed = self.text(at + 1) in ('default', 'delete')
                at += 1
            elif word == ':' and not value:
                in_initialisers, is_data = made is not None, made is None
                if is_data:
                    words.append(':' + self.text(at + 1))
                    at += 1
                at += 1
            elif word == '{':
                is_body = made is not None and not value and not (
                    in_initialisers and re.match(r'\w|>', self.text(at - 1)))
                last = self.after(at)
                if is_body:
                    while self.text(last) == 'catch':
                        last = self.after(self.after(last + 1))
                    self.end_function(made, start, at, last, inside)
                    return last
                at = last
            elif word in (';', '}'):
                if made:
                    made.last = self.tokens[at].line
                    self.add(made, inside, words)
                elif inside:
                    inside.flags += flags_of(words)
                return at + 1
            elif word == ',' and not made:
                words.append(',')
                value = is_data = False
                at += 1
            else:
                if not value and not made:
                    words.append(word)
                at += 1

    def after_operator_name(self, at):
        at += 1
        name = 'operator'
        if self.text(at) == '(' and self.text(at + 1) == ')':
            return at + 2, 'operator()'
        while self.text(at) != '(':
            if self.text(at) == '[':
                name += '[]'
                at += 2
            else:
                name += ' ' * bool(re.match(r'\w', self.text(at))) + self.text(at)
                at += 1
        return at, name

    def begin_function(self, begin, words):
        """`words` end with the name; before it come the scopes."""
        left = list(words)
        name, scopes = left.pop(), []
        if left and left[-1] == '~':
            left.pop()
            name = '~' + name
        while len(left) > 1 and left[-1] == '::':
            left.pop()
            if left and left[-1] == '<>':
                left.pop()
            if left and re.match(r'\w', left[-1]):
                scopes.insert(0, left.pop())
        return function(name, scopes, self.tokens[begin].line)

    def end_function(self, made, begin, brace, last, inside):
        made.defined = True
        made.last = self.tokens[last - 1].line
        made.complexity = 1 + sum(t.text in DECISIONS for t in self.tokens[begin:last])
        words = [t.text for t in self.tokens[begin:brace]]
        self.add(made, inside, words)

    def add(self, made, inside, words):
        if 'friend' in words:
            inside = None
        made.member_of = inside
        self.functions.append(made)
        if inside and not made.removed:
            inside.functions.append(made)


def flags_of(words):
    """How many bool members, or fields of one bit, a declaration of data has: `words` are its type and names."""
    if not words or words[0] in ('friend', 'using') or 'static' in words:
        return 0
    count = 0
    of_type = [w for w in words if w not in ('mutable', 'const', 'inline')]
    is_bool = of_type[0] == 'bool' or 'atomic bool' in words or words[-2:-1] in (['atomic_bool'], ['atomic_flag'])
    names = ' '.join(of_type).split(' , ')
    for name in names:
        count += is_bool and '*' not in name and '&' not in name or name.endswith(' :1')
    return count


def sources(root='.', layers=LAYERS, tests=False):
    for layer in layers:
        for path in sorted(pathlib.Path(root, layer).rglob('*.[hc]pp')):
            if tests or 'tests' not in path.relative_to(root).parts:
                yield path.relative_to(root)


def names(text, word):
    return re.search(rf'\b{word}\b', text) is not None


def declares(text, name):
    """Whether `text` has a class, an enumeration, an alias or a concept of this name, or a function that makes one."""
    return re.search(rf'\b(?:class|struct|enum class|using|concept)\s+(?:\[\[\w+\]\]\s+)?{name}\b', text) is not None


def root_of(arguments):
    folders = [argument for argument in arguments if not argument.startswith('--')]
    return pathlib.Path(folders[0] if folders else '.')


def report(complaints):
    """Prints them; the exit status of a check that has them."""
    status = 0
    for complaint in complaints:
        print(complaint, file=sys.stderr)
        status = 1
    return status
