"""Pages go with words by BM25."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.web.page import Page
from pytest_fcbench.web.search_index import Index


def make_page(name: str, text: str, title: str = "") -> Page:
    return Page(f"http://a.example/{name}", title, text, "text/html", b"")


PAGES = [
    make_page("lamp", "The lamp stands on a rock. It is red.", "The lamp"),
    make_page("rock", "A rock in the sea, far from any lamp and from all that is told of birds."),
    make_page("birds", "Birds nest here."),
    make_page("hidden", ""),
]


def find_names(query: str, most: int = 10) -> list[str]:
    return [found.url.rpartition("/")[2] for found, _ in Index(PAGES).find_pages(query, most)]


def test_the_best_comes_first() -> None:
    assert find_names("lamp") == ["lamp", "rock"]
    assert find_names("BIRD") == ["birds", "rock"]


def test_a_rare_word_says_more_than_a_common_one() -> None:
    assert find_names("a rock nest here")[0] == "birds"


def test_no_more_than_asked_for_and_nothing_that_has_none_of_the_words() -> None:
    assert find_names("red lamp and rock", 1) == ["lamp"]
    assert find_names("lamp", 0) == find_names("lamp", -3) == find_names("volcano") == find_names("") == []


def test_pages_without_text_are_not_found() -> None:
    assert find_names("hidden") == []


def test_a_snippet_is_the_beginning_and_ends_with_a_word() -> None:
    text = "word " * 40
    ((_, snippet),) = Index([make_page("long", text)]).find_pages("word", 1)
    assert len(snippet) <= 80
    assert snippet.endswith("word…")
    ((_, whole),) = Index([make_page("short", "Two\nlines.")]).find_pages("two", 1)
    assert whole == "Two lines."


@given(st.text(), st.integers(-5, 20))
def test_any_words_can_be_looked_for(query: str, most: int) -> None:
    assert len(Index(PAGES).find_pages(query, most)) <= max(0, most)


def test_nothing_is_found_in_nothing() -> None:
    assert Index([]).find_pages("lamp", 5) == []
