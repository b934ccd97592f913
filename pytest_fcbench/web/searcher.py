"""The web as a tool that conversations ask: it searches, fetches pages, and knows recordings of both.

The request's only message is the call, ``{"name": ..., "arguments": {...}}`` as JSON. The answer is JSON too:
``{"results": [{"title", "href", "body"?}]}``, ``{"content": ...}``, or ``{"error": ...}`` for what a model is
to be told. Where the search engine itself fails there is no answer, and the entry is not scored.

A recording has a call and its answer a line; of a call that is recorded twice the later line counts::

    {"name": "fetch_url_content", "arguments": {"url": "...", "mode": "raw"}, "answer": {"content": "..."}}
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError, UsageError
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.registry import list_missing_packages, require_extra
from pytest_fcbench.domain.text import escape_surrogates, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.web.client import Bounds, Client, Refused, Unreachable, WebReply
from pytest_fcbench.web.loopback_server import ENGINE, Page, SmallWeb

Hit: TypeAlias = Mapping[str, str]
"""A result of a search: its ``title``, its ``href``, and a snippet as ``body`` where the engine gives one."""


class Search(Protocol):
    """A search engine. Threads may share it."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Return at most ``max_results`` results, the best first. Raises ``CallError``."""


@dataclass(frozen=True, slots=True)
class SmallWebSearch:
    """The engine of our own small web, which knows no regions."""

    client: Client

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Ask the server of this run."""
        query = {"q": keywords, "n": str(max_results)}
        results = _parse_json(_get_reply(self.client, f"http://{ENGINE}/", query))
        return _make_hits(results, "url")


class DuckDuckGo:
    """DuckDuckGo through the library ``ddgs``, without a key. Raises ``UsageError`` without the library."""

    def __init__(self) -> None:
        require_extra("search", "--fcbench-search=duckduckgo")

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Ask once. A search that finds nothing, which the library calls an error, is an empty list."""
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            results = DDGS(timeout=20).text(
                _make_sendable(keywords), region=region, max_results=max_results, backend="duckduckgo"
            )
        except RatelimitException as error:
            raise CallError("rate_limit", _describe("ddgs", error), transient=True) from None
        except TimeoutException as error:
            raise CallError("timeout", _describe("ddgs", error), transient=True) from None
        except DDGSException as error:
            if str(error) == "No results found.":
                return []
            raise CallError("endpoint", _describe("ddgs", error), transient=True) from None
        except Exception as error:  # noqa: BLE001 - whatever it trips over is one answer missing, not a crash
            raise CallError("endpoint", _describe("ddgs", error)) from None
        return _make_hits(results, "href")[:max_results]


SERPAPI = "https://serpapi.com/search.json"
KEY_ENV = "SERPAPI_API_KEY"


@dataclass(frozen=True, slots=True)
class SerpApi:
    """DuckDuckGo through SerpAPI, as officially, with the key of ``SERPAPI_API_KEY``."""

    client: Client = field(
        default_factory=lambda: Client(Bounds(frozenset(("serpapi.com",)), redirects=0, retries=0))
    )
    """A client without retries: only the dispatcher repeats calls."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Ask once. A reply that says that nothing was found is an empty list."""
        key = os.environ.get(KEY_ENV, "").strip()
        query = {"engine": "duckduckgo", "q": keywords, "kl": region, "api_key": key}
        reply = _parse_json(_get_reply(self.client, SERPAPI, query, key))
        if not isinstance(reply, Mapping):
            raise CallError("garbled", "serpapi.com: the reply is no object", transient=True)
        if "organic_results" not in reply and "error" in reply and "any results" not in str(reply["error"]):
            raise CallError("endpoint", f"serpapi.com: {redact_secrets(str(reply['error']), key)[:300]}")
        return _make_hits(reply.get("organic_results"), "link")[:max_results]


def open_serpapi() -> SerpApi:
    """Return SerpAPI. Raises ``UsageError`` without a key."""
    if not os.environ.get(KEY_ENV, "").strip():
        raise UsageError(
            f"--fcbench-search=serpapi: set the environment variable {KEY_ENV} to your API key of serpapi.com"
        )
    return SerpApi()


_CAUSES = {401: "authentication", 403: "authentication", 429: "rate_limit"}


