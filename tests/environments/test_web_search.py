"""Searching and reading, with a web that says what a test wants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.web_search import WebSearch
from pytest_fcbench.environments.world import MissingAnswer, NoWeb, WebError, World
from tests.cases import each_case

RESULTS = [
    {"title": "T", "href": "http://a.example/", "body": "B"},
    {"title": "No snippet", "href": "http://b.example/"},
]


class Pages:
    """A web that remembers what it was asked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[tuple[object, ...]] = []

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
        self.asked.append((keywords, max_results, region))
        if self.error:
            raise self.error
        return RESULTS[:max_results]

    def fetch(self, url: str, mode: str, *, official: bool = False) -> str:
        self.asked.append((url, mode))
        if self.error:
            raise self.error
        return f"{mode} of {url}"


def open_search(web: Pages | NoWeb, **config: object) -> WebSearch:
    return WebSearch(config, World(web=web))


def call_search(web: Pages | NoWeb, call: str, **config: object) -> str:
    (text,) = Environments({"web_search": open_search(web, **config)}).perform_calls([call])
    return text


def test_a_search_is_a_list_of_results_as_python_shows_it() -> None:
    web = Pages()
    assert call_search(web, "search_engine_query(keywords='a b')") == str(RESULTS)
    assert call_search(web, "search_engine_query('a', 1, 'us-en')") == str(RESULTS[:1])
    assert web.asked == [("a b", 10, "wt-wt"), ("a", 1, "us-en")]


def test_without_snippets_title_and_address_are_left() -> None:
    plain = [{"title": r["title"], "href": r["href"]} for r in RESULTS]
    assert open_search(Pages(), show_snippet=False).search_engine_query("a") == plain


def test_results_are_not_endless() -> None:
    web = Pages()
    open_search(web).search_engine_query("a", 10**9)
    assert web.asked == [("a", 50, "wt-wt")]


def test_a_page_in_each_mode() -> None:
    web = Pages()
    call = "fetch_url_content(url='http://a.example/'{})"
    assert json.loads(call_search(web, call.format(""))) == {"content": "raw of http://a.example/"}
    for mode in ("raw", "markdown", "truncate"):
        assert mode in call_search(web, call.format(f", mode={mode!r}"))


@each_case(
    ("call", "told"),
    [
        ("search_engine_query(keywords='')", "keywords must be words"),
        ("search_engine_query(keywords=' ')", "keywords must be words"),
        ("search_engine_query(keywords=['a'])", "keywords must be words"),
        (f"search_engine_query(keywords={'a' * 2_001!r})", "at most 2,000 characters"),
        ("search_engine_query(keywords='a', max_results=0)", "a whole number from 1 on"),
        ("search_engine_query(keywords='a', max_results='5')", "a whole number from 1 on"),
        ("search_engine_query(keywords='a', max_results=True)", "a whole number from 1 on"),
        ("search_engine_query(keywords='a', max_results=2.5)", "a whole number from 1 on"),
        ("search_engine_query(keywords='a', region=None)", "region must be text"),
        (f"search_engine_query(keywords='a', region={'x' * 99!r})", "region must be text"),
        ("fetch_url_content(url='ftp://a.example/')", "begins with http:// or https://"),
        ("fetch_url_content(url='file:///etc/passwd')", "begins with http:// or https://"),
        ("fetch_url_content(url='a.example')", "begins with http:// or https://"),
        ("fetch_url_content(url=5)", "begins with http:// or https://"),
        ("fetch_url_content(url='http://a.example/', mode='pdf')", "no mode 'pdf'; give raw, markdown"),
        ("fetch_url_content(url='http://a.example/', mode=[])", "no mode"),
    ],
)
def test_what_cannot_be_asked_is_an_error_and_asks_nothing(call: str, told: str) -> None:
    web = Pages()
    assert told in json.loads(call_search(web, call))["error"]
    assert not web.asked


def test_what_fails_is_an_error() -> None:
    web = Pages(WebError("it is closed"))
    assert open_search(web).search_engine_query("a") == {"error": "The search failed: it is closed"}
    told = open_search(web).fetch_url_content("HTTP://a.example/")
    assert told == {"error": "HTTP://a.example/ could not be fetched: it is closed"}


def test_without_a_web_both_fail() -> None:
    assert "there is no web here" in call_search(NoWeb(), "search_engine_query(keywords='a')")
    assert "there is no web here" in call_search(NoWeb(), "fetch_url_content(url='http://a.example/')")


def test_what_is_still_to_be_answered_is_no_result() -> None:
    unanswered = MissingAnswer()
    with pytest.raises(MissingAnswer) as raised:
        call_search(Pages(unanswered), "search_engine_query(keywords='a')")
    assert raised.value is unanswered


def test_searching_changes_nothing() -> None:
    environment: Environment = open_search(Pages())
    before = dict(environment.get_full_state())
    open_search(Pages()).search_engine_query("a")
    assert environment.get_full_state() == before == {"long_context": False, "show_snippet": True}


# Official sentences

SENTENCES = {
    "search_engine_query": ["", "", "", "Nothing came."],
    "fetch_url_content": ["Not {url}", "", "", "No {mode}", "{url} failed: {value}"],
}
EXECUTOR = {"execute_multi_turn_func_call": ["", "Went wrong: {value}"]}


def call_officially(web: Pages, call: str, **config: object) -> str:
    world = World(web=web, sentences={"web_search": SENTENCES, "executor": EXECUTOR})
    (text,) = Environments({"web_search": WebSearch(config, world)}, world).perform_calls([call])
    return text


@each_case(
    ("call", "result"),
    [
        ("search_engine_query('a', max_results=1)", str(RESULTS[:1])),
        ("search_engine_query(7, max_results=1, region=3)", str(RESULTS[:1])),
        ("search_engine_query('a', max_results=-1)", str(RESULTS[:1])),
        ("search_engine_query('a')", "Went wrong: 'snippet'"),
        (
            "search_engine_query('a', max_results='3')",
            "Went wrong: slice indices must be integers or None or have an __index__ method",
        ),
        (f"search_engine_query('{'a' * 2001}')", '{"error": "Nothing came."}'),
        ("fetch_url_content('http://a')", '{"content": "raw of http://a"}'),
        ("fetch_url_content('HTTP://a')", "Went wrong: Not HTTP://a"),
        ("fetch_url_content(3)", "Went wrong: 'int' object has no attribute 'startswith'"),
        ("fetch_url_content('http://a', 'pdf')", '{"error": "http://a failed: No pdf"}'),
    ],
)
def test_official_results_have_the_words_of_the_world(call: str, result: str) -> None:
    assert call_officially(Pages(), call) == result


def test_official_results_without_snippets_need_none() -> None:
    shown = call_officially(Pages(), "search_engine_query('a', max_results=None)", show_snippet=False)
    assert shown == str([{"title": r["title"], "href": r["href"]} for r in RESULTS])


def test_an_official_failure_comes_before_the_mode() -> None:
    broken = Pages(WebError("it is down"))
    assert call_officially(broken, "search_engine_query('a')") == '{"error": "Nothing came."}'
    told = call_officially(broken, "fetch_url_content('http://a', 'pdf')")
    assert told == '{"error": "http://a failed: it is down"}'


def test_an_official_search_without_results_is_an_error() -> None:
    class Empty(Pages):
        def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
            return []

    assert call_officially(Empty(), "search_engine_query('a')") == '{"error": "Nothing came."}'
