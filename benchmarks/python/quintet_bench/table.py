# SPDX-License-Identifier: BSL-1.0
"""Results as text for a terminal."""
from collections.abc import Callable, Iterable, Sequence

from .advice import advise, peer_ratios
from .results import Combination, Document, Result, summarise, workload_names
from .text import grouped, joined, mebibytes, micros, percent, significant
from .verdict import SPEED, compute_verdict, noise_sentence

Format = Callable[[float], str]
USUAL_COLUMNS: tuple[tuple[str, int, str, Format], ...] = (  # title, width, key and format
    ("requests/s", 11, SPEED, grouped), ("spread", 8, "", percent), ("p50", 9, "p50_us", micros),
    ("p99", 9, "p99_us", micros), ("p99.9", 9, "p999_us", micros), ("CPU/req", 10, "server_cpu_us_per_request", micros),
    ("syscalls", 9, "syscalls_per_request", significant), ("switches", 9, "context_switches_per_request", significant),
    ("threads", 8, "server_threads", grouped), ("memory", 9, "server_rss_bytes", mebibytes))
HEARTBEAT_COLUMNS = USUAL_COLUMNS[:6] + (  # without counters that are irrelevant then
    ("beat p50", 9, "heartbeat_p50_us", micros), ("beat p99", 9, "heartbeat_p99_us", micros),
    ("beat max", 9, "heartbeat_max_us", micros))


def shape_text(result: Result) -> str:
    """"echo: 100 connections x 8 B, 4 in flight each"."""
    out, connections = str(result["workload"]), result["connections"]
    if connections and result["message_bytes"]:
        out += f": {grouped(connections)} connection{'' if connections == 1 else 's'} x {grouped(result['message_bytes'])} B"
    if (result["pipeline"] or 1) > 1:
        out += f", {grouped(result['pipeline'])} in flight each"
    return out


def placement_text(result: Result) -> str:
    """" (server on CPU 1, client on CPU 0)", or ""."""
    return f" (server on CPU {result['server_cpus']}, client on CPU {result['client_cpus']})" if result["server_cpus"] else ""


def title_line(combination: Combination) -> str:
    return shape_text(combination.first) + placement_text(combination.first)


def cell(combination: Combination, key: str, format: Format) -> str:
    """The median as text; "-" if nothing was measured."""
    value = combination.median(key)
    return "-" if value is None else format(value)


def failure_remarks(combination: Combination) -> str:
    """Lines about failures in the combination's rounds; mostly none."""
    c, out, lost = combination, "", combination.samples.get("failed")
    if c.failures:
        out += f"    {c.failures} of {c.rounds + c.failures} runs failed: {c.error or 'no figures'}\n"
    if lost and lost.high > 0:
        out += f"    up to {grouped(lost.high)} requests a run were not answered right\n"
    return out


def remarks(combination: Combination) -> str:
    """The failure remarks, and one if the client limited the figures."""
    bound = "    the client was the bottleneck: the server could do more\n"
    return failure_remarks(combination) + (bound if combination.client_bound else "")


def bottleneck_line(combinations: Iterable[Combination]) -> str:
    """"  -> Bottleneck: server CPU (single_reactor and reactor_pool); none (loop_per_thread).", or ""."""
    pairs = [(c.bottleneck, c.label) for c in combinations if c.bottleneck]
    groups = {name: joined([label for other, label in pairs if other == name]) for name, _ in pairs}
    text = "; ".join(f"{name.replace('_cpu', ' CPU')} ({labels})" for name, labels in groups.items())
    return f"  -> Bottleneck: {text.replace('machine CPU', 'CPU of the machine')}.\n" if text else ""


def _network_line(rows: Iterable[Combination]) -> str:
    measured = [(packets, size, size / packets) for row in rows if (packets := row.median("net_packets_per_request"))
                and (size := row.median("net_bytes_per_request")) is not None]
    if not measured:
        return ""
    ends = [(significant(min(column)), significant(max(column))) for column in zip(*measured)]
    texts = [low if low == high else f"{low} to {high}" for low, high in ends]
    return "  -> Network: {} packets and {} B for a request, {} B a packet, whoever sent them.\n".format(*texts)


def _rows(rows: Sequence[Combination]) -> str:
    columns = HEARTBEAT_COLUMNS if any("heartbeat_p99_us" in row.samples for row in rows) else USUAL_COLUMNS
    wide = max(23, *(len(row.label) for row in rows))
    out = " " * (2 + wide) + "".join(f"{title:>{width}}" for title, width, _, _ in columns) + "\n"
    for row in rows:
        spread = percent(row.samples[SPEED].spread) if SPEED in row.samples else "-"
        cells = "".join(f"{cell(row, key, form) if key else spread:>{width}}" for _, width, key, form in columns)
        out += f"  {row.label:<{wide}}"
        out += f"{cells}\n{remarks(row)}" if row.rounds else f"  failed: {row.error or 'no figures'}\n"
    return out


def console_table(document: Document) -> str:
    """A block for each workload: a line per model and peer, then the verdict. The advice is last."""
    summary, ratios, out = summarise(document.results), peer_ratios(document.results), ""
    for name in workload_names(summary):
        rows = [c for c in summary if c.workload == name]
        told = [text for key, text in compute_verdict(summary, name).items() if key in ("sentence", "also", "caution") and text]
        out += f"{title_line(rows[0])}\n{_rows(rows)}" + "".join(f"  -> {text}\n" for text in told)
        out += bottleneck_line(rows) + _network_line(rows)
        out += "".join(f"  -> {ratio['sentence']}\n" for ratio in ratios if ratio["workload"] == name) + "\n"
    for a in filter(lambda a: a["workload"], advise(summary)):
        good = f" As good: {joined(a['as_good'])}." if a["model"] and a["as_good"] else ""
        out += f"For a {a['handler']} handler: {a['model'] or 'too noisy to tell'}.{good}\n"
    return out + noise_sentence(summary) + "\n"
