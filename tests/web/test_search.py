"""Search engines: what they are asked, what comes back, and what goes wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from urllib.parse import parse_qs, urlsplit

import pytest

from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.web import search
from pytest_fcbench.web.client import Bounds, Client
from pytest_fcbench.web.search import KEY_ENV, DuckDuckGo, Hit, SerpApi
from tests.web.hosting import Hosted, always_send, make_reply, serve_locally

KEY = "k3y-0123456789abcdef"


@contextmanager
def serve_engine(written: bytes) -> Iterator[tuple[SerpApi, Hosted]]:
    """Replace SerpAPI by a server on loopback until the block ends."""
    with serve_locally(always_send(written)) as hosted:
        bounds = Bounds(frozenset(("serpapi.com",)), redirects=0, retries=0)
        yield SerpApi(Client(bounds, {"serpapi.com": hosted.port})), hosted


@pytest.fixture(autouse=True)
def _set_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)


def make_results_reply(*results: object, **more: object) -> bytes:
    return make_reply(json.dumps({"organic_results": results, **more}).encode())


def test_serpapi_is_asked_as_officially() -> None:
    with serve_engine(make_results_reply({"title": "T", "link": "http://a.example", "snippet": "S"})) as (
        serpapi,
        hosted,
    ):
        assert serpapi.search("two words", 5, "us-en") == [Hit("T", "http://a.example", "S")]
    (seen,) = hosted.seen
    query = parse_qs(urlsplit(seen.path).query)
    assert query == {"engine": ["duckduckgo"], "q": ["two words"], "kl": ["us-en"], "api_key": [KEY]}


def test_a_result_without_a_snippet_has_none() -> None:
    with serve_engine(make_results_reply({"title": "T", "link": "L"}, "no result", {"title": 5})) as (
        serpapi,
        _,
    ):
        assert serpapi.search("x", 5, "wt-wt") == [Hit("T", "L", None), Hit("5", "", None)]


def test_no_more_than_asked_for_and_nothing_endless() -> None:
    with serve_engine(make_results_reply(*({"title": "T" * 9_999, "link": "L"} for _ in range(9)))) as (
        serpapi,
        _,
    ):
        hits = serpapi.search("x", 3, "wt-wt")
    assert len(hits) == 3
    assert {len(hit.title) for hit in hits} == {2_000}


def test_nothing_found_is_an_empty_list() -> None:
    said = {"error": "DuckDuckGo hasn't returned any results for this query."}
    with serve_engine(make_reply(json.dumps(said).encode())) as (serpapi, _):
        assert serpapi.search("x", 3, "wt-wt") == []


@pytest.mark.parametrize(
    ("written", "cause", "transient", "wait_s"),
    [
        (make_reply(b"slow down", 429, Retry_After="7"), "rate_limit", True, 7.0),
        (make_reply(f'{{"error": "no key {KEY}"}}'.encode(), 401), "authentication", False, None),
        (make_reply(b"oops", 503), "endpoint", True, None),
        (make_reply(b"<html>"), "garbled", True, None),
        (make_reply(b"[]"), "garbled", True, None),
        (make_reply(f'{{"error": "your account {KEY}"}}'.encode()), "endpoint", False, None),
        (make_reply(b"", 302, Location="http://127.0.0.1/"), "endpoint", False, None),
    ],
)
def test_an_error_of_the_engine_has_its_cause(
    written: bytes, cause: str, transient: bool, wait_s: float | None
) -> None:
    with serve_engine(written) as (serpapi, hosted), pytest.raises(CallError) as told:
        serpapi.search("x", 3, "wt-wt")
    assert (told.value.cause, told.value.transient, told.value.retry_after_s) == (cause, transient, wait_s)
    assert KEY not in told.value.reason
    assert len(hosted.seen) == 1  # trying again is the dispatcher's


def test_an_engine_that_does_not_answer_is_named() -> None:
    with serve_engine(b"") as (serpapi, _):
        pass
    with pytest.raises(CallError, match=r"serpapi\.com") as told:
        serpapi.search("x", 3, "wt-wt")
    assert (told.value.cause, told.value.transient) == ("connection", True)
    assert KEY not in told.value.reason


@pytest.mark.parametrize("words", ["\ud800", "a\nb\x00c", "é" * 500])
def test_any_words_can_be_sent(words: str) -> None:
    with serve_engine(make_results_reply()) as (serpapi, hosted):
        assert serpapi.search(words, 3, "wt-wt") == []
    assert len(hosted.seen) == 1


def test_a_key_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_ENV)
    with pytest.raises(UsageError, match="environment variable SERPAPI_API_KEY"):
        search.open_serpapi()


# DuckDuckGo: the library asks the network itself, so its place is taken by a module of the same form


class Answering:
    """``ddgs.DDGS`` with a fixed answer."""

    answer: Sequence[Mapping[str, str]] | Exception = ()
    asked: list[tuple[str, Mapping[str, object]]] = []  # noqa: RUF012 - one for all, as the class is made anew

    def __init__(self, timeout: int) -> None:
        assert timeout == 20

    def text(self, words: str, **more: object) -> Sequence[Mapping[str, str]]:
        self.asked.append((words, more))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Replace ``ddgs`` by a module of ours."""
    module, errors = ModuleType("ddgs"), ModuleType("ddgs.exceptions")
    module.__spec__ = ModuleSpec("ddgs", None)
    base = type("DDGSException", (Exception,), {})
    kinds = {name: type(name, (base,), {}) for name in ("RatelimitException", "TimeoutException")}
    vars(errors).update(DDGSException=base, **kinds)
    vars(module).update(DDGS=type("DDGS", (Answering,), {"asked": []}), exceptions=errors)
    monkeypatch.setitem(sys.modules, "ddgs", module)
    monkeypatch.setitem(sys.modules, "ddgs.exceptions", errors)
    return module


def test_duckduckgo_gives_its_results(library: ModuleType) -> None:
    library.DDGS.answer = [{"title": "T", "href": "H", "body": "B"}] * 9
    assert DuckDuckGo().search("words", 2, "no-no") == [Hit("T", "H", "B")] * 2
    assert library.DDGS.asked == [("words", {"region": "no-no", "max_results": 2, "backend": "duckduckgo"})]


@pytest.mark.parametrize(
    ("name", "cause"),
    [("RatelimitException", "rate_limit"), ("TimeoutException", "timeout"), ("DDGSException", "endpoint")],
)
def test_an_error_of_duckduckgo_has_its_cause(library: ModuleType, name: str, cause: str) -> None:
    library.DDGS.answer = vars(library.exceptions)[name]("because")
    with pytest.raises(CallError, match="ddgs: because") as told:
        DuckDuckGo().search("words", 2, "wt-wt")
    assert (told.value.cause, told.value.transient) == (cause, True)


def test_an_unexpected_error_of_duckduckgo_is_one_of_the_endpoint(library: ModuleType) -> None:
    library.DDGS.answer = UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no")
    with pytest.raises(CallError, match="ddgs: ") as told:
        DuckDuckGo().search("words", 2, "wt-wt")
    assert told.value.cause == "endpoint"


def test_no_results_of_duckduckgo_are_no_error(library: ModuleType) -> None:
    library.DDGS.answer = library.exceptions.DDGSException("No results found.")
    assert DuckDuckGo().search("words", 2, "wt-wt") == []


def test_duckduckgo_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)
    with pytest.raises(UsageError, match=r"pip install 'pytest-fcbench\[search\]'"):
        DuckDuckGo()
