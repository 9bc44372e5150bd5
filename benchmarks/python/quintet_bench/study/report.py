# SPDX-License-Identifier: BSL-1.0
"""A study as text and JSON."""
import math
import statistics
from collections.abc import Sequence
from typing import Any

from ..demands import Verdict, at_most, demand
from ..results import Document, Result, Sample, number
from ..table import Format, aligned, placement_text, shape_text
from ..text import grouped, micros, percent, significant

Subject = dict[str, Any]                # what is known of one server, with the keys of the JSON
STATUS, OWN_RUN = "/proc/PID/task/*/status", ", in a run of its own"
CALLS, LOCKS, PROFILE = f"tracepoints{OWN_RUN}", f"perf lock{OWN_RUN}", f"perf record{OWN_RUN}"
FIGURES: tuple[tuple[str, str, int, Format, str], ...] = (  # key, title, for how many requests, format, source
    ("requests_per_s", "requests/s", 1, grouped, "the client"), ("p99_us", "p99", 1, micros, "the client"),
    ("server_cpu_us_per_request", "CPU", 1, micros, "the process's CPU clock"),
    ("syscalls_per_request", "system calls", 1, significant, CALLS),
    ("futex_per_request", "futex calls", 1, significant, CALLS),
    ("voluntary_switches_per_request", "context switches: it waits", 1, significant, STATUS),
    ("involuntary_switches_per_request", "context switches: it must", 1, significant, STATUS),
    ("migrations_per_request", "CPU migrations / 1000", 1000, significant, "/proc/PID/task/*/sched"),
    ("run_queue_us_per_request", "waits for a CPU", 1, micros, "/proc/PID/task/*/schedstat"),
    ("page_faults_per_request", "page faults / 1000", 1000, significant, "/proc/PID/stat"),
    ("net_rx_softirqs_per_request", "NET_RX softirqs", 1, significant, "/proc/softirqs, of the whole machine"),
    ("softirq_us_per_request", "softirq time", 1, micros, "/proc/stat, of the whole machine"),
    ("lock_waits_per_request", "kernel lock waits / 1000", 1000, significant, LOCKS),
    ("lock_wait_us_per_request", "waits for kernel locks", 1, micros, LOCKS),
    ("locks_share", "of the CPU: spin locks, mutexes", 1, percent, PROFILE),
    ("futex_share", "of the CPU: futex", 1, percent, PROFILE),
    ("scheduler_share", "of the CPU: scheduler", 1, percent, PROFILE))
BEFORE, AFTER = "thread_per_connection", ("loop_per_thread", "loop_per_thread_pool")  # what the published change compares
FEW_MISSES = 1000


def cache(references: float, misses: float, source: str, **more: Any) -> dict[str, Any]:
    return {"references": round(references), "misses": round(misses), "rate": number(misses / references) if references else 0,
            "source": source, "cpu_s": None, "elapsed_s": None, "requests": None} | more


PUBLISHED: list[dict[str, Any]] = [
    cache(31_807_891_996, 1_515_770_600, "published: MongoDB", elapsed_s=126.84, server="thread for each connection"),
    cache(35_495_507_358, 1_344_188_577, "published: MongoDB", elapsed_s=99.50, server="reactors on Asio")]


def subject_of(workload: str, server: str, results: Sequence[Result]) -> Subject:
    """From the server's rounds, and the passes with tools that would disturb these."""
    def rounds(key: str) -> list[Any]:
        return [result[key] for result in results if result.get(key) is not None]
    figures = {key: {"median": number(statistics.median(values)), "rounds": list(map(number, values)), "source": source}
               if (values := rounds(key)) else None for key, _, _, _, source in FIGURES}
    caches = rounds("cache")
    return {"workload": workload, "server": server, "figures": figures, "cache_source": caches[0]["source"] if caches else None,
            "caches": caches, "functions": sum(rounds("functions"), []), "locks": sum(rounds("locks"), [])}


