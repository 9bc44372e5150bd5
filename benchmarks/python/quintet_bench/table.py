# SPDX-License-Identifier: BSL-1.0
"""What tables of several commands have in common."""
from collections.abc import Callable

from .results import Combination, Result
from .text import grouped

Format = Callable[[float], str]


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
