"""The small web of ``core``, and that its questions take the hops that their trails take."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import read_row
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.kinds.answers.entries import QuestionFile, ReadRow, SearchRow, WebQuestionRow
from pytest_fcbench.suites import core
from pytest_fcbench.web.client import WebReply
from pytest_fcbench.web.loopback_server import Index, Page
from pytest_fcbench.web.page_content import LONGEST_CONTENT, UnreadablePage, render_content

SUITE = core.open_suite(Path())
assert SUITE.web is not None
PAGES = web_pages.read_pages([SUITE.web])
INDEX = Index(PAGES.values())
PATH = SUITE.web.parent / "web_search.yaml"
FILE = Field(read_yaml(PATH), PATH)
QUESTIONS = read_row(FILE, QuestionFile).entries


def list_pages_to_read(question: WebQuestionRow) -> list[ReadRow]:
    """List the hops that are pages from which something has to be known."""
    return [hop for hop in question.trail or () if isinstance(hop, ReadRow)]


def follow_redirect(url: str) -> Page:
    """Return the page behind a URL, also behind a redirect."""
    page = PAGES[url]
    return PAGES[page.location] if page.location else page


def text_of(url: str) -> str:
    page = follow_redirect(url)
    return render_content(WebReply(page.url, 200, {"Content-Type": page.type}, page.body), "truncate")


def links_of(url: str) -> Iterator[str]:
    page = follow_redirect(url)
    if page.type.startswith("text/html"):
        yield from (urljoin(page.url, found) for found in re.findall(r'href="([^"]*)"', page.body.decode()))


def has_answer(text: str, answer: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(answer)}(?!\w)", text, re.IGNORECASE) is not None


# The pages


def test_there_are_enough_pages_on_hosts_that_exist_nowhere() -> None:
    assert len(PAGES) >= 60
    hosts = Counter(urlsplit(url).netloc for url in PAGES)
    assert len(hosts) >= 10
    assert all(host.endswith(".example") for host in hosts)  # reserved: RFC 2606


def test_every_link_leads_to_a_page() -> None:
    assert not [(url, link) for url in PAGES for link in links_of(url) if link not in PAGES]
    assert not [url for url, page in PAGES.items() if page.location and page.location not in PAGES]


def test_every_page_can_be_found_by_its_title() -> None:
    lost = [
        page.url
        for page in PAGES.values()
        if page.text and page.url not in [found.url for found, _ in INDEX.find_pages(page.title, 5)]
    ]
    assert not lost


def test_there_are_pages_of_every_kind() -> None:
    kinds = Counter(page.type.partition(";")[0] for page in PAGES.values())
    assert set(kinds) == {
        "text/html",
        "text/plain",
        "application/json",
        "application/pdf",
        "application/octet-stream",
    }
    assert any(page.location for page in PAGES.values())
    assert max(len(page.body) for page in PAGES.values()) > LONGEST_CONTENT
    with pytest.raises(
        UnreadablePage,
        match="it is of the type 'application/octet-stream'; only text, HTML, JSON and XML can be read",
    ):
        text_of("http://minerals.example/catalogue")


# The questions

NAMED = pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))


def test_there_are_enough_questions_of_two_to_four_hops() -> None:
    hops = Counter(len(list_pages_to_read(question)) for question in QUESTIONS)
    assert len(QUESTIONS) >= 20
    assert set(hops) == {2, 3, 4}


@NAMED
def test_each_hop_finds_what_the_next_one_needs(question: WebQuestionRow) -> None:
    """The fact is on the page, and the page is known by then: found by a search, or linked to."""
    known: set[str] = set()
    for hop in question.trail or ():
        if isinstance(hop, SearchRow):
            known |= {page.url for page, _ in INDEX.find_pages(hop.search, 10)}
        else:
            assert hop.read in known
            assert hop.finds in text_of(hop.read)
            known |= set(links_of(hop.read))


@NAMED
def test_the_question_alone_does_not_find_the_answer(question: WebQuestionRow) -> None:
    """Neither the page that goes best with it has it, nor any snippet."""
    found = INDEX.find_pages(question.query, 10)
    shown = [text_of(found[0][0].url), *(snippet for _, snippet in found)]
    assert not [text for text in shown for answer in question.answers if has_answer(text, answer)]


@NAMED
def test_no_hop_can_be_left_out(question: WebQuestionRow) -> None:
    """The answer is on the last page alone of those that are read, and in no search on the way to it."""
    *before, last = list_pages_to_read(question)
    assert any(has_answer(text_of(last.read), answer) for answer in question.answers)
    assert not [hop.read for hop in before for a in question.answers if has_answer(text_of(hop.read), a)]
    asked = [question.query, *(hop.search for hop in question.trail or () if isinstance(hop, SearchRow))]
    assert not [text for text in asked for answer in question.answers if has_answer(text, answer)]


def test_a_trail_that_skips_a_hop_would_be_noticed() -> None:
    page = ReadRow(read="http://gazetteer.example/lake-vey", finds="143")
    skipping = WebQuestionRow(id="web_search_0", query="?", answers=["143"], trail=[page])
    with pytest.raises(AssertionError, match=r"'http://gazetteer\.example/lake-vey' in set"):
        test_each_hop_finds_what_the_next_one_needs(skipping)


def test_both_categories_have_all_questions() -> None:
    base, plain = (SUITE.load(CATEGORIES[name]) for name in ("web_search_base", "web_search_no_snippet"))
    assert [entry.turns for entry in base] == [entry.turns for entry in plain]
    assert len(base) == len(QUESTIONS)
    assert [entry.expectation for entry in base] == [entry.expectation for entry in plain]


def test_the_pages_are_a_part_of_the_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "core"
    shutil.copytree(Path(core.__file__).parent, folder)
    monkeypatch.setattr(core, "_FOLDER", folder)
    hashes = [core.open_suite(tmp_path).pack_sha256]
    (folder / "web" / "x.yaml").write_text("a")
    hashes.append(core.open_suite(tmp_path).pack_sha256)
    assert len(set(hashes)) == 2
