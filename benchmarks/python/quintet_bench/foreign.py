# SPDX-License-Identifier: BSL-1.0
"""Servers that are independent of quintet-bench: how they start, and their figures over a measured window."""
import collections
import os
import re
import resource
import socket
import time
from typing import Any

from .build import Build
from .errors import RunError, UsageError
from .machine import cpu_times, read_text
from .results import Result

OF_THREADS = {  # figure: pattern in a thread's status, sched or schedstat, and unit
    "voluntary_switches": (r"^voluntary_ctxt_switches:\s*(\d+)", 1.0), "running_us": (r"^(\d+) \d+ \d+$", 1e-3),
    "involuntary_switches": (r"^nonvoluntary_ctxt_switches:\s*(\d+)", 1.0), "run_queue_us": (r"^\d+ (\d+) \d+$", 1e-3),
    "migrations": (r"^se\.nr_migrations\s*:\s*(\d+)", 1.0)}


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


def raise_file_limit() -> int:
    """Allows this process, and the servers that it starts, as many open files as the machine permits, and returns the limit."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def require_files(connections: int) -> None:
    """Raises the limit, and refuses connections for which a server or client lacks descriptors even so."""
    needed, allowed = connections + 100, raise_file_limit()
    if needed > allowed:
        raise UsageError(f"{connections} connections need {needed} open files, and this machine allows {allowed} (ulimit -Hn)")


def sample(pid: int) -> dict[str, Any]:
    """What a process with its children has used until now, and the whole machine. "threads": voluntary switches and CPU
    seconds of each. The keys of OF_THREADS are sums, and absent if the kernel does not tell them."""
    machine = cpu_times()
    received = re.search(r"NET_RX:([\d\s]+)", read_text("/proc/softirqs"))
    used: Any = collections.Counter({
        "wall_s": time.monotonic(), "busy_s": machine.busy_s, "softirq_us": machine.softirq_s * 1e6,
        "net_rx_softirqs": sum(map(int, received[1].split())) if received else 0})
    threads, family = {}, [pid]
    for process in family:              # which grows meanwhile
        fields = [int(field) for field in read_text(f"/proc/{process}/stat").rpartition(")")[2].split()[1:]]
        if not fields:
            raise RunError("the server has ended")
        used.update(cpu_s=time.clock_gettime(~process << 3 | 2),  # the kernel's number of the process's CPU clock
                    user=fields[10], ticks=fields[10] + fields[11], page_faults=fields[6] + fields[8],
                    rss=fields[20] * os.sysconf("SC_PAGE_SIZE"))
        for task in os.listdir(f"/proc/{process}/task"):
            path = f"/proc/{process}/task/{task}/"
            text = "".join(read_text(path + file) for file in ("status", "sched", "schedstat"))
            mine = {key: int(found[1]) * unit for key, (pattern, unit) in OF_THREADS.items()
                    if (found := re.search(pattern, text, re.MULTILINE))}
            used.update(mine)
            threads[task] = mine.get("voluntary_switches", 0), mine.get("running_us", 0) / 1e6
            family += map(int, read_text(path + "children").split())
    return {**used, "cpus": len(os.sched_getaffinity(pid)), "threads": threads}


def spent_between(before: dict[str, Any], after: dict[str, Any]) -> dict[str, float]:
    """Returns the differences of two samples. A thread that has ended takes its counts with it: then those are absent."""
    complete = before["threads"].keys() <= after["threads"].keys()
    return {key: after[key] - before[key] for key in before.keys() & after.keys() - {"threads"}
            if complete or key not in OF_THREADS}


def take_window(result: Result, before: dict[str, Any], after: dict[str, Any], requests: int, duration_s: float,
                client_s: float) -> None:
    """Takes the figures of a window between two samples, in which each of `requests` succeeded. The client used `client_s`."""
    spent = spent_between(before, after)
    all_s = spent["wall_s"] * (os.cpu_count() or 1)
    threads_s = [cpu_s - before["threads"].get(task, (0, 0.0))[1] for task, (_, cpu_s) in after["threads"].items()]
    fractions = {"client_cpu": client_s / duration_s, "machine_softirq": spent["softirq_us"] / 1e6 / all_s,
                 "machine_busy": spent["busy_s"] / all_s, "foreign_cpu": (spent["busy_s"] - spent["cpu_s"] - client_s) / all_s,
                 "server_busy": max(max(threads_s), sum(threads_s) / after["cpus"]) / spent["wall_s"]}
    result |= {f"{name}_fraction": min(1.0, max(0.0, value)) for name, value in fractions.items()}
    cpu_us = spent["cpu_s"] * 1e6 / requests
    result |= {"requests": requests, "failed": 0, "duration_s": duration_s, "requests_per_s": requests / duration_s,
               "client_cpu_us_per_request": client_s * 1e6 / requests, "server_cpu_us_per_request": cpu_us,
               "server_threads": len(threads_s), "server_rss_bytes": after["rss"]}
    if spent["ticks"] >= 20:  # the kernel samples the running thread once a tick: fewer are not significant
        result["server_user_us_per_request"] = cpu_us * spent["user"] / spent["ticks"]
    if "voluntary_switches" in spent:
        switches = spent["voluntary_switches"] + spent["involuntary_switches"]
        result["context_switches_per_request"] = switches / requests
