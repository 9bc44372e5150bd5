# SPDX-License-Identifier: BSL-1.0
# coverage_table: prints gcovr's summary by folder, and fails below the floor.
# Usage: coverage_table.py SUMMARY FLOOR_OF_LINES FLOOR_OF_BRANCHES [--files]
import collections
import json
import os
import sys

KINDS = ("line", "branch")
NAMES = {"line": "lines", "branch": "branches"}
INCLUDED = "include/quintet/"  # headers are found through links in the build tree


def percent(covered, total):
    return 100.0 * covered / total if total else 100.0


def row(name, counts):
    cells = [f"{name:<36}"]
    for kind in KINDS:
        covered, total = counts[kind]
        cells.append(f"{covered:>6} of {total:>6} {percent(covered, total):>6.1f} %")
    return "  ".join(cells)


def main():
    summary, floors, options = sys.argv[1], [float(text) for text in sys.argv[2:4]], sys.argv[4:]
    with open(summary, encoding="utf-8") as file:
        files = json.load(file)["files"]
    folders = collections.defaultdict(lambda: {kind: [0, 0] for kind in KINDS})
    rows = []
    for entry in files:
        path = entry["filename"].rpartition(INCLUDED)[2]
        counts = {kind: (entry[f"{kind}_covered"], entry[f"{kind}_total"]) for kind in KINDS}
        rows.append((counts["line"][1] - counts["line"][0], path, counts))
        for name in (os.path.dirname(path), "total"):
            for kind in KINDS:
                for i in range(2):
                    folders[name][kind][i] += counts[kind][i]
    total = folders.pop("total")
    print(f"\n{'folder':<36}  {'lines':>25}  {'branches':>25}")
    if "--files" in options:
        for _, name, counts in sorted(rows, key=lambda each: (-each[0], each[1])):
            print(row(name, counts))
    for name in sorted(folders):
        print(row(name, folders[name]))
    print(row("total", total))
    status = 0
    for kind, floor in zip(KINDS, floors):
        reached = percent(*total[kind])
        if reached < floor:
            print(f"coverage: {reached:.1f} % of the {NAMES[kind]} are covered; it must be at least {floor} %", file=sys.stderr)
            status = 1
    return status


sys.exit(main())
