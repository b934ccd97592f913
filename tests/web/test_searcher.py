"""The tool that searches the web: fetching under the rules, failing searches, recordings."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from io import BufferedIOBase
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.dispatch.pipeline import Pipeline
from pytest_fcbench.domain.errors import CallError, NotScoredError, UsageError
from pytest_fcbench.domain.transcript import AskModel, Completion, Party
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites import core
from pytest_fcbench.web import searcher as recording
from pytest_fcbench.web import searcher as search
from pytest_fcbench.web.addresses import Address
from pytest_fcbench.web.client import Bounds, Client
from pytest_fcbench.web.searcher import (
    KEY_ENV,
    DuckDuckGo,
    Hit,
    OwnWeb,
    RecordedWeb,
    Recording,
    SerpApi,
    Sources,
    WebSearcher,
    make_key,
    open_web_searcher,
    read_recording,
)
from tests.cases import each_case
from tests.factories import make_entry
from tests.web.hosting import Answer, Hosted, Seen, always_send, discard, make_reply, serve_locally

ENTRY = make_entry()


class Engine:
    """A search engine that is slow, or fails."""

    def __init__(self, error: CallError | None = None) -> None:
        self.error = error
        self.threads: set[str] = set()

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        self.threads.add(threading.current_thread().name)
        if self.error:
            raise self.error
        return [{"title": "T", "href": "H"}, {"title": keywords, "href": "H", "body": region}][:max_results]


def make_question(name: str, **arguments: object) -> AskModel:
    content = json.dumps({"name": name, "arguments": arguments})
    return AskModel(({"role": "user", "content": content},), party=Party.WEB)


SEARCH = make_question("search_engine_query", keywords="a", max_results=5, region="wt-wt")


def make_fetch_question(url: str, mode: str = "raw") -> AskModel:
    return make_question("fetch_url_content", url=url, mode=mode)


def fetch_page(client: Client, url: str, mode: str = "raw") -> dict[str, str]:
    model = WebSearcher(lambda: Sources(Engine(), client), immediate=True)
    answer: dict[str, str] = json.loads(
        run_through(model.complete(ENTRY, make_fetch_question(url, mode))).text or ""
    )
    return answer


def test_a_search_gives_results_as_json() -> None:
    model = WebSearcher(lambda: Sources(Engine(), Client(Bounds())), immediate=True)
    answer = json.loads(run_through(model.complete(ENTRY, SEARCH)).text or "")
    results = [{"title": "T", "href": "H"}, {"title": "a", "href": "H", "body": "wt-wt"}]
    assert answer == {"results": results}


def test_a_search_that_fails_is_no_answer() -> None:
    error = CallError("rate_limit", "slow down", transient=True)
    model = WebSearcher(lambda: Sources(Engine(error), Client(Bounds())), immediate=True)
    with pytest.raises(CallError, match="slow down"):
        run_through(model.complete(ENTRY, SEARCH))


def test_what_waits_is_asked_in_threads() -> None:
    engine = Engine()
    model = WebSearcher(lambda: Sources(engine, Client(Bounds())))

    async def ask_twice() -> list[Completion]:
        return await asyncio.gather(*(model.complete(ENTRY, SEARCH) for _ in range(2)))

    assert len(asyncio.run(ask_twice())) == 2
    assert all(name.startswith("fcbench-web") for name in engine.threads)


# Pages


def fetch_locally(
    answer: Answer, url: str, mode: str = "raw", bounds: Bounds | None = None
) -> dict[str, str]:
    """Fetch a page from a host of ours, and check that it was asked no more often than it may be."""
    with serve_locally(answer) as hosted:
        client = Client(bounds or Bounds(retries=0, timeout_s=5), {"a.example": hosted.port})
        found = fetch_page(client, url, mode)
        assert len(hosted.seen) <= 6
    return found


def test_a_page_is_fetched_in_each_mode() -> None:
    html = make_reply(b"<p>a <b>b</b></p>", Content_Type="text/html")
    assert fetch_locally(always_send(html), "http://a.example/x") == {"content": "<p>a <b>b</b></p>"}
    assert fetch_locally(always_send(html), "http://a.example/x", "markdown") == {"content": "a **b**"}
    assert fetch_locally(always_send(html), "http://a.example/x", "truncate") == {"content": "a b"}


def _send_slowly(seen: Seen, out: BufferedIOBase) -> None:
    out.write(b"HTTP/1.1 200 -\r\nContent-Type: text/html\r\n\r\n")
    while True:
        out.write(b"x")
        out.flush()
        time.sleep(0.02)


@each_case(
    ("answer", "told"),
    [
        (always_send(make_reply(b"x", 404)), "HTTP status 404"),
        (always_send(make_reply(b"%PDF-1.4", Content_Type="application/pdf")), "PDF document"),
        (always_send(make_reply(b"", 302, Location="http://a.example/again")), "more than 3 redirects"),
        (
            always_send(make_reply(b"", 302, Location="http://169.254.169.254/latest/meta-data/")),
            "no public address",
        ),
        (
            always_send(make_reply(b"", 302, Location="http://127.0.0.1:8000/")),
            "127.0.0.1 is no public address",
        ),
        (always_send(make_reply(b"", 302, Location="file:///etc/passwd")), "only http and https"),
        (always_send(make_reply(b"x" * 200_000, Content_Type="text/html")), "more than 100,000 bytes"),
        (_send_slowly, "no whole reply within 0.5 s"),
        (always_send(b"not http at all\r\n\r\n"), ""),
        (lambda seen, out: discard(out.close()), ""),
    ],
)
def test_hostile_servers_are_an_error_for_the_model(answer: Answer, told: str) -> None:
    bounds = Bounds(retries=0, timeout_s=0.5, max_bytes=100_000)
    assert told in fetch_locally(answer, "http://a.example/", bounds=bounds)["error"]


ATTACKS = (
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/",
    "http://localhost/",
    "http://[::1]/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://192.168.1.1/admin",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fe80::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://user:secret@a.example/",
    "http://a.example:22/",
    "http://a.example/\r\nX: y",
    "http:///etc/passwd",
    "http://a.example\\@127.0.0.1/",
    "http://private.example/",
    "http://mixed.example/",
    "http://link-local.example/",
    "file:///etc/passwd",
    "gopher://a.example/",
    "http://" + "a" * 20_000,
    "http://\ud800.example/",
)

NAMES = {
    "private.example": ["10.1.2.3"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "link-local.example": ["169.254.169.254"],
}


def _resolve_host(host: str) -> Sequence[Address]:
    return [ip_address(text) for text in NAMES.get(host, ["93.184.216.34"])]


def _no_connection(*told: object) -> object:
    raise AssertionError(f"connected to {told}")


@each_case("mode", ["raw", "markdown"])
@each_case("url", ATTACKS)
def test_what_is_not_public_is_refused_before_any_connection(url: str, mode: str) -> None:
    client = Client(Bounds(retries=0), resolve=_resolve_host, connect=_no_connection)  # type: ignore[arg-type]
    found = fetch_page(client, url, mode)
    assert set(found) == {"error"}
    assert "AssertionError" not in found["error"]


# The small web of a suite


def test_the_own_web_is_served_until_it_is_closed() -> None:
    web = OwnWeb(lambda: web_pages.read_pages([core.open_suite(Path()).web]))
    model = WebSearcher(web.open_sources, immediate=True)
    web.close()  # nothing was started yet
    answer = json.loads(run_through(model.complete(ENTRY, SEARCH)).text or "")
    assert len(answer["results"]) == 5
    page = json.loads(
        run_through(model.complete(ENTRY, make_fetch_question("http://works.example/lode-mill"))).text or ""
    )
    assert "flour mill" in page["content"]
    other = json.loads(
        run_through(model.complete(ENTRY, make_fetch_question("http://example.org/"))).text or ""
    )
    assert "not among the hosts" in other["error"]
    web.close()


def test_without_a_search_engine_a_search_is_not_scored() -> None:
    with pytest.raises(CallError, match="--fcbench-search=duckduckgo, serpapi or recorded:FILE") as told:
        run_through(open_web_searcher("none").complete(ENTRY, SEARCH))
    assert told.value.cause == "no_search"
    assert not told.value.transient


# Recordings


def test_what_was_recorded_is_given_again(tmp_path: Path) -> None:
    path = tmp_path / "web.jsonl"
    file = recording.Recording(path)
    asked = WebSearcher(lambda: Sources(Engine(), Client(Bounds())), immediate=True)
    recorder = Pipeline(asked, [file], immediate=True)
    first = run_through(recorder.complete(ENTRY, SEARCH))
    file.close()
    again = RecordedWeb(path, recording.read_recording(path))
    assert run_through(again.complete(ENTRY, SEARCH)).text == first.text
    with pytest.raises(
        CallError, match=r"web.jsonl has no answer to fetch_url_content with \{\"url\""
    ) as told:
        run_through(again.complete(ENTRY, make_fetch_question("http://a.example/")))
    assert told.value.cause == "not_recorded"


def test_an_answer_that_cannot_be_recorded_is_none(tmp_path: Path) -> None:
    file = recording.Recording(tmp_path / "web.jsonl")
    file.close()
    asked = WebSearcher(lambda: Sources(Engine(), Client(Bounds())), immediate=True)
    with pytest.raises(NotScoredError, match="could not be recorded"):
        run_through(Pipeline(asked, [file], immediate=True).complete(ENTRY, SEARCH))


TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
VALUES = st.dictionaries(TEXT, TEXT | st.integers(), max_size=3)


@given(st.lists(st.tuples(TEXT, VALUES, VALUES), max_size=5))
def test_what_is_recorded_is_read_back(calls: list[tuple[str, dict[str, object], dict[str, object]]]) -> None:
    with TemporaryDirectory() as folder:
        file = Recording(Path(folder, "new", "web.jsonl"))
        for call in calls:
            file.add(*call)
        file.close()
        answers = read_recording(Path(folder, "new", "web.jsonl"))
    assert answers == {make_key(name, arguments): answer for name, arguments, answer in calls}


def test_the_same_is_written_once_and_the_last_answer_holds(tmp_path: Path) -> None:
    path = tmp_path / "web.jsonl"
    for _ in range(2):
        file = Recording(path)
        for answer in ({"a": 1}, {"a": 1}, {"a": 2}):
            file.add("f", {}, answer)
        file.close()
    assert len(path.read_text().splitlines()) == 4
    assert read_recording(path) == {make_key("f", {}): {"a": 2}}


@each_case("line", ["", "{", "[]", "5", '{"name": "f", "arguments": {}, "answer": 5}', "[" * 9_999])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "web.jsonl"
    path.write_text(f'{{"name": "f", "arguments": {{}}, "answer": {{}}}}\n{line}\n')
    with pytest.raises(UsageError, match=r"web.jsonl:2: not a line of a recording"):
        read_recording(path)


def test_places_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"recorded:.*missing: cannot be read"):
        read_recording(tmp_path / "missing")
    with pytest.raises(UsageError, match="--fcbench-search-record="):
        Recording(tmp_path)


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
        assert serpapi.search("two words", 5, "us-en") == [
            {"title": "T", "href": "http://a.example", "body": "S"}
        ]
    (seen,) = hosted.seen
    query = parse_qs(urlsplit(seen.path).query)
    assert query == {"engine": ["duckduckgo"], "q": ["two words"], "kl": ["us-en"], "api_key": [KEY]}


def test_a_result_without_a_snippet_has_none() -> None:
    with serve_engine(make_results_reply({"title": "T", "link": "L"}, "no result", {"title": 5})) as (
        serpapi,
        _,
    ):
        assert serpapi.search("x", 5, "wt-wt") == [{"title": "T", "href": "L"}, {"title": "5", "href": ""}]


def test_no_more_than_asked_for_and_nothing_endless() -> None:
    with serve_engine(make_results_reply(*({"title": "T" * 9_999, "link": "L"} for _ in range(9)))) as (
        serpapi,
        _,
    ):
        hits = serpapi.search("x", 3, "wt-wt")
    assert len(hits) == 3
    assert {len(hit["title"]) for hit in hits} == {2_000}


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
    assert DuckDuckGo().search("words", 2, "no-no") == [{"title": "T", "href": "H", "body": "B"}] * 2
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
