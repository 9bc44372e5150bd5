# SPDX-License-Identifier: BSL-1.0
"""A figure that a document claims to have measured has stored rounds: it stands in a block that benchmarks/doc_tables.py made
from a file of scripts/record-here, in the instructions that the budget keeps, or it is published elsewhere and says so.

The pages of results are doc/benchmark_results.md and doc/results. README.md, the other pages and the specification repeat their
figures."""
import pathlib
import re
from collections.abc import Iterator

from quintet_bench.doc_tables import BLOCK, ROOT, references

RESULTS = [ROOT / "doc/benchmark_results.md", *sorted((ROOT / "doc/results").glob("*.md"))]
SPECIFICATION = ROOT / "doc/specification.md"
OTHERS = [ROOT / "README.md", ROOT / "examples/README.md", *sorted((ROOT / "doc/tutorial").glob("*.md")),
          *(page for page in sorted((ROOT / "doc").glob("*.md")) if page.name not in ("benchmarks.md", SPECIFICATION.name))]
NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w)")
DATE = re.compile(r"20\d\d-\d\d-\d\d")
UNITS = r"(?:(?:requests|connections|messages)/s|MB/s|instructions?|ns|us|ms|MiB|times|system calls)\b"
MEASURED = re.compile(rf"({NUMBER.pattern})(?:(?: and| to) [\d.,]+)?\]?(?:\([^)]*\))? {UNITS}")
SETTINGS = {"0.2", "250", "333", "400"}      # ms and us of defaults and examples, which nobody has measured
# Rows whose figures a test beside them asserts or prints: there is nothing to store.
OF_A_TEST = {"1.13": "sizes of its messages", "3.6": "bytes that it prints"}


def numbers(text: str) -> set[str]:
    """Without dates, figures of one digit, and commas."""
    found = (number.rstrip(",").replace(",", "") for number in NUMBER.findall(DATE.sub("", text)))
    return {number for number in found if len(number.replace(".", "")) > 1}


def blocks(page: pathlib.Path) -> str:
    return "".join(found[0] for found in BLOCK.finditer(page.read_text(encoding="utf-8")))


STORED = set().union(*(numbers(blocks(page)) for page in RESULTS),
                     *(numbers(step["printed"]) for file in references() for step in file["records"].values()),
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


def test_figures_of_the_specification_are_stored() -> None:
    missing = {row: {figure for figure in figures if not is_stored(figure)} for row, _, figures in claims()}
    assert {row: figures for row, figures in missing.items() if figures and row not in OF_A_TEST} == {}
    assert [row for row in OF_A_TEST if not missing[row]] == []     # then the row needs no exception


def test_each_figure_of_the_specification_has_a_test_or_a_command() -> None:
    assert [row for row, proofs, _ in claims() if not re.search(r"`quintet-bench |_test/|\.sh`|::", proofs)] == []


def test_figures_of_other_pages_are_stored() -> None:
    found = [(page.name, match[0]) for page in OTHERS for match in MEASURED.finditer(page.read_text(encoding="utf-8"))
             for figure in numbers(match[1]) - SETTINGS if not is_stored(figure)]
    assert found == []


def paragraphs(page: pathlib.Path) -> Iterator[str]:
    """Those that somebody has written, without commands and links."""
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", BLOCK.sub("", page.read_text(encoding="utf-8")))
    yield from re.split(r"\n\n+", text)


def test_pages_of_results_have_no_figure_of_their_own() -> None:
    """What is no result may be written out: settings of a run, and what others have published."""
    found = {page.name: {figure for text in paragraphs(page) if "published" not in text.lower() for figure in numbers(text)
                         if not is_stored(figure)} for page in RESULTS}
    assert {name: figures for name, figures in found.items() if figures} == {}


def test_a_figure_that_nobody_measured_is_found() -> None:
    known = next(number for number in STORED if re.fullmatch(r"\d{6}", number) and "9" not in number[2:4])
    assert is_stored(known) and is_stored(str(int(known) // 1000 * 1000 + 1000 * (int(known[3:]) >= 500)))
    assert not is_stored(f"{known[:3]}999.5")
    assert MEASURED.search("an echo takes [1,618 instructions](x.md)") and MEASURED.search("[957](x.md) requests/s")
