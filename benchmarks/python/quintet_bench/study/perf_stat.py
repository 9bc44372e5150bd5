# SPDX-License-Identifier: BSL-1.0
"""Parses the output of `perf stat`, for people and of -x, and says what is missing and why. It imports nothing of this
package, because benchmarks/perf uses it as a program: perf_stat.py counts|failure FILE."""
from __future__ import annotations

import dataclasses
import pathlib
import re
import sys

ENOUGH = 0.9                            # of the time; below, a scaled count is a guess
VALUE = r"(<not counted>|<not supported>|[\d,]+\.?\d*)"
CSV = re.compile(rf"{VALUE},[^,]*,([A-Za-z][^,]*),\d*,([\d.]*)(?:,.*)?")
LINE = re.compile(rf"\s*{VALUE}\s+(?:msec\s+|ns\s+)?(?!seconds )([A-Za-z]\S*)(?:.*?[(\[]([\d.]+)%[)\]])?.*")
NAME = re.compile(r"(?:(\w+)/)?([\w.-]+)(?:[:/]+([ukhGHIpPSDWe]+))?/?")  # cycles:u, cpu_core/cycles/, cpu_atom/cycles/u
VERSIONS = r"perf not found for kernel (\S+)|(perf_[\d.]+): not found|(linux-perf-[\d.]+) is not installed"


@dataclasses.dataclass(frozen=True)
class Count:
    state: str                          # "counted", "not counted" or "not supported"
    value: float = 0.0                  # as perf scales it: divided by `running`
    running: float = 0.0                # fraction of the time in which the event had a counter
    user_only: bool = False
    parts: dict[str, Count] = dataclasses.field(default_factory=dict)  # by PMU: a hybrid CPU has one for each kind of core


def _total(parts: dict[str, Count]) -> Count:
    """A thread on one kind of core has no time on the other's PMU, and perf scales that away: such counts must be weighed,
    not added (tools/perf/Documentation/intel-hybrid.txt). If the times exceed the whole, they are apart and add up."""
    counted = [part for part in parts.values() if part.state == "counted"]
    if not counted:
        return Count(min(part.state for part in parts.values()), parts=parts)
    time = sum(part.running for part in counted)
    apart = time > 1.01 or time == 0 or len(counted) == 1
    value = sum(part.value for part in counted) if apart else sum(part.value * part.running for part in counted) / time
    return Count("counted", value, min(part.running for part in counted) if apart else time, counted[0].user_only, parts)


def parse(text: str) -> dict[str, Count]:
    """Returns the counts by event, such as "cache-misses", without modifiers and PMU. Skips other lines."""
    events: dict[str, dict[str, Count]] = {}
    for found in filter(None, (CSV.fullmatch(line) or LINE.fullmatch(line) for line in text.splitlines())):
        name = NAME.fullmatch(found[2])
        pmu, event, modifiers = (name[1] or "", name[2], name[3] or "") if name else ("", found[2], "")
        user_only = "u" in modifiers and "k" not in modifiers
        events.setdefault(event, {})[pmu] = (
            Count(found[1].strip("<>"), user_only=user_only) if found[1].startswith("<") else
            Count("counted", float(found[1].replace(",", "")), float(found[3] or 100) / 100, user_only))
    return {event: _total(parts) for event, parts in events.items()}


def _paranoid() -> str:
    path = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    return f"kernel.perf_event_paranoid is {path.read_text().strip() if path.exists() else 'absent'}"


def problems(counts: dict[str, Count]) -> list[str]:
    """Says in a sentence each which events are missing or doubtful, why, and what helps."""
    # It is no problem that the process did not run on one kind of core.
    used = {pmu for count in counts.values() if count.state == "counted" for pmu in count.parts if pmu}

    def events(state: str) -> str:
        return ", ".join(f"{event} of {pmu}" if pmu else event for event, count in counts.items() for pmu, part
                         in count.parts.items() if part.state == state and not (state == "not counted" and pmu in used))
    out = []
    if names := events("not supported"):
        virtual = re.search(r"^flags.*\bhypervisor\b", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        out.append(f"{names}: not supported: " + (
            "this virtual machine is given no such hardware counters; bare metal has them, and virtual machines with a PMU"
            if virtual else "this CPU, or its virtual machine, has no such hardware counters"))
    if names := events("not counted"):
        out.append(f"{names}: not counted: the process did not run, or too briefly, or others held the counters (another "
                   "perf, kernel.nmi_watchdog); count for longer, or fewer events")
    if shared := {event: c.running for event, c in counts.items() if c.state == "counted" and c.running < ENOUGH}:
        out.append(f"{', '.join(shared)}: counted for only {min(shared.values()) * 100:.0f} % of the time, because there are "
                   "more events than counters, and scaled")
    if any(count.user_only for count in counts.values()):
        out.append(f"only user space was counted, not the kernel ({_paranoid()}): as root, or after sysctl "
                   "kernel.perf_event_paranoid=1")
    return out


def failure(text: str) -> str:
    """Turns perf's complaints into one line with the remedy."""
    if found := re.search(VERSIONS, text):
        return (f"this perf is of another kernel version ({found[1] or found[2] or found[3]} is missing): apt-get install "
                "linux-perf (Debian) or linux-tools-$(uname -r) (Ubuntu)")
    if re.search("perf_event_paranoid|ermission|EPERM|not permitted", text):
        return f"perf has no permission ({_paranoid()}): as root, or after sysctl kernel.perf_event_paranoid=-1"
    if re.search("racefs|debugfs|tracepoint", text):
        return "perf cannot read the kernel's tracepoints: as root, with /sys/kernel/tracing mounted"
    first = re.search(r"^\s*(?:Error:\s*)?(\S.*?)\s*$", text, re.MULTILINE)
    return f"perf failed: {first[1] if first else 'without a word'}"


def main(what: str, path: str) -> None:
    text = pathlib.Path(path).read_text(errors="replace")
    counts = parse(text) if what == "counts" else {}
    for event, count in counts.items():
        if len(count.parts) > 1 and count.state == "counted":
            print(f"{event} of all kinds of cores: {count.value:,.0f}")
    print("\n".join(problems(counts)) if counts else failure(text))


if __name__ == "__main__":
    main(*sys.argv[1:])
