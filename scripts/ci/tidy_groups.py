#!/usr/bin/env python3
# tidy_groups: joins sources for clang-tidy, which spends nearly all of its time on the headers that they share.
# Usage: tidy_groups.py BUILD_DIRECTORY OUTPUT_DIRECTORY REGEX
# Writes groups: sources that include several sources that match REGEX and have equal options. Writes their
# compile_commands.json, too. A source whose names collide with those of others stays alone.
import json
import pathlib
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import sched_getaffinity

MOST = 16  # sources in a group


def options_of(entry):
    """The compiler's options, without what names this source and its object."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if re.search(r"\+\+(-\d+)?$", word)) + 1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c"):
            skip = True
        else:
            kept.append(word)
    return tuple(kept)


def text_of(sources):
    return "".join(f'#include "{source}"\n' for source in sources)


def colliding(directory, options, sources):
    """Those whose names are already there, by the errors of a compiler that reads all of them as one."""
    command = ["clang++-19", "-fsyntax-only", "-ferror-limit=0", "-w", *options, "-x", "c++", "-"]
    read = subprocess.run(command, cwd=directory, input=text_of(sources), capture_output=True, text=True, check=False)
    found, line = set(), 0
    for text in read.stderr.splitlines():  # the compiler names the include only when it changes
        if included := re.match(r"In file included from <stdin>:(\d+):", text):
            line = int(included[1])
        elif re.search(r": (fatal )?error: ", text):
            if line == 0:
                sys.exit(f"tidy_groups: {text}")
            found.add(sources[line - 1])
    return sorted(found)


def groups_of(group):
    directory, options, sources = group
    collide = colliding(directory, options, sources) if len(sources) > 1 else []
    if not collide:
        return [group]
    if len(collide) == len(sources):
        return [(directory, options, [source]) for source in sources]
    others = [source for source in sources if source not in collide]
    return groups_of((directory, options, others)) + groups_of((directory, options, collide))


def main():
    build, output, pattern = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), re.compile(sys.argv[3])
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("group_*.cpp"):
        old.unlink()
    how = {}  # for a source that is compiled twice, the shorter command
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if pattern.search(entry["file"]):
            way = (entry["directory"], options_of(entry))
            how[entry["file"]] = min(how.get(entry["file"], way), way, key=lambda one: len(one[1]))
    alike = {}
    for source, way in sorted(how.items()):
        alike.setdefault(way, []).append(source)
    groups = []
    for (directory, options), sources in alike.items():
        groups += [(directory, options, sources[i:i + MOST]) for i in range(0, len(sources), MOST)]
    with ThreadPoolExecutor(len(sched_getaffinity(0))) as pool:
        split = [some for all_of_one in pool.map(groups_of, groups) for some in all_of_one]
    commands = []
    for number, (directory, options, sources) in enumerate(split):
        file = (output / f"group_{number}.cpp").resolve()
        file.write_text(text_of(sources))
        commands.append({"directory": directory, "file": str(file),
                         "command": shlex.join(["clang++-19", *options, "-c", str(file)])})
    (output / "compile_commands.json").write_text(json.dumps(commands, indent=1))
    print(f"    {sum(len(sources) for _, _, sources in split)} sources in {len(split)} groups")


main()
