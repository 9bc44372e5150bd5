# SPDX-License-Identifier: BSL-1.0
"""The machine: its CPUs, and what the results say about it."""
import glob
import itertools
import os
import re
import subprocess
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .build import Build
from .errors import RunError, UsageError


def allowed_cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def cpu_text(cpus: list[int]) -> str:
    """[0, 1, 2, 6] is "0-2,6"."""
    spans = [[cpu for _, cpu in span] for _, span in itertools.groupby(enumerate(cpus), lambda pair: pair[1] - pair[0])]
    return ",".join(f"{span[0]}-{span[-1]}" if len(span) > 1 else str(span[0]) for span in spans)


def parse_cpus(text: str) -> list[int]:
    allowed = allowed_cpus()
    found = [re.fullmatch(r"(\d+)(?:-(\d+))?", part) for part in text.split(",")]
    cpus = [cpu for part in found if part for cpu in range(int(part[1]), int(part[2] or part[1]) + 1)]
    if not all(found) or not cpus or not set(cpus) <= set(allowed):
        raise UsageError(f'"{text}" is not a list of CPUs; write 0, 0,1 or 0-1; this process may use {cpu_text(allowed)}')
    return cpus


def read_text(path: str) -> str:
    """Returns the file's text; "" if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def bytes_in(text: str, name: str) -> int:
    """Of a file of /proc that has lines such as "Rss:    12 kB"."""
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    if not found:
        raise RunError(f"the kernel does not tell {name}")
    return int(found[1]) * 1024


def value_in(path: str, key: str) -> str | None:
    found = re.search(rf'^{key}[ \t:="]*(.*?)[ \t"]*$', read_text(path), re.MULTILINE)
    return found[1] if found else None


class CpuTimes(NamedTuple):
    """Of all CPUs together, since the machine started."""
    busy_s: float
    idle_s: float
    softirq_s: float                    # a part of the busy time, as the next one
    stolen_s: float                     # by other guests of the hypervisor


def cpu_times() -> CpuTimes:
    user, nice, system, idle, iowait, irq, softirq, steal = (
        float(field) / os.sysconf("SC_CLK_TCK") for field in read_text("/proc/stat").split()[1:9])
    return CpuTimes(user + nice + system + irq + softirq + steal, idle + iowait, softirq, steal)


def others_share() -> Callable[[], float]:
    """Begins to watch. The function that it returns tells which share of all CPUs other programs have used since then: neither
    this process nor its children that have ended."""
    def seconds() -> tuple[float, float, float]:
        return time.monotonic(), cpu_times().busy_s, sum(os.times()[:4])
    before = seconds()

    def share() -> float:
        wall, busy, ours = (now - then for now, then in zip(seconds(), before))
        return min(1.0, max(0.0, (busy - ours) / (wall * (os.cpu_count() or 1))))
    return share


def topology(root: str = "/sys/devices/system", cpus: list[int] | None = None) -> dict[str, int | None]:
    """Cores and NUMA nodes of the CPUs that this process may use. A virtual machine may hide them; None: not known."""
    cpus = allowed_cpus() if cpus is None else cpus
    cores = {read_text(f"{root}/cpu/cpu{cpu}/topology/thread_siblings_list") for cpu in cpus}
    nodes = {node.rpartition("/")[2] for cpu in cpus for node in glob.glob(f"{root}/cpu/cpu{cpu}/node[0-9]*")}
    return {"physical_cores": None if "" in cores else len(cores), "numa_nodes": len(nodes) or None}


def commit_of(path: str) -> str | None:
    """The commit of the tree that this file is in; "-dirty": with changes. None: it is in no tree."""
    command = ["git", "-C", os.path.dirname(path), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


class Environment:
    """Describes machine and build. Make it before the runs, and call finish() after them."""

    def __init__(self, build: Build) -> None:
        system = os.uname()
        self._about: dict[str, Any] = {
            "cpu_model": value_in("/proc/cpuinfo", "model name"),
            "cores": len(allowed_cpus()), **topology(),
            "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
            "os": value_in("/etc/os-release", "PRETTY_NAME"),
            "kernel": f"{system.sysname} {system.release} {system.machine}",
            "commit": commit_of(os.path.realpath(__file__)),
            "compiler": build.compiler, "flags": build.flags, "boost": build.boost, "allocator": build.allocator,
            "load_average_before": [round(load, 2) for load in os.getloadavg()],
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        self._before = cpu_times()

    def finish(self) -> dict[str, Any]:
        busy, idle, _, stolen = (after - before for after, before in zip(cpu_times(), self._before))
        return {**self._about, "steal_percent": round(stolen / (busy + idle) * 100, 1) if busy + idle > 0 else None}
