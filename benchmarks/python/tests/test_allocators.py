# SPDX-License-Identifier: BSL-1.0
"""allocators: which one a process has, each beside glibc's of the same model and round, and what is said of that."""
from typing import Any

import pytest

from conftest import made_up
from quintet_bench.commands.allocators import compose, find_libraries, require_allocator, table
from quintet_bench.errors import RunError, UsageError
from quintet_bench.results import Document, Result, summarise

MAPS = """\
55d0c8a00000-55d0c8a40000 r--p 00000000 fe:00 1187 /opt/a dir/jemalloc/kv
7f0000000000-7f0000021000 rw-p 00000000 00:00 0
7f1111000000-7f1111010000 r-xp 00000000 fe:00 1201 /usr/lib/libtcmalloc_minimal.so.4.5.10
7f2222000000-7f2222010000 r-xp 00000000 fe:00 1202 /usr/lib/libc.so.6
"""
OTHER = MAPS.replace("libtcmalloc", "libother")


def rounds(count: int, **of_jemalloc: Any) -> list[Result]:
    """Each round the machine is slower; jemalloc is always better, tcmalloc now and then."""
    return [made_up(workload="kv-set", model=model, allocator=name, round=n, requests_per_s=1e5, server_rss_bytes=8 << 20,
                    server_cpu_us_per_request=10 * n * times, **(of_jemalloc if name == "jemalloc" else {}))
            for n in range(1, count + 1) for model in ("single_reactor", "loop_per_thread")
            for name, times in (("glibc", 1), ("tcmalloc", 0.8 + 0.1 * n), ("jemalloc", 0.5))]


def test_an_allocator_is_told_by_the_name_of_its_file_alone() -> None:
    require_allocator("tcmalloc", MAPS)
    require_allocator("glibc", OTHER)
    for name, maps, found in (("glibc", MAPS, "tcmalloc"), ("jemalloc", OTHER, "glibc"), ("glibc", "", "unknown")):
        with pytest.raises(RunError, match=f"{name} was not preloaded: the server's allocator is {found}"):
            require_allocator(name, maps)


def test_a_library_that_is_missing_is_refused_if_it_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = {"glibc": ("", ""), "hoard": ("libhoard1", "libhoard.so.1")}
    monkeypatch.setattr("quintet_bench.commands.allocators.LIBRARIES", libraries)
    assert find_libraries([]) == {"glibc": ""}
    with pytest.raises(UsageError, match="hoard: libhoard.so.1 is not installed; apt-get install libhoard1"):
        find_libraries(["hoard"])


def test_each_is_compared_with_glibc_of_its_model_and_round() -> None:
    ratios = compose(Document("allocators", "", {}, {}, rounds(5)))["verdicts"]
    assert [(r["model"][:6], r["allocator"]) for r in ratios[1:3]] == [("single", "jemalloc"), ("loop_p", "tcmalloc")]
    assert (ratios[0]["min"], ratios[0]["max"], ratios[1]["median"]) == (0.9, 1.3, 0.5)


@pytest.mark.parametrize("results, part", [
    (rounds(5), "loop_per_thread (jemalloc) needs 0.50 times the CPU of glibc (rounds from 0.50 to 0.50).\n"),
    (rounds(5), "(tcmalloc) needs 1.10 times the CPU of glibc (rounds from 0.90 to 1.30, within the noise the same).\n"),
    (rounds(5, error="not preloaded"), "(jemalloc)  failed: not preloaded\n")])
def test_the_table_says_what_is_sure(results: list[Result], part: str) -> None:
    document = Document("allocators", "", {}, {}, results)
    assert part in table(summarise(results), document.figures() | compose(document))
