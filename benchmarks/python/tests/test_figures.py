# SPDX-License-Identifier: BSL-1.0
"""A figure that a document claims to have measured stands on a page of results, where its command and date are beside it.

The pages of results are doc/benchmark_results.md, doc/results and, for checksums, decision 0026. Their marked tables are made
from stored results (test_documentation.py). README.md, the other pages and the specification only repeat their figures."""
import re
from collections.abc import Iterator

from quintet_bench.doc_tables import ROOT

RESULTS = [ROOT / "doc/benchmark_results.md", *sorted((ROOT / "doc/results").glob("*.md")),
           ROOT / "doc/decisions/0026-xxh3.md"]
SPECIFICATION = ROOT / "doc/specification.md"
OTHERS = [ROOT / "README.md", ROOT / "examples/README.md", *sorted((ROOT / "doc/tutorial").glob("*.md")),
          *(page for page in sorted((ROOT / "doc").glob("*.md")) if page.name not in ("benchmarks.md", SPECIFICATION.name))]
NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w)")
DATE = re.compile(r"20\d\d-\d\d-\d\d")
UNITS = r"(?:(?:requests|connections|messages)/s|MB/s|instructions?|ns|system calls)\b"
MEASURED = re.compile(rf"({NUMBER.pattern})(?:(?: and| to) [\d.,]+)?\]?(?:\([^)]*\))? {UNITS}")
PROGRAMS = (r"quintet-|benchmarks/|\w+_test\b|strace|(?:accept|bus|compare|contention|forecast|hash|load|memlat|"
            r"merging|moon|peers|proxies|scaling|serve|shm|stress|study|sweep)\b")
SOURCE = re.compile(rf"<!-- table: |`(?:chrt [^`]*)?(?:build/\w+/)?(?:{PROGRAMS})|\n(?:{PROGRAMS})")
# Rows whose figures are on no page of results; a test or command stands beside them, and there was nothing to store.
NOT_STORED = {
    "1.13": "bytes of the messages, which the test names", "1.14": "rounded less than on its page",
    "1.17": "rounded to two digits", "2.9": "forecast: the first of seven cores, in no table",
    "2.10": "a quotient of two figures that stand there", "3.2": "counted by a test: an eighth"}
# Sections whose figures were copied from the output of a command: nothing is stored of their rounds. New ones need a file.
COMMAND_ALONE = 27
# Sections of pages of results that have no command: they cannot be repeated from the page.
WITHOUT_COMMAND = {("accepting.md", "Memory of a relay"), ("stress.md", "Peers that vanish")}


def numbers(text: str) -> set[str]:
    """Without dates, figures of one digit, and commas."""
    found = (number.rstrip(",").replace(",", "") for number in NUMBER.findall(DATE.sub("", text)))
    return {number for number in found if len(number.replace(".", "")) > 1}


STORED = set().union(*(numbers(page.read_text(encoding="utf-8")) for page in RESULTS),
                     numbers((ROOT / "benchmarks/budget/instructions.json").read_text()))


def is_stored(number: str) -> bool:
    """As it is, or rounded to at least three digits."""
    digits = len(number.replace(".", "").lstrip("0") if "." in number else number.rstrip("0"))
    return number in STORED or digits > 1 and any(
        float(f"{float(other):.{max(3, digits)}g}") == float(number) for other in STORED)


def claims() -> Iterator[tuple[str, str, set[str]]]:
    """Of the specification: row, proofs, and the figures that it claims."""
    for line in SPECIFICATION.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if re.match(r"\d+\.\d+$", cells[1] if len(cells) > 6 else "") and cells[6]:
            yield cells[1], cells[5], numbers(re.sub("`[^`]*`", "", cells[6]))


def test_figures_of_the_specification_stand_on_pages_of_results() -> None:
    missing = {row: {figure for figure in figures if not is_stored(figure)} for row, _, figures in claims()}
    assert {row: figures for row, figures in missing.items() if figures and row not in NOT_STORED} == {}
    assert [row for row in NOT_STORED if not missing[row]] == []     # then the row needs no exception


def test_each_figure_of_the_specification_has_a_test_or_a_command() -> None:
    assert [row for row, proofs, _ in claims() if not re.search(r"`quintet-bench |_test/|\.sh`|::", proofs)] == []


def test_figures_of_other_pages_stand_on_pages_of_results() -> None:
    found = [(page.name, match[0]) for page in OTHERS for match in MEASURED.finditer(page.read_text(encoding="utf-8"))
             for figure in numbers(match[1]) if not is_stored(figure)]
    assert found == []


def sections() -> Iterator[tuple[str, str, str]]:
    """Those of pages of results that have figures: page, heading and text."""
    for page in RESULTS:
        for text in re.split("^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            if DATE.search(text) or any(len(number.replace(".", "")) > 2 for number in numbers(text)):
                yield page.name, text.partition("\n")[0], text


def test_each_section_of_results_has_a_command_or_stored_results() -> None:
    assert {(page, heading) for page, heading, text in sections() if not SOURCE.search(text)} == WITHOUT_COMMAND


def test_sections_without_stored_results_become_fewer() -> None:
    assert len([heading for _, heading, text in sections() if "<!-- table: " not in text]) <= COMMAND_ALONE


def test_each_stored_result_has_its_command() -> None:
    listed = (ROOT / "doc/results/README.md").read_text(encoding="utf-8")
    files = {path.name for path in (ROOT / "doc/results").glob("*.json")}
    assert set(re.findall(r"^\| `(\w+\.json)` \| `", listed, re.MULTILINE)) == files


def test_a_figure_that_nobody_measured_is_found() -> None:
    assert is_stored("204471") and is_stored("204000") and not is_stored("204999") and not is_stored("209000")
    assert MEASURED.search("an echo takes [1,618 instructions](x.md)") and MEASURED.search("[957](x.md) requests/s")
    assert not SOURCE.search("It needs 1.25 us, as we saw.")
