#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_surface: the public headers are those in doc/reference.md, and only what they include is installed.

check_surface.py CMAKE              compares the list with the roots, and with what cmake/QuintetHeaders.cmake installs
check_surface.py --installed DIR    compares with the headers in DIR, <prefix>/include/quintet
check_surface.py --list             the public headers, what each includes, and what none includes
check_surface.py --behind HEADER    how many headers of the library a header includes, all told, and which
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import cpp_outline

MOST_HEADERS, MOST_TYPES, MOST_BEHIND_SERVER = 39, 65, 63  # of these 62, ten are for coroutine handlers
# Today's numbers: lower them with each step towards the limits above.
TYPES_TODAY, BEHIND_SERVER_TODAY = 88, 63
ROOTS = ('base', 'base/framing', 'net', 'threadmodels', 'bus')
LAYERS = ('base/', 'net/', 'threadmodels/', 'bus/')
# The headers that may include Asio. All others must not: Asio costs seconds for each source.
FOR_ASIO = {'net/asio.hpp', 'net/connection_pool.hpp', 'net/client/connection_pool.hpp', 'net/engine/asio_wake_ups.hpp',
            'net/loop/asio.hpp', 'net/loop/asio_guest.hpp', 'net/loop/asio_memory.hpp', 'net/loop/asio_wait.hpp',
            'net/loop/executor.hpp', 'net/asio_stream.hpp', 'net/asio_beast.hpp',
            *(f'net/connection/asio_{part}.hpp' for part in
              ('beast', 'messages', 'offload', 'operation', 'session', 'stream'))}
ASIO = re.compile(r'^\s*#\s*include\s*<boost/asio', re.M)
LIST = 'doc/reference.md'
ROW = re.compile(r'^\| \[([\w/.]+)\]\(\.\./([\w/.]+)\) \| ([^|]+) \| ([^|]*)\|$')


def public_headers():
    return {f'{root}/{path.name}' for root in ROOTS for path in pathlib.Path(root).glob('*.hpp')}


def included(header):
    text = pathlib.Path(header).read_text()
    for path in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
        yield os.path.normpath(os.path.join(os.path.dirname(header), path))


def closure(headers):
    found, unread = set(), list(headers)
    while unread:
        header = unread.pop()
        if header not in found:
            found.add(header)
            unread.extend(included(header))
    return found


def complaints_about_the_list():
    listed, types = {}, set()
    for number, line in enumerate(pathlib.Path(LIST).read_text().split('\n'), 1):
        row = ROW.match(line)
        if not row:
            if line.startswith('| ['):
                yield f'{LIST}:{number}: not a row of header, purpose and types'
            continue
        header, target, _, named = row.groups()
        if header in listed or header != target:
            yield f'{LIST}:{number}: {header} is there twice, or its link leads elsewhere'
        listed[header] = number
        if os.path.exists(header):
            text = ''.join(pathlib.Path(behind).read_text() for behind in closure([header]))
            for name in re.findall(r'`([^`]+)`', named):
                types.add(name)
                if not cpp_outline.declares(text, name):
                    yield f'{LIST}:{number}: nothing that {header} includes declares {name}'
    headers = public_headers()
    for header in sorted(headers - set(listed)):
        yield f'{header}:1: is in a root of the library, so it is public: list it in {LIST}, or move it'
    for header in sorted(set(listed) - headers):
        yield f'{LIST}:{listed[header]}: {header} is not in a root of the library'
    if len(headers) > MOST_HEADERS:
        yield f'{LIST}: {len(headers)} public headers; there are at most {MOST_HEADERS}'
    if len(types) > max(MOST_TYPES, TYPES_TODAY):
        yield f'{LIST}: {len(types)} types; there are at most {max(MOST_TYPES, TYPES_TODAY)}'


def complaints_about_includes():
    behind = len(closure(['threadmodels/server.hpp']))
    for header in pathlib.Path().glob('*/**/*.hpp'):
        if str(header).startswith(LAYERS) and 'tests' not in header.parts and str(header) not in FOR_ASIO:
            by = [behind for behind in closure([str(header)]) if ASIO.search(pathlib.Path(behind).read_text())]
            if by:
                yield f'{header}:1: includes Asio, by way of {by[0]}'
    if behind > MOST_BEHIND_SERVER:
        yield f'threadmodels/server.hpp:1: includes {behind} headers of the library, all told; at most {MOST_BEHIND_SERVER}'


def complaints_about_installed(folder):
    wanted = closure(public_headers())
    found = {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob('*') if path.is_file()}
    for header in sorted(found - wanted):
        yield f'{header}: is installed, and no public header includes it'
    for header in sorted(wanted - found):
        yield f'{header}: is not installed, and a public header includes it'


def install_and_compare(cmake):
    with tempfile.TemporaryDirectory() as work:
        told = [f'-DSOURCE_DIR={os.getcwd()}', f'-DDESTINATION={work}']
        subprocess.run([cmake, *told, '-P', 'cmake/QuintetHeaders.cmake'], check=True, stdout=subprocess.DEVNULL)
        yield from complaints_about_installed(work)


def show(headers):
    for header in sorted(headers):
        print(f'{len(closure([header])):4} {header}')
    everything = {str(path) for path in cpp_outline.sources() if path.suffix == '.hpp'}
    installed = closure(headers)
    inner = sorted(everything - installed)
    print(f'{len(headers)} public headers; {len(installed)} of {len(everything)} headers are installed, not these:')
    print('\n'.join(f'     {header}' for header in inner))


def main(arguments):
    if arguments[:1] == ['--list']:
        show(public_headers())
        return 0
    if arguments[:1] == ['--behind']:
        behind = sorted(closure([arguments[1]]))
        print('\n'.join([f'{len(behind)} headers of the library behind {arguments[1]}, itself included:', *behind]))
        return 0
    if arguments[:1] == ['--installed']:
        return cpp_outline.report(complaints_about_installed(arguments[1]))
    return cpp_outline.report(
        [*complaints_about_the_list(), *complaints_about_includes(), *install_and_compare(arguments[0])])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
