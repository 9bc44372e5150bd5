# SPDX-License-Identifier: BSL-1.0
"""Advice by scenario: long and short connections, synchronous and asynchronous handlers, and the machine's cores."""
from collections.abc import Mapping, Sequence
from typing import Any

from .advice import advise
from .results import Combination
from .text import joined

SEVERAL_LOOPS = ("loop_per_thread", "loop_per_thread_pool")     # each of them can accept


def _advice(scenario: str, answer: Mapping[str, Any], why: str, options: str = "") -> dict[str, Any]:
    """`options`: of `serve`, for a model that has several loops."""
    options = options if answer["model"] in SEVERAL_LOOPS else ""
    if not answer["workload"]:
        sentence = "not measured" + answer["reason"].removeprefix("Not measured")
    elif not answer["model"]:
        sentence = f"too noisy to tell (measured with {answer['workload']})."
    else:
        names = joined([answer["model"], *answer["as_good"]]).replace(" and ", " or ")
        sentence = f"{names}; {why}{f' (serve {options})' * bool(options)}. Measured with {answer['workload']}."
    return {"scenario": scenario, "workload": answer["workload"], "model": answer["model"], "options": options,
            "sentence": f"{scenario}: {sentence}"}


def machine_sentence(environment: Mapping[str, Any]) -> str:
    cpus, cores, nodes = (environment.get(key) or 0 for key in ("cores", "physical_cores", "numa_nodes"))
    out = f"This machine: {cpus} CPUs; a loop for each, as by default."
    if cpus == 1:
        out = "This machine: one CPU, on which more loops only take turns; single_reactor is enough."
    elif 0 < cores < cpus:
        out = (f"This machine: {cpus} CPUs that are threads of {cores} core{'s' * (cores > 1)}; begin with a loop for each "
               f"core (serve --loops {cores} --pin-loops=idle), and measure whether {cpus} loops do more.")
    if nodes > 1:
        out += (f" It has {nodes} NUMA nodes: keep the loops of a server on one of them (serve --pin-loops=LIST), and run a "
                "server for each node on the same port.")
    return out * bool(cpus)


def advise_scenarios(combinations: Sequence[Combination], environment: Mapping[str, Any]) -> list[dict[str, Any]]:
    cheap, _, blocking = advise(combinations)
    short, = advise(combinations, {"short": ("short",)})
    out = [_advice("Long connections", cheap, "what counts is the cost of a request",
                   "--accept main_reactor, which spreads evenly"),
           _advice("Short connections", short, "what counts is accepting, whose ways quintet-bench accept compares"),
           _advice("Synchronous handlers", blocking, "a call that waits holds a thread, so what counts is threads"),
           _advice("Asynchronous handlers", cheap, "co_await holds no thread, so one that waits counts as cheap")]
    return out + [{"scenario": "This machine", "workload": None, "model": None, "options": "", "sentence": sentence}
                  for sentence in [machine_sentence(environment)] if sentence]