def middle_round(s: Subject) -> dict[str, Any]:
    """The round with the median miss rate."""
    return sorted(s["caches"], key=lambda one: float(one["rate"]))[len(s["caches"]) // 2]


def _moves(what: str, ends: Sequence[float], form: Format) -> str:
    verb = "falls" if ends[1] < ends[0] else "rises" if ends[1] > ends[0] else "is the same,"
    return f"{what} {verb} from {form(ends[0])} to {form(ends[1])}"


def changes(subjects: list[Subject]) -> list[Verdict]:
    """The change from the published "before" to each published "after", with its sign, whatever it is."""
    known = {s["server"].partition(" ")[0]: s for s in subjects if s["caches"]}
    out = []
    for pair in [(known[BEFORE], known[model]) for model in AFTER if {BEFORE, model} <= known.keys()]:
        middles = [middle_round(s) for s in pair]
        rates, misses = [m["rate"] for m in middles], [m["misses"] / m["requests"] for m in middles]
        one, two = (Sample(tuple(each["misses"] / each["requests"] for each in s["caches"])) for s in pair)
        doubt = (" (too few to tell)" if min(m["misses"] for m in middles) < FEW_MISSES else
                 " (within the noise)" if len(one.values) > 1 and one.overlaps(two) else "")
        moved = _moves("the number of misses for a request", misses, significant)
        text = (f"From {pair[0]['server']} to {pair[1]['server']} {moved}{doubt}; "
                f"{_moves('the miss rate', rates, rate_text)}.")
        change = Sample(tuple(after / before for before, after in zip(one.values, two.values) if before) or (math.nan,))
        out.append(demand(text, change, at_most(1, "fewer misses, as published"), decided=bool(doubt), rate=list(
            map(number, rates)), misses_per_request=list(map(number, misses)), **{
                "from": pair[0]["server"], "to": pair[1]["server"]}))
    return out


def rate_text(value: float) -> str:
    return f"{value * 100:.3f} %"


def figures_grid(subjects: list[Subject]) -> list[list[str]]:
    out = [["for a request", *(s["server"] for s in subjects), "source"]]
    for key, title, times, form, source in FIGURES:
        figures = [s["figures"].get(key) for s in subjects]
        if any(figures):  # else a line below says why
            out.append([title, *(form(f["median"] * times) if f else "failed" for f in figures), source])
    return out


def caches_grid(subjects: list[Subject]) -> list[list[str]]:
    ours = [middle_round(s) | {"server": s["server"]} for s in subjects if s["caches"]]
    rows = ["last-level cache,references,misses,rate,refs/req,misses/req,diff (pp),source".split(",")]
    for caches in (ours, PUBLISHED):
        rows += [[c["server"], grouped(c["references"]), grouped(c["misses"]), rate_text(c["rate"]),
                  *(significant(c[key] / c["requests"]) if c["requests"] else "-" for key in ("references", "misses")),
                  f"{(c['rate'] - caches[0]['rate']) * 100:+.2f}", c["source"]] for c in caches]
    return rows if ours else []


def _block(title: str, rows: list[list[str]], left: tuple[int, ...]) -> str:
    """A table under a line with its title, if it has one."""
    return "\n" + f"  {title}\n" * bool(title) + aligned(rows, left) if rows else ""


def study_table(document: Document, subjects: list[Subject], not_measured: list[str]) -> str:
    out = "".join(f"{shape_text(first)}{placement_text(first)}\n" for first in document.results[:1])
    out += aligned(figures_grid(subjects), left=(0, len(subjects) + 1))
    out += _block("", caches_grid(subjects), left=(0, 7)) + "".join(f"  {one['sentence']}\n" for one in changes(subjects))
    if changes(subjects):
        published = (_moves("the number of misses", [one["misses"] for one in PUBLISHED], grouped),
                     _moves("the miss rate", [one["rate"] for one in PUBLISHED], rate_text))
        out += f"  Published, from a thread for each connection to reactors on Asio: {'; '.join(published)}.\n"
    for s in subjects:
        out += _block(f"{s['server']}: where its CPU time goes (perf record -e cpu-clock, in a run of its own)", [
            [f"{f['share'] * 100:.1f} %", f["symbol"][:70], "kernel" if f["in_kernel"] else f["object"]]
            for f in s["functions"]], left=(1, 2))
    for s in subjects:
        out += _block(f"{s['server']}: the kernel's locks it waited for (perf lock)", [
            [f"{grouped(w['waits'])} waits", micros(w["wait_us"]), w["type"], w["caller"]] for w in s["locks"]], left=(2, 3))
    return out + ("\nNot measured:\n" + "".join(f"  {line}\n" for line in not_measured) if not_measured else "")
