# SPDX-License-Identifier: BSL-1.0
"""allocators: which one a process has, each beside glibc's of the same model and round, and what is said of that."""
from typing import Any

import pytest

from conftest import made_up
from quintet_bench.commands.allocators import compose, find_libraries, require_allocator, table
from quintet_bench.errors import RunError, UsageError
from quintet_bench.results import Document

MAPS = """\
55d0c8a00000-55d0c8a40000 r--p 00000000 fe:00 1187 /opt/a dir/jemalloc/kv
7f0000000000-7f0000021000 rw-p 00000000 00:00 0
7f1111000000-7f1111010000 r-xp 00000000 fe:00 1201 /usr/lib/libtcmalloc_minimal.so.4.5.10
7f2222000000-7f2222010000 r-xp 00000000 fe:00 1202 /usr/lib/libc.so.6
"""


def rounds(count: int, **more: Any) -> Document:
    """Each round the machine is slower; jemalloc is always better, tcmalloc now and then."""
    return Document("allocators", "1", {}, {}, [
        made_up(workload="kv-set", model=model, allocator=name, round=n, requests_per_s=1e5, server_rss_bytes=8 << 20,
                server_cpu_us_per_request=10 * n * times, **(more if name == "jemalloc" else {}))
        for n in range(1, count + 1) for model in ("single_reactor", "loop_per_thread")
        for name, times in (("glibc", 1), ("tcmalloc", 0.8 + 0.1 * n), ("jemalloc", 0.5))])


def test_an_allocator_is_told_by_the_name_of_its_file_alone() -> None:
    require_allocator("tcmalloc", MAPS)
    require_allocator("glibc", MAPS.replace("libtcmalloc", "libother"))
    for name, maps, why in (("glibc", MAPS, "already uses tcmalloc"), ("jemalloc", MAPS, "already uses tcmalloc"),
                            ("jemalloc", MAPS.replace("libtcmalloc", "libother"), "was not preloaded"), ("glibc", "", "maps")):
        with pytest.raises(RunError, match=why):
            require_allocator(name, maps)


def test_a_library_that_is_missing_is_refused_if_it_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = {"glibc": ("", ""), "hoard": ("libhoard1", "libhoard.so.1")}
    monkeypatch.setattr("quintet_bench.commands.allocators.LIBRARIES", libraries)
    assert find_libraries([]) == {"glibc": ""}
    with pytest.raises(UsageError, match="hoard: libhoard.so.1 is not installed; apt-get install libhoard1"):
        find_libraries(["hoard"])


def test_each_is_compared_with_glibc_of_its_model_and_round() -> None:
    out = compose(rounds(5))
    assert [(r["model"], r["allocator"]) for r in out["ratios"][:3]] == [
        ("single_reactor", "tcmalloc"), ("single_reactor", "jemalloc"), ("loop_per_thread", "tcmalloc")]
    assert (out["ratios"][0]["min"], out["ratios"][0]["max"], out["ratios"][1]["median"]) == (0.9, 1.3, 0.5)
    text = table(rounds(5))
    for part in ("-> loop_per_thread: jemalloc needs 0.50 times the CPU of glibc (rounds from 0.50 to 0.50); tcmalloc and "
                 "glibc cannot be told apart by CPU.", "8.00 MiB", "0.90 to 1.30", "Noise"):
        assert part in text
    text = table(rounds(4))
    assert "glibc cannot be told apart by CPU in so few rounds." in text and "needs" not in text


def test_a_run_that_failed_has_no_ratio() -> None:
    text = table(rounds(5, error="jemalloc was not preloaded"))
    assert "failed: jemalloc was not preloaded" in text and "jemalloc needs" not in text


def test_instructions_are_told_with_their_ratio_however_small() -> None:
    document = Document("allocators", "1", {}, {}, [
        made_up(workload="kv-set", allocator=name, instructions_per_request=count)
        for name, count in (("glibc", 2000), ("jemalloc", 2003), ("mimalloc", 1900))])
    assert ("single_reactor: mimalloc needs 0.95 times the instructions of glibc; jemalloc and glibc need as many instructions."
            in table(document))
    assert "Noise" not in table(document) and compose(document)["ratios"][0]["metric"] == "instructions_per_request"
