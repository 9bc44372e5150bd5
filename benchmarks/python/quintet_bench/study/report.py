# SPDX-License-Identifier: BSL-1.0
"""A study as text and JSON. A subject, what is known of one server, is a dict with the keys of the JSON."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..results import Document, Sample, number, read_json
from ..statistics import ratio_interval
from ..table import placement_text, shape_text
from ..text import grouped, micros, percent, significant

Subject = dict[str, Any]                # "figures": by key a list with a value for each round
STATUS, OWN_RUN = "/proc/PID/task/*/status", ", in a run of its own"
CALLS, LOCKS = f"tracepoints or strace{OWN_RUN}", f"perf lock{OWN_RUN}"
Format = Callable[[float], str]
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
    ("lock_wait_us_per_request", "waits for kernel locks", 1, micros, LOCKS))
BEFORE, AFTER = "thread_per_connection", ("loop_per_thread", "loop_per_thread_pool")  # what the published change compares
FEW_MISSES = 1000


def cache(references: float, misses: float, **more: Any) -> dict[str, Any]:
    return {"references": round(references), "misses": round(misses), "rate": number(misses / references) if references else 0,
            "cpu_s": None, "elapsed_s": None, "requests": None} | more


PUBLISHED: list[dict[str, Any]] = [
    cache(31_807_891_996, 1_515_770_600, elapsed_s=126.84, server="thread for each connection", source="published: MongoDB"),
    cache(35_495_507_358, 1_344_188_577, elapsed_s=99.50, server="reactors on Asio", source="published: MongoDB")]


def new_subject(workload: str, server: str) -> Subject:
    return {"workload": workload, "server": server, "figures": {}, "cache_source": None, "caches": [], "functions": [],
            "locks": []}


def _middle(s: Subject) -> dict[str, Any] | None:
    """The round with the median miss rate."""
    rounds = sorted(s["caches"], key=lambda one: one["rate"])
    return rounds[len(rounds) // 2] if rounds else None


def _moves(what: str, ends: Sequence[float], form: Format) -> str:
    verb = "falls" if ends[1] < ends[0] else "rises" if ends[1] > ends[0] else "is the same,"
    return f"{what} {verb} from {form(ends[0])} to {form(ends[1])}"


def changes(subjects: list[Subject]) -> list[dict[str, Any]]:
    """The change from the published "before" to each published "after", with its sign, whatever it is."""
    known = {s["server"].partition(" ")[0]: s for s in subjects if s["caches"]}
    out = []
    for pair in [(known[BEFORE], known[model]) for model in AFTER if {BEFORE, model} <= known.keys()]:
        middles = [middle for s in pair if (middle := _middle(s))]
        rates, misses = [m["rate"] for m in middles], [m["misses"] / m["requests"] for m in middles]
        one, two = (Sample(tuple(each["rate"] for each in s["caches"])) for s in pair)
        doubt = (" (too few misses for a rate)" if min(m["misses"] for m in middles) < FEW_MISSES else
                 " (within the noise)" if len(one.values) > 1 and one.overlaps(two) else "")
        out.append({"from": pair[0]["server"], "to": pair[1]["server"], "rate": list(map(number, rates)),
                    "misses_per_request": list(map(number, misses)), "sentence":
                    f"From {pair[0]['server']} to {pair[1]['server']} {_moves('the miss rate', rates, _rate)}{doubt}; "
                    f"{_moves('the number of misses for a request', misses, significant)}."})
    return out


def _rate(value: float) -> str:
    return f"{value * 100:.3f} %"


def _figure_rows(subjects: list[Subject]) -> str:
    out = f"  {'for a request':<28}" + "".join(f"{s['server']:>22}" for s in subjects) + "  source\n"
    for key, title, times, form, source in FIGURES:
        columns = [s["figures"].get(key) for s in subjects]
        if any(columns):  # else a line below says why
            cells = "".join(f"{form(Sample(tuple(c)).median * times) if c else 'failed':>22}" for c in columns)
            out += f"  {title:<28}{cells}  {source}\n"
    return out


def _cache_row(name: str, source: str, c: dict[str, Any], first: float) -> str:
    cpu, elapsed = (f"{c[key]:.2f}" if c[key] else "-" for key in ("cpu_s", "elapsed_s"))
    each = [significant(c[key] / c["requests"]) if c["requests"] else "-" for key in ("references", "misses")]
    return (f"  {name:<30}{grouped(c['references']):>17}{grouped(c['misses']):>16}{_rate(c['rate']):>12}{cpu:>9}{elapsed:>11}"
            f"{each[0]:>11}{each[1]:>13}{(c['rate'] - first) * 100:>+11.2f}  {source}\n")


def _cache_rows(subjects: list[Subject], earlier: list[Subject]) -> str:
    rows = [(s["server"] + suffix, s["cache_source"], middle) for group, suffix in ((earlier, ", before"), (subjects, ""))
            for s in group if (middle := _middle(s))]
    if not rows:
        return ""
    out = (f"\n  {'last-level cache':<30}{'references':>17}{'misses':>16}{'rate':>12}{'CPU s':>9}{'elapsed s':>11}"
           f"{'refs/req':>11}{'misses/req':>13}{'diff (pp)':>11}  source\n")
    for name, source, c in rows:
        out += _cache_row(name, source, c, rows[0][2]["rate"])
    for p in PUBLISHED:
        out += _cache_row(p["server"], p["source"], p, PUBLISHED[0]["rate"])
    told = [change["sentence"] for change in changes(subjects)]
    published = _moves("the miss rate", [p["rate"] for p in PUBLISHED], _rate)
    told += [f"Published, from a thread for each connection to reactors on Asio: {published}."] if told else []
    return out + "".join(f"  {sentence}\n" for sentence in told)


def _against(now: Subject, then: Subject) -> str:
    out = f"\n  {now['server']:<40}{'before':>14}{'after':>14}{'ratio':>9}{'interval':>20}\n"
    for key, title, times, form, _ in FIGURES:
        before, after = then["figures"].get(key), now["figures"].get(key)
        if before and after:
            texts = [form(Sample(tuple(values)).median * times) for values in (before, after)]
            r = ratio_interval(after, before)
            interval = f"{r.ratio:>9.3f}{r.low:>9.3f} to {r.high:.3f} ({percent(r.confidence)})" if r else f"{'-':>9}"
            out += f"  {title:<38}{texts[0]:>14}{texts[1]:>14}{interval}\n"
    return out


def study_table(document: Document, subjects: list[Subject], not_measured: list[str], earlier: list[Subject]) -> str:
    out = "".join(f"{shape_text(first)}{placement_text(first)}\n" for first in document.results[:1])
    out += _figure_rows(subjects) + _cache_rows(subjects, earlier) + "".join(
        _against(now, then) for then in earlier for now in subjects
        if (now["server"], now["workload"]) == (then["server"], then["workload"]))
    for s in filter(lambda s: s["functions"], subjects):
        out += f"\n  {s['server']}: where its CPU time goes (perf record -e cpu-clock, in a run of its own)\n" + "".join(
            f"  {f['share'] * 100:>7.1f} %  {f['symbol']:<70.70} {'kernel' if f['in_kernel'] else f['object']}\n"
            for f in s["functions"])
    for s in filter(lambda s: s["locks"], subjects):
        out += f"\n  {s['server']}: the kernel's locks it waited for (perf lock)\n" + "".join(
            f"  {grouped(w['waits']):>9} waits{micros(w['wait_us']):>12}  {w['type']:<10}{w['caller']}\n" for w in s["locks"])
    return out + ("\nNot measured:\n" + "".join(f"  {line}\n" for line in not_measured) if not_measured else "")


def subject_json(s: Subject) -> dict[str, Any]:
    return s | {"figures": {
        key: {"median": number(Sample(tuple(values)).median), "rounds": list(map(number, values)), "source": source}
        if (values := s["figures"].get(key)) else None for key, _, _, _, source in FIGURES}}


def read_study(path: str) -> list[Subject]:
    """Reads the subjects of an earlier --json file. Raises ValueError."""
    value = read_json(path)
    if value.get("command") != "study":
        raise ValueError(f"{path}: it is of quintet-bench {value.get('command')}, not of study")
    try:
        return [new_subject(s["workload"], s["server"]) | {
            "figures": {key: figure["rounds"] for key, figure in s["figures"].items() if figure},
            "cache_source": s["cache_source"], "caches": [cache(c["references"], c["misses"]) | c for c in s["caches"]]}
            for s in value["study"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'{path}: "study" does not have the format that this program writes: {error!r}') from error
