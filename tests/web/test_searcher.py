"""The tool that searches the web: fetching under the rules, failing searches, recordings."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from io import BufferedIOBase
from ipaddress import ip_address
from pathlib import Path

import pytest

from pytest_fcbench.dispatch.pipeline import Pipeline
from pytest_fcbench.domain.errors import CallError, NotScoredError
from pytest_fcbench.domain.transcript import AskModel, Completion, Party
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites import core
from pytest_fcbench.web import recording
from pytest_fcbench.web.addresses import Address
from pytest_fcbench.web.client import Bounds, Client
from pytest_fcbench.web.search import Hit
from pytest_fcbench.web.searcher import NoWebSearcher, OwnWeb, RecordedWeb, Sources, WebRecorder, WebSearcher
from tests.factories import make_entry
from tests.web.hosting import Answer, Seen, always_send, discard, make_reply, serve_locally

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
        return [Hit("T", "H", None), Hit(keywords, "H", region)][:max_results]


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("mode", ["raw", "markdown"])
@pytest.mark.parametrize("url", ATTACKS)
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
        run_through(NoWebSearcher().complete(ENTRY, SEARCH))
    assert told.value.cause == "no_search"
    assert not told.value.transient


# Recordings


def test_what_was_recorded_is_given_again(tmp_path: Path) -> None:
    path = tmp_path / "web.jsonl"
    file = recording.Recording(path)
    asked = WebSearcher(lambda: Sources(Engine(), Client(Bounds())), immediate=True)
    recorder = Pipeline(asked, [WebRecorder(file)], immediate=True)
    first = run_through(recorder.complete(ENTRY, SEARCH))
    file.close()
    again = RecordedWeb(path, recording.read_recording(path))
    assert run_through(again.complete(ENTRY, SEARCH)).text == first.text
    with pytest.raises(
        CallError, match=r"web.jsonl has no answer to fetch_url_content with \{\"url\""
    ) as told:
        run_through(again.complete(ENTRY, make_fetch_question("http://a.example/")))
    assert told.value.cause == "not_recorded"


def test_a_recording_of_an_earlier_version_serves_official_pages_too(tmp_path: Path) -> None:
    url = "http://a.example/"
    path = tmp_path / "web.jsonl"
    file = recording.Recording(path)
    file.add("fetch_url_content", {"url": url, "mode": "raw"}, {"content": "old"})
    again = RecordedWeb(path, recording.read_recording(path))
    official = make_question("fetch_url_content", url=url, mode="raw", official=True)
    assert json.loads(run_through(again.complete(ENTRY, official)).text or "") == {"content": "old"}
    file.add("fetch_url_content", {"url": url, "mode": "raw", "official": True}, {"content": "new"})
    file.close()
    again = RecordedWeb(path, recording.read_recording(path))
    assert json.loads(run_through(again.complete(ENTRY, official)).text or "") == {"content": "new"}


def test_an_answer_that_cannot_be_recorded_is_none(tmp_path: Path) -> None:
    file = recording.Recording(tmp_path / "web.jsonl")
    file.close()
    asked = WebSearcher(lambda: Sources(Engine(), Client(Bounds())), immediate=True)
    with pytest.raises(NotScoredError, match="could not be recorded"):
        run_through(Pipeline(asked, [WebRecorder(file)], immediate=True).complete(ENTRY, SEARCH))