def _get_reply(client: Client, url: str, query: Mapping[str, str], secret: str = "") -> WebReply:
    """Return a reply with status 200. Raises ``CallError``, whose reason does not contain the secret."""
    try:
        reply = client.get(url, {name: _make_sendable(text) for name, text in query.items()})
    except Refused as error:
        raise CallError("bad_request", _describe(url, error, secret)) from None
    except Unreachable as error:
        raise CallError("connection", _describe(url, error, secret), transient=True) from None
    if reply.status != 200:
        cause = _CAUSES.get(reply.status, "endpoint")
        wait = reply.headers.get("Retry-After", "")
        raise CallError(
            cause,
            _describe(url, f"HTTP {reply.status}: {reply.body[:300].decode('utf-8', 'replace')}", secret),
            transient=reply.status == 429 or reply.status >= 500,
            retry_after_s=float(wait) if wait.isdecimal() and len(wait) < 7 else None,
        )
    return reply


def _describe(who: str, error: object, secret: str = "") -> str:
    return f"{who}: {redact_secrets(' '.join(str(error).split()), secret)}"[:400]


def _parse_json(reply: WebReply) -> object:
    try:
        value: object = read_json_text(reply.body)
    except (ValueError, RecursionError):
        raise CallError("garbled", "the reply of the search engine is no JSON", transient=True) from None
    return value


_LONGEST = 2_000
"""Characters of a title, an address or a snippet."""


def _make_hits(results: object, href: str) -> list[Hit]:
    """Make a hit of each result in a JSON value; ``href`` is the name of its address."""
    hits: list[Hit] = []
    for result in results if isinstance(results, list) else ():
        if isinstance(result, Mapping):
            # The engines have two names for a snippet; officially a result without one was an error.
            body = result.get("snippet", result.get("body"))
            hit = {"title": result.get("title") or "", "href": result.get(href) or ""}
            hit |= {} if body is None else {"body": body}
            hits.append({name: str(text)[:_LONGEST] for name, text in hit.items()})
    return hits


def _make_sendable(text: str) -> str:
    """Replace control characters by spaces and lone surrogates by their escapes, for use in a URL."""
    plain = "".join(c if c.isprintable() or "\ud800" <= c <= "\udfff" else " " for c in text)
    return escape_surrogates(plain)


# The tool

Answer: TypeAlias = Mapping[str, object]

_AT_ONCE = 16
"""Requests that are open at the same time."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The search engine and the client for pages."""

    search: Search
    pages: Client

    def answer(self, name: str, arguments: Mapping[str, object]) -> Answer:
        """Answer a call. Raises ``CallError`` where the search engine fails."""
        if name == "search_engine_query":
            most = arguments["max_results"]
            assert isinstance(most, int)
            keywords, region = str(arguments["keywords"]), str(arguments["region"])
            return {"results": list(self.search.search(keywords, most, region))}
        # Imported here: the parsers of HTML take their time, and few runs read a page.
        from pytest_fcbench.web.page_content import UnreadablePage, render_content, render_officially

        official = bool(arguments.get("official"))
        render = render_officially if official else render_content
        try:
            return {"content": render(self.pages.get(str(arguments["url"])), str(arguments["mode"]))}
        except Unreachable as error:
            return {"error": error.text if official else str(error)}
        except (Refused, UnreadablePage) as error:
            return {"error": str(error)}
        except Exception as error:  # noqa: BLE001 - a page that somebody wrote can break any parser
            return {"error": f"it cannot be read ({type(error).__name__})"}


def open_web() -> Client:
    """Return a client that fetches pages from any public host."""
    # As the official code, which follows 30 redirects, does not retry, and tells the model the error.
    return Client(Bounds(redirects=30, retries=0))


@dataclass
class WebSearcher:
    """A tool that searches and fetches in threads, or in place where nothing else waits for the loop."""

    make: Callable[[], Sources]
    """Makes the sources when the first request comes."""
    immediate: bool = False
    notes: tuple[str, ...] = ()
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)
    _sources: Sources | None = field(default=None, init=False, repr=False)
    _threads: ThreadPoolExecutor = field(
        default_factory=partial(ThreadPoolExecutor, _AT_ONCE, "fcbench-web"), init=False, repr=False
    )

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask once. Raises ``CallError``."""
        name, arguments = _read_call(request)
        start_s = time.perf_counter()
        if self.immediate:
            answer = self._answer(name, arguments)
        else:
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._threads, self._answer, name, arguments)
        return Completion(text=json.dumps(answer), latency_s=time.perf_counter() - start_s)

    def _answer(self, name: str, arguments: Mapping[str, object]) -> Answer:
        # Several threads may ask before the sources are made.
        with self._lock:
            sources = self._sources = self._sources or self.make()
        return sources.answer(name, arguments)


class OwnWeb:
    """The small web of suites, served from when it is first asked until it is closed."""

    def __init__(self, pages: Callable[[], Mapping[str, Page]]) -> None:
        self._pages = pages
        self._server: SmallWeb | None = None

    def open_sources(self) -> Sources:
        """Start the server and return sources that ask only its hosts. Raises ``CallError``."""
        try:
            self._server = SmallWeb(self._pages())
        except OSError as error:
            raise CallError("own_web", f"the pages of the suite cannot be served: {error}") from None
        local = self._server.local
        client = Client(Bounds(frozenset(local), retries=0), local)
        return Sources(SmallWebSearch(client), client)

    def close(self) -> None:
        """End the server."""
        if self._server:
            self._server.close()


def refuse_search() -> CallError:
    """Return the error of entries about the web in runs without a search engine."""
    return CallError(
        "no_search",
        "this entry needs a web search; choose a search engine with --fcbench-search="
        "duckduckgo, serpapi or recorded:FILE",
    )


def _refuse_call() -> Sources:
    raise refuse_search()


@dataclass(frozen=True, slots=True)
class RecordedWeb:
    """A tool that answers from a recording of the web."""

    path: Path
    answers: Mapping[str, Answer]
    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the recorded answer. Raises ``CallError`` where there is none."""
        name, arguments = _read_call(request)
        answer = self.answers.get(make_key(name, arguments))
        if answer is None:
            call = f"{name} with {json.dumps(arguments)}"
            raise CallError("not_recorded", f"{self.path} has no answer to {call:.300}")
        return Completion(text=json.dumps(answer))


