# SPDX-License-Identifier: BSL-1.0
"""Servers that are independent of quintet-bench: how they start, and their figures over a measured window."""
import os
import re
import resource
import socket
import time
from typing import Any

from .build import Build
from .errors import UsageError
from .machine import read_text
from .results import Result


def pinned(cpus: str, command: list[str]) -> list[str]:
    """Returns a command line that runs `command` on these CPUs and ends it with its parent."""
    return ["taskset", "-c", cpus, "setpriv", "--pdeathsig", "TERM", *command]


def free_port() -> str:
    """Returns a port of 127.0.0.1 that is unused at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return str(listening.getsockname()[1])


def example_program(build: Build, name: str, given: str | None) -> str:
    """Returns the path of an example beside the benchmarks of this build, or `given`."""
    path = given or os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(build.program))), "examples", name)
    if not os.access(path, os.X_OK):
        raise UsageError(f"{name}: {path} does not exist; build the target quintet-example-{name}, or name it with --{name}")
    return path


def require_files(connections: int) -> None:
    """Refuses connections for which a server or client lacks descriptors."""
    needed, allowed = connections + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if needed > allowed:
        raise UsageError(f"{connections} connections need {needed} open files, and this machine allows {allowed} (ulimit -Hn)")


def sample(pid: int) -> dict[str, Any]:
    """What a process and its children have used until now, and the machine's CPU time."""
    ticks = [float(field) / os.sysconf("SC_CLK_TCK") for field in read_text("/proc/stat").split()[1:9]]
    out: dict[str, Any] = {"wall_s": time.monotonic(), "busy_s": sum(ticks) - ticks[3] - ticks[4], "softirq_s": ticks[6],
                           "cpus": len(os.sched_getaffinity(pid)), "cpu_s": 0.0, "user": 0, "ticks": 0, "rss": 0, "threads": {}}
    family = [pid]
    for process in family:              # which grows meanwhile
        out["cpu_s"] += time.clock_gettime(~process << 3 | 2)  # the kernel's number of the process's CPU clock
        user, system = map(int, read_text(f"/proc/{process}/stat").rpartition(")")[2].split()[11:13])
        out["user"], out["ticks"] = out["user"] + user, out["ticks"] + user + system
        out["rss"] += int(read_text(f"/proc/{process}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for task in os.listdir(f"/proc/{process}/task"):
            path = f"/proc/{process}/task/{task}/"
            switches = sum(map(int, re.findall(r"voluntary_ctxt_switches:\s*(\d+)", read_text(path + "status"))))
            out["threads"][task] = switches, int((read_text(path + "schedstat") or "0").split()[0]) / 1e9
            family += map(int, read_text(path + "children").split())
    return out


def take_server_figures(result: Result, before: dict[str, Any], after: dict[str, Any], client_s: float) -> None:
    """Takes the figures of the window between two samples. `client_s`: the client's CPU time in it."""
    wall_s, busy_s, softirq_s, cpu_s, user, ticks = (after[key] - before[key] for key in
                                                     ("wall_s", "busy_s", "softirq_s", "cpu_s", "user", "ticks"))
    all_s, requests = wall_s * (os.cpu_count() or 1), result["requests"]
    rows = [(after["threads"][task], before["threads"].get(task, (0, 0.0))) for task in after["threads"]]
    spent = [now[1] - then[1] for now, then in rows]
    result |= {"server_threads": len(rows), "server_rss_bytes": after["rss"],
               "server_cpu_us_per_request": cpu_s * 1e6 / requests,
               "machine_softirq_fraction": softirq_s / all_s, "machine_busy_fraction": min(1.0, busy_s / all_s),
               "server_busy_fraction": min(1.0, max(max(spent), sum(spent) / after["cpus"]) / wall_s),
               "foreign_cpu_fraction": min(1.0, max(0.0, (busy_s - cpu_s - client_s) / all_s))}
    if ticks >= 20:  # the kernel samples the running thread once a tick: fewer are not significant
        result["server_user_us_per_request"] = cpu_s * 1e6 / requests * user / ticks
    if before["threads"].keys() <= after["threads"].keys():  # a thread that has ended takes its count with it
        result["context_switches_per_request"] = sum(now[0] - then[0] for now, then in rows) / requests
