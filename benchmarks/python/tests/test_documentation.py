# SPDX-License-Identifier: BSL-1.0
"""The documentation agrees with doc/results and the commands, and compact files lose nothing that is read."""
import re

import pytest
from conftest import made_up

from quintet_bench import choosing, doc_tables
from quintet_bench.commands.sweep import AXES, conclude
from quintet_bench.compact import compacted
from quintet_bench.main import COMMANDS
from quintet_bench.results import Document, clean, document_of, summarise


def test_pages_agree_with_their_sources() -> None:
    assert doc_tables.main(["--check"]) == 0


def test_each_command_has_a_row_in_the_documentation() -> None:
    text = (doc_tables.ROOT / "doc/benchmarks.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if not re.search(rf"^\| \[?`{name}`", text, re.MULTILINE)] == []


def test_a_block_that_disagrees_is_rewritten_alone() -> None:
    page = "before\n<!-- table: record memlat -->\n{}<!-- end -->\nafter\n"
    right = doc_tables.rewritten(page.format("| L1 | wrong |\n"))
    assert right == page.format(doc_tables.record("memlat")) and "wrong" not in right


def test_what_a_command_has_printed_stands_below_its_command_and_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    step = {"command": "hash --sizes 64", "printed": "  XXH3  7.1\n\n", "document": {"environment": {"date": "2026-02-02T"}}}
    monkeypatch.setattr(doc_tables, "references", lambda: ({"environment": {}, "records": {"bus": {}}}, {
        "environment": {"date": "2026-01-01T", "cpu_model": "CPU", "cores": 2}, "records": {"hash": step}}))
    assert doc_tables.record("hash") == (
        "`quintet-bench hash --sizes 64`, 2026-02-02, CPU, 2 CPUs:\n\n```text\n  XXH3  7.1\n```\n")
    step["command"] = "benchmarks/tls/measure sends"
    assert doc_tables.record("hash").startswith("`benchmarks/tls/measure sends`, ")


def test_a_choice_that_the_results_do_not_support_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = choosing.Choice("blocks", "blocking:2ms", "single_reactor", "nobody knows")
    monkeypatch.setattr(choosing, "CHOICES", (wrong,))
    with pytest.raises(ValueError, match="single_reactor is not among the leaders"):
        choosing.choices(choosing.Results(doc_tables.read("compare")))


def test_leaders_are_bold_and_nobody_is_where_rounds_are_too_noisy() -> None:
    results = [made_up(workload=workload, model=model, round=number, requests_per_s=speed + noise * number)
               for workload, noise, ahead in (("blocking:2ms", 1, 9_000), ("pipeline", 500, 100)) for number in (1, 2)
               for model, speed in zip(choosing.MODELS, (1_000 + ahead, 1_000, 1_010, 1_020, 1_030))]
    rows = choosing.models(choosing.Results(Document("compare", "0.1", {}, {}, results)), ["blocking:2ms", "pipeline"])
    when = choosing.TAKE_WHEN["thread_per_connection"]
    assert [row for row in rows.splitlines() if "**" in row] == [f"| `thread_per_connection` | {when} | **10,002** | 1,850 |"]


def swept_by_hand(results: list[dict[str, object]]) -> dict[str, object]:
    document = Document("sweep", "0.1", {"date": "2026-01-01", "cpu_model": "CPU", "cores": 2, "steal_percent": 0,
                                         "load_average_before": [0, 0, 0]},
                        {"axis": "handler-us", "values": [0, 100], "rounds": 2, "duration_s": 0.4}, results)
    return compacted(document.figures() | conclude(AXES["handler-us"], summarise(results), results))


def test_the_sweep_over_handler_times_tells_who_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    results = [made_up(workload=f"cpu:{us}us", handler_us=us, model=model, round=number, requests_per_s=speed + number)
               for us, speeds in ((0, (200_000, 100_000, 9)), (100, (8_000, 9_000, 8_100))) for number in (1, 2)
               for model, speed in zip(("single_reactor", "thread_per_connection", "reactor_pool"), speeds)]
    monkeypatch.setattr(doc_tables, "stored", lambda step: swept_by_hand(results))
    leads = doc_tables.handler_times("leads")
    assert " ".join(leads.split()) == ("Up to 26.5 us `single_reactor` serves most requests; from 26.5 us on "
                                       "`thread_per_connection`. There all models but `single_reactor` serve at least 90 % of "
                                       "the best.")
    table = doc_tables.handler_times("all")
    assert "| 100 us | 8,002 | 9,002 | 8,102 |" in table
    assert table.startswith(doc_tables.handler_times("table")) and "rounds" not in doc_tables.handler_times("table")


def test_compact_results_read_the_same() -> None:
    results = [made_up(round=number, requests_per_s=100.5, p99_us=0) for number in (1, 2)]
    figures = Document("compare", "0.1", {"cores": 2}, {"rounds": 2}, results).figures()
    small = compacted(figures)
    again = document_of(small, "made up")
    assert list(map(clean, again.results)) == results and again.figures() == figures
    assert "summary" not in small and None not in small["results"][0].values()


def test_compact_keeps_the_results_of_commands_without_runs() -> None:
    attack = {"command": "stress", "results": [{"scenario": "resets", "failure": None}], "interrupted": False}
    assert compacted(attack) == attack


# Table 1 of mTCP's paper (NSDI 2014), in its words: accept queue, locality, events, packets, change of the kernel. The ninth
# row is that of the article on Fastsocket, corrected.
SYSTEMS = {
    "PSIO, DPDK, PF_RING, netmap": "no stack, no stack, no stack, batched, driver",
    "Linux 2.6": "shared, none, syscalls, per packet, no", "Linux 3.9": "per-core, none, syscalls, per packet, no",
    "Affinity-Accept": "per-core, yes, syscalls, per packet, yes",
    "MegaPipe": "per-core, yes, batched syscalls, per packet, yes",
    "FlexSC": "shared, none, batched syscalls, per packet, yes", "VOS": "shared, none, batched syscalls, per packet, yes",
    "mTCP": "per-core, yes, batched functions, batched, driver", "Fastsocket": "per-core, yes, syscalls, per packet, yes"}
WORDS = {"no TCP": "no stack", "for each core": "per-core", "system calls": "syscalls", "each packet": "per packet",
         "batched system calls": "batched syscalls", "batched function calls": "batched functions", "batches": "batched",
         "**yes**": "yes"}


def test_the_table_of_systems_has_the_published_cells() -> None:
    text = (doc_tables.ROOT / "doc/network_stack.md").read_text(encoding="utf-8")
    found = {}
    for line in text.partition("| system | accept queue |")[2].splitlines()[2:2 + len(SYSTEMS)]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        words = [WORDS.get(cells[i], cells[i]) for i in (0, 1, 3, 4, 6)]
        words[1] = {"no": "none"}.get(words[1], words[1])
        found[name] = ", ".join(words)
    assert found == SYSTEMS
