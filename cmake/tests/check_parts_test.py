#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_parts_test: check_parts finds each planted hole in the fence around a connection's parts."""
import pathlib
import shutil
import sys
import tempfile

import check_parts

FOLDER = pathlib.Path('net/connection')
# File, text, and what it becomes.
HOLES = [
    ('connection_flags.hpp', 'friend Part;', 'friend Part;\n  friend class stream;'),
    ('connection_flags.hpp', 'class part_key {', 'class part_key {\n public:'),
    ('connection_context.hpp', ' private:\n  [[nodiscard]] bool has_drained', ' public:\n  [[nodiscard]] bool has_drained'),
    ('connection_context.hpp', 'const connection_loop_flags& loop_flags() const', 'connection_loop_flags& loop_flags()'),
    ('connection_handoff.cpp', 'c.loop_flags(key())', 'c.loop_flags(part_key<connection_input>())'),
    ('connection_migration.cpp', 'c.fail_if', 'c.loop_flags_.input.peer_ended = true; c.fail_if'),
    ('connection_core_steps.cpp', '&connection_handoff::calls', '&connection_baton_flags::output'),
    ('connection_input.hpp', 'class connection_input {', 'class connection_input {\n  friend class connection_core;'),
    ('connection_extras.hpp', '  friend connection_output;', '  friend connection_output;\n  friend connection_core;'),
    ('connection_extras.hpp', '  friend connection_input;', ' public:'),
    ('stream.cpp', '  note_progress(true);', '  const_cast<bool&>(x) = true;'),
    ('connection_output.cpp', 'c.note_changes();', 'c.own_flags().has_changes = true;'),
]


def main():
    failed = [f'without a hole: {said}' for said in check_parts.complaints(FOLDER)]
    for name, before, after in HOLES:
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(FOLDER, copy, dirs_exist_ok=True)
            path = pathlib.Path(copy) / name
            text = path.read_text()
            if before not in text:
                failed.append(f'{name} has no "{before}": plant another hole')
                continue
            path.write_text(text.replace(before, after, 1))
            if not any(said.startswith(name) for said in check_parts.complaints(pathlib.Path(copy))):
                failed.append(f'{name}: "{after}" is not found')
    print('\n'.join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
