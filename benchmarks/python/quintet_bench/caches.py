# SPDX-License-Identifier: BSL-1.0
"""The data caches of a CPU according to the kernel, and a working set for each of them."""
import glob
import re

from .machine import read_text
from .text import mebibytes


def read_caches(cpu: int, root: str = "/sys/devices/system/cpu") -> list[tuple[int, int]]:
    """Returns level and bytes of each, smallest level first; [] if the kernel lists none."""
    out = []
    for index in glob.glob(f"{root}/cpu{cpu}/cache/index*"):
        kind, level, size = (read_text(f"{index}/{name}").strip() for name in ("type", "level", "size"))
        if kind in ("Data", "Unified") and (found := re.fullmatch(r"(\d+)([KM]?)", size)):
            out.append((int(level), int(found[1]) << {"": 0, "K": 10, "M": 20}[found[2]]))
    return sorted(out)


def working_sets(caches: list[tuple[int, int]], most: int) -> tuple[dict[str, int], list[str]]:
    """Returns bytes by name, and why others are left out: they exceed `most`, or are hardly larger than the cache below.
    A set is half of its cache, to leave room for other data, or a quarter from L3 on, which is shared. DRAM gets four
    times the last cache, at least 64 MiB."""
    wanted = [(f"L{level}", size // (2 if level < 3 else 4)) for level, size in caches]
    below, sets, left_out = [0] + [size for _, size in caches], {}, []
    for (name, size), smaller in zip(wanted + [("DRAM", max(4 * below[-1], 64 << 20))], below):
        if size > most:
            left_out.append(f"{name}: it needs {mebibytes(size)}, and {mebibytes(most)} are available")
        elif size < 2 * smaller:
            left_out.append(f"{name}: it is hardly larger than the cache below it")
        else:
            sets[name] = size
    return sets, left_out
