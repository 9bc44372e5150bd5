#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_parts [FOLDER]: only a part of a connection writes its flags and what it keeps in the extras.

The compiler refuses other writers: the flags are private, everyone gets them const, and to write needs a part_key, which
only the part can make. This check guards that fence, so that no change makes a hole into it.
"""
import pathlib
import re
import sys

# Part: the beginning of the names of its files, and its bytes of the two words.
PARTS = {
    'connection_core': ('phase', 'core'),
    'connection_handoff': ('handoff', 'handoff'),
    'connection_input': ('input', 'input'),
    'connection_output': ('output', 'output'),
}
# Faces of the coordinator, which may write its flags as it does.
FACES = ('connection_core', 'connection.hpp', 'connection.cpp', 'stream.hpp')
KEY = 'class part_key { friend Part; constexpr part_key() noexcept = default; };'


def code_of(path):
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', path.read_text())
    return re.sub(r'//[^\n]*', '', text)


def is_of(name, part):
    return name.startswith(part + '.') or name.startswith(part + '_')


def access_at(code, at):
    return re.findall(r'\b(public|protected|private)\s*:', code[:at])[-1]


def complaints(folder):
    sources = {path.name: code_of(path) for path in sorted(folder.glob('*.?pp'))}
    flags, context, extras = (sources[f'connection_{name}.hpp'] for name in ('flags', 'context', 'extras'))
    if KEY not in ' '.join(flags.split()):
        yield 'connection_flags.hpp: part_key is not as in check_parts.py; only the part itself may make a key'
    for word in ('loop_flags_', 'baton_flags_'):
        declared = re.search(rf'\bconnection_{word[:-1]} {word};', context)
        if not declared or access_at(context, declared.start()) != 'private':
            yield f'connection_context.hpp: {word} is not private'
        if re.search(rf'(?<!const )\bconnection_{word[:-1]}\s*[&*]', context) or len(re.findall(r'\bauto\s*&', context)) != 2:
            yield f'connection_context.hpp: {word} is given away to be written'
    for name, code in sources.items():
        for word in re.findall(r'\b(?:loop|baton)_flags_\b', code):
            if not name.startswith('connection_context.'):
                yield f'{name}: names {word}: read by {word[:-1]}(), write by the verb of the part'
        for part in re.findall(r'part_key<(connection_\w+)>', code):
            if part not in PARTS or not is_of(name, part):
                yield f'{name}: names the key of {part}'
        for part, (loop, baton) in PARTS.items():
            of_part = rf'(connection_loop_flags::{loop}\b|connection_baton_flags::{baton}\b)'
            if re.search('&' + of_part, code) and name != part + '.hpp':
                yield f'{name}: takes the address of the flags of {part}'
        if 'const_cast' in code:
            yield f'{name}: const_cast'
        if 'own_flags' in code and not name.startswith(FACES):
            yield f'{name}: own_flags() is for the coordinator and its faces'
    for part in list(PARTS)[1:]:
        if re.search(r'\bfriend\b', sources[part + '.hpp'].split(f'class {part} {{')[-1]):
            yield f'{part}.hpp: a part has no friends'
    for side, body in re.findall(r'class (\w+_extras) \{(.*?)\n\};', extras, re.S):
        if re.findall(r'\bfriend (\w+);', body) != ['connection_' + side.split('_')[0]] or 'public' in body:
            yield f'connection_extras.hpp: {side} is for one part alone'


def main(arguments):
    folder = pathlib.Path(arguments[0] if arguments else 'net/connection')
    failed = list(complaints(folder))
    for complaint in failed:
        print(f'{folder}/{complaint}', file=sys.stderr)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
