#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_packaging: what the packagings repeat of other files is the same there.

1. The macros of base/version.hpp agree, and packaging/vcpkg, RELEASE_NOTES.md and the tests of consumers name this version.
2. The recipe of Conan and the port of vcpkg set options that CMakeLists.txt or a module of cmake/ declares, and the recipe has
   the components of net/CMakeLists.txt.
3. The commands of packaging/Dockerfile are those that scripts/ci/fresh runs in a bare root, in the same folder;
   Dockerfile.postgres compiles by the command of the tutorial.
"""
import json
import pathlib
import re
import sys

failures = []


def read(path):
    return pathlib.Path(path).read_text(encoding='utf-8')


def expect(found, wanted, message):
    if found != wanted:
        failures.append(f'{message}: {found}, and it must be {wanted}')


def first(pattern, text, path):
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        failures.append(f'{path}: nothing matches {pattern}')
    return found.group(1) if found else ''


def check_version():
    path = 'base/version.hpp'
    text = read(path)
    version = first(r'VERSION_STRING "(.*)"', text, path)
    numbers = [first(rf'VERSION_{part} (\d+)$', text, path) for part in ('MAJOR', 'MINOR', 'PATCH')]
    expect(version, '.'.join(numbers), f'{path}: QUINTET_VERSION_STRING')
    path = 'packaging/vcpkg/quintet/vcpkg.json'
    expect(json.loads(read(path))['version'], version, f'{path}: version')
    path = 'RELEASE_NOTES.md'
    expect(first(r'^# Quintet ([0-9.]+): release notes$', read(path), path), version, f'{path}: version')
    for path in ('cmake/tests/consumer/CMakeLists.txt', 'doc/installing.md'):
        found = first(r'find_package\(quintet ([0-9.]+) REQUIRED\)', read(path), path)
        expect(found, '.'.join(numbers[:2]), f'{path}: find_package')


def check_options():
    sources = [read('CMakeLists.txt'), *(read(path) for path in pathlib.Path('cmake').glob('*.cmake'))]
    declared = set(re.findall(r'option\((QUINTET_\w+)', '\n'.join(sources)))
    recipe = read('packaging/conan/conanfile.py')
    listed = first(r'for name in \(("[A-Z", ]+)\)', recipe, 'packaging/conan/conanfile.py')
    used = {f'QUINTET_{name}' for name in re.findall(r'\w+', listed)}
    used |= set(re.findall(r'cache_variables\["(QUINTET_\w+)"\]', recipe))
    used |= set(re.findall(r'QUINTET_\w+', read('packaging/vcpkg/quintet/portfile.cmake')))
    if len(used) < 5:
        failures.append(f'packaging: only {len(used)} options found; is this check out of date?')
    for name in sorted(used - declared):
        failures.append(f'packaging: {name} is not an option of CMakeLists.txt')


def check_components():
    declared = dict(re.findall(r'^set\(symbol_of_(\w+) (\w+)\)$', read('net/CMakeLists.txt'), re.MULTILINE))
    path = 'packaging/conan/conanfile.py'
    found = dict(re.findall(r'"(\w+)": "(_Z\w+)"', read(path)))
    expect(found, declared, f'{path}: components')


def check_dockerfile():
    path, fresh = 'packaging/Dockerfile', read('scripts/ci/fresh')
    text = read(path)
    commands = first(r'^all_commands=\((.*)\)$', fresh, 'scripts/ci/fresh').split()
    expect(re.findall(r'^RUN (.*)$', text, re.MULTILINE), [f'scripts/{name}' for name in commands], f'{path}: commands')
    expect('script=scripts/$command' in fresh, True, 'scripts/ci/fresh runs scripts/$command')
    folder = first(r'--chdir=(\S+)', fresh, 'scripts/ci/fresh')
    expect(first(r'^WORKDIR (.*)$', text, path), folder, f'{path}: WORKDIR')
    expect(first(r'^COPY (.*)$', text, path), f'. {folder}', f'{path}: COPY')
    release, releases = first(r'^ARG RELEASE=(.*)$', text, path), first(r'^all_releases=\((.*)\)$', fresh, 'scripts/ci/fresh')
    expect(release in releases.split(), True, f'{path}: {release} is a release of scripts/ci/fresh')


def check_image():
    command = r'^(?:RUN )?(g\+\+ .*examples/postgres.*\\\n.*-lcrypto)$'
    path, page = 'packaging/Dockerfile.postgres', 'doc/tutorial/7_postgres.md'
    expect(first(command, read(path), path), first(command, read(page), page), f'{path}: the command')


check_version()
check_options()
check_components()
check_dockerfile()
check_image()
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(bool(failures))
