#!/usr/bin/env python3
"""bare_files.py [--whiteouts FOLDER] LINKED PACKAGE...: the files below /usr that a machine lacks which has only these packages,
with what they depend on: a line for each, relative to /usr. The files in LINKED stay, which `--linked TREE` prints: the
libraries that programs of a build tree are linked with. With --whiteouts it prints nothing: as the upper directory of an overlay over /usr, FOLDER hides the files."""
import os
import pathlib
import re
import stat
import subprocess
import sys

INFO = pathlib.Path('/var/lib/dpkg/info')
FIELDS = '${db:Status-Status}\t${binary:Package}\t${Priority}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\n'
# What programs and scripts look for. Documents and data of hidden packages do not matter.
PLACES = re.compile(r'(bin|sbin|include|lib/(python3[^/]*|[^/]+-linux-gnu[^/]*|cmake|pkgconfig|nginx|systemd)'
                    r'|share/(cmake[^/]*|pkgconfig|nginx))/')
BASE = ('apt', 'debconf')   # of a bare root, besides the required packages


def names_of(relations):
    """The packages of a Depends field; of alternatives all."""
    return re.findall(r'(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]+)', relations)


def installed():
    """By package: dependencies. By name: packages that have it. The packages of every system."""
    depends, providers, base = {}, {}, set()
    text = subprocess.run(['dpkg-query', '-W', '-f', FIELDS], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        status, package, priority, essential, relations, provides = line.split('\t')
        if status != 'installed':
            continue
        depends[package] = names_of(relations)
        for name in [package.partition(':')[0], *names_of(provides)]:
            providers.setdefault(name, []).append(package)
        if essential == 'yes' or priority == 'required' or package.partition(':')[0] in BASE:
            base.add(package)
    return depends, providers, base


def kept_packages(asked):
    depends, providers, base = installed()
    kept, new = set(), [*base, *(package for name in asked for package in providers.get(name, ()))]
    while new:
        package = new.pop()
        if package not in kept:
            kept.add(package)
            new += [one for name in depends[package] for one in providers.get(name, ())]
    return kept, depends.keys() - kept


def paths_of(packages):
    """Two sets, of files and of folders, below /usr, whatever links lead there."""
    real, files, folders = {}, set(), set()
    for package in packages:
        for path in (INFO / f'{package}.list').read_text().splitlines():
            folder, _, name = path.rpartition('/')
            if folder not in real:
                real[folder] = os.path.realpath(folder or '/')
            whole = f'{real[folder]}/{name}'
            if whole.startswith('/usr/') and os.path.lexists(whole):
                is_folder = os.path.isdir(whole) and not os.path.islink(whole)
                (folders if is_folder else files).add(whole.removeprefix('/usr/'))
    return files, folders


def linked_with(tree):
    """The libraries of the programs below the tree, and their names."""
    programs = [path for path in pathlib.Path(tree).rglob('*') if path.is_file() and not path.is_symlink()
                and os.access(path, os.X_OK) and path.suffix in ('', '.so') and path.open('rb').read(4) == b'\x7fELF']
    out = set()
    for first in range(0, len(programs), 50):
        told = subprocess.run(['ldd', *programs[first:first + 50]], capture_output=True, text=True).stdout
        for path in set(re.findall(r'=> (/\S+)', told)):
            out |= {os.path.realpath(path), os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))}
    return sorted(path.removeprefix('/usr/') for path in out)


def folders_above(paths):
    return {str(folder) for path in paths for folder in pathlib.PurePath(path).parents}


def hidden_paths(linked, asked):
    """Files, and instead of all files of a folder the folder: Python would import an empty one."""
    kept, others = kept_packages(asked)
    stay, shared = paths_of(kept)
    stay |= set(pathlib.Path(linked).read_text().split())
    files, folders = paths_of(others)
    shared |= folders_above(stay)
    found = {path for path in files - stay | folders - shared if PLACES.match(path)}
    return sorted(path for path in found if not folders_above([path]) & found)


def main(arguments):
    if arguments[0] == '--linked':
        print('\n'.join(linked_with(arguments[1])))
        return
    folder = pathlib.Path(arguments[1]) if arguments[0] == '--whiteouts' else None
    linked, *asked = arguments[2:] if folder else arguments
    for path in hidden_paths(linked, asked):
        if folder:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            os.mknod(folder / path, stat.S_IFCHR, os.makedev(0, 0))
        else:
            print(path)


if __name__ == '__main__':
    main(sys.argv[1:])
