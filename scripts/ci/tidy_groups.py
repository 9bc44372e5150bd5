#!/usr/bin/env python3
# tidy_groups: joins sources for clang-tidy, which spends nearly all of its time on the headers that they share.
# Usage: tidy_groups.py BUILD_DIRECTORY OUTPUT_DIRECTORY REGEX
# Writes groups: sources that include several sources that match REGEX and have equal options. Writes their
# compile_commands.json, too.
import json
import pathlib
import re
import shlex
import sys

MOST = 48  # sources in a group
IS_PROGRAM = re.compile(r"/examples/(\w+\.cpp$|tutorial/)|/main\.cpp$|/benchmarks/peers/|/tests/|/Unity/")  # declares what it likes
# Sources that declare the same names as others. If clang-tidy reports a redefinition in a group, list one of the two here.
ALONE = ("net/options/advanced_options.cpp", "net/engine/epoll_engine.cpp", "base/encoding/checksum_avx2.cpp",
         "examples/slow_query/query.cpp", "benchmarks/micro/handoff.cpp", "benchmarks/load/shm_client.cpp",
         "benchmarks/probe/two_threads.cpp", "benchmarks/probe/receiver.cpp", "benchmarks/workloads.cpp",
         "benchmarks/serve/serve_command.cpp")


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


def groups_of(directory, options, sources):
    """Groups of at most MOST sources, of about the same size. Programs, and those that are ALONE, have one each."""
    alone = [source for source in sources if any(source.endswith(name) for name in ALONE) or IS_PROGRAM.search(source)]
    others = [source for source in sources if source not in alone]
    count = -(-len(others) // MOST)
    return [(directory, options, group) for group in [[one] for one in alone] + [others[i::count] for i in range(count)]]


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
    groups = [group for (directory, options), sources in alike.items() for group in groups_of(directory, options, sources)]
    commands = []
    for number, (directory, options, sources) in enumerate(groups):
        file = (output / f"group_{number}.cpp").resolve()
        file.write_text(text_of(sources))
        commands.append({"directory": directory, "file": str(file),
                         "command": shlex.join(["clang++-19", *options, "-c", str(file)])})
    (output / "compile_commands.json").write_text(json.dumps(commands, indent=1))
    print(f"    {sum(len(sources) for _, _, sources in groups)} sources in {len(groups)} groups")


main()