ENGINES: Mapping[str, Callable[[], Search]] = {
    "duckduckgo": lambda: DuckDuckGo(),
    "serpapi": lambda: open_serpapi(),
}
"""Makers of the search engines of the open web by name. Each raises ``UsageError``."""


def open_web_searcher(name: str) -> WebSearcher | RecordedWeb:
    """Return what answers for the open web: an engine, or ``recorded:FILE``. Raises ``UsageError``."""
    kind, _, path = name.partition(":")
    if kind == "recorded":
        return RecordedWeb(Path(path), read_recording(Path(path)))
    if kind not in ENGINES:
        return WebSearcher(_refuse_call, immediate=True)
    engine = ENGINES[kind]()
    notes = ("pages as Markdown are not as officially; pip install 'pytest-fcbench[markdown]'",)
    return WebSearcher(
        lambda: Sources(engine, open_web()), notes=notes if list_missing_packages("markdown") else ()
    )


def _read_call(request: AskModel) -> tuple[str, Mapping[str, object]]:
    """Return name and arguments of the call in a request."""
    (message,) = request.messages
    call = read_json_text(str(message["content"]))
    return call["name"], call["arguments"]


def make_key(name: object, arguments: object) -> str:
    """Return the key of a call; the order of its arguments does not count."""
    return json.dumps([name, arguments], sort_keys=True)


def read_recording(path: Path) -> Mapping[str, Mapping[str, object]]:
    """Read the answers of a file, by key. Raises ``UsageError`` with file and line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            f"recorded:{path}: cannot be read: {error.strerror}; "
            "name a file that --fcbench-search-record has written"
        ) from None
    answers = {}
    for number, line in enumerate(lines, 1):
        try:
            row = read_json_text(line)
            name, arguments, answer = row["name"], row["arguments"], row["answer"]
        except (ValueError, KeyError, TypeError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise UsageError(
                f"{path}:{number}: not a line of a recording; make a recording with --fcbench-search-record"
            )
        answers[make_key(name, arguments)] = answer
    return answers


class Recording:
    """A step that adds the answers of the web to a file, also those that come from the store.

    Threads and processes may share it: a line is one write to its end. Raises ``UsageError`` for a place that
    cannot be written to.
    """

    notes: tuple[str, ...] = ()
    trouble: str | None = None

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise UsageError(f"--fcbench-search-record={path}: cannot be written: {error.strerror}") from None
        self._last: dict[str, str] = {}
        """The last line of each call."""
        self._lock = threading.Lock()

    async def answer_request(
        self, ask: Callable[[Entry, AskModel], Awaitable[Completion]], entry: Entry, request: AskModel
    ) -> Completion:
        """Ask, and record the answer before it is used; one that cannot be recorded does not count."""
        completion = await ask(entry, request)
        if completion.fault is None:
            try:
                self.add(*_read_call(request), read_json_text(completion.text or "{}"))
            except OSError as error:
                raise NotScoredError("recording", f"the answer could not be recorded: {error}") from None
        return completion

    def add(self, name: object, arguments: object, answer: Mapping[str, object]) -> None:
        """Add an answer if it differs from the last one to this call. Raises OSError."""
        call = make_key(name, arguments)
        line = json.dumps({"name": name, "arguments": arguments, "answer": answer})
        with self._lock:
            if self._last.get(call) != line:
                os.write(self._file, f"{line}\n".encode())
                self._last[call] = line

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
