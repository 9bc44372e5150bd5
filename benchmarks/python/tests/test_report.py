# SPDX-License-Identifier: BSL-1.0
"""The page stands alone, says what the document says, and takes nothing in it for markup."""
import html.parser
import json
import re
from typing import Any

from conftest import made_up
from quintet_bench.commands.compare import compose
from quintet_bench.report.page import comparison_page, plain
from quintet_bench.results import Document

EVIL = "\"'><evil onx=1></script></style></title><evil>"


def made_up_document() -> dict[str, Any]:
    servers = (("single_reactor", None), ("loop_per_thread", None), (None, "epoll"))
    results = [made_up(workload=work, model=model, peer=peer, round=i, requests_per_s=(9 + n) * 1e4 + 500 * i, p50_us=90 + i,
                       p99_us=900 + 9 * i, server_cpu_us_per_request=5.5 + i / 9, server_user_us_per_request=None if n else 1.5,
                       heartbeat_p99_us=400 + i if work == "heartbeat" else None, syscalls_per_request=2.02, loops=2)
               for work in ("echo", "cpu:200us", "heartbeat") for i in (1, 2) for n, (model, peer) in enumerate(servers)]
    results.append(made_up(model="reactor_pool", error="the server was ended by signal 9"))
    environment = {"cpu_model": "Made up 1.0", "cores": 2, "load_average_before": [1, 0.5]}
    return compose(Document("compare", "0.1.0", environment, {"seed": 4711, "interrupted": True}, results))


class Reader(html.parser.HTMLParser):
    """What a page without scripts shows. Its elements must be closed in their order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [""], set[str](), list[tuple[str, str | None]](), ""
        self.feed(page)
        assert self.open == [""]
        self.text = " ".join(self.text.split())  # splits at unbreakable spaces, too

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        self.open += [] if tag in ("meta", "link", "input") else [tag]
        self.text += "" if tag == "code" else " "

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += "" if self.open[-1] in ("script", "style", "title") else data


def all_evil(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: all_evil(member, name) for name, member in value.items()}
    if isinstance(value, list):
        return [all_evil(member, key) for member in value]
    return value + EVIL if isinstance(value, str) and key not in ("command", "axis") else value


def test_the_page_stands_alone_and_carries_its_data() -> None:
    page = comparison_page(made_up_document())
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp", page)
    for name, value in Reader(page).attributes:
        assert name != "src" and (name != "href" or (value or "").startswith(("#", "data:,"))), (name, value)
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found and json.loads(found[1]) == made_up_document()


def test_text_of_a_document_is_never_markup() -> None:
    found = Reader(comparison_page(all_evil(made_up_document())))
    assert "evil" not in found.tags and "onx" not in dict(found.attributes) and EVIL in found.text


def test_the_comparison_is_readable_without_scripts() -> None:
    document = made_up_document()
    page = comparison_page(document)
    text = Reader(page).text
    sentences = [document["noise"].removeprefix("Noise: b"), *(item["reason"] for item in document["advice"])]
    sentences += [verdict[key] for verdict in document["verdicts"] for key in ("sentence", "also", "caution")]
    for part in (*sentences, "was interrupted", "1 of 19 runs failed", "1 of 1 runs failed: the server was ended by signal 9",
                 "100 connections × 8 B", "hand-written epoll", "syscalls", "cpu model Made up 1.0", "[1, 0.5]", "seed 4711"):
        assert " ".join(plain(part).split()) in text, part
    assert 'title="5.67 µs; 2 rounds: 5.61 µs to 5.72 µs; user 1.50 µs, kernel 4.17 µs"' in page.replace("\u00a0", " ")
    assert page.count('class="bars"') == 10     # heartbeat has four


def test_conclusions_have_headings_and_come_first() -> None:
    document = made_up_document() | {
        "suitability": [{"question": "enough cores", "sentence": "enough cores: no (2, of at least 8)."},
                        {"question": "accept on every loop", "sentence": "accept on every loop: no (it lacks enough cores)."}],
        "scenarios": [{"scenario": "Short connections", "model": None, "sentence": 'Short connections: not measured.'}]}
    page = comparison_page(document)
    places = [page.index(part) for part in (
        'class="cards"', "<h2>Further conclusions</h2>", "<h3>By connection and handler</h3>", "Not measured.",
        "<h3>Should every loop accept", "No (it lacks enough cores).", "<li>enough cores", "<h3>How far equal runs differ</h3>",
        "<h2>What each model is</h2>")]
    assert places == sorted(places)
    header = page[:page.index("</header>")]
    assert header.count('class="note"') == 0    # explanations do not come before the conclusions
