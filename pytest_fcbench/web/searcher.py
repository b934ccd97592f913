"""The web as a tool that conversations ask: it searches, fetches pages, and knows recordings of both.

The request's only message is the call, ``{"name": ..., "arguments": {...}}`` as JSON. The answer is JSON too:
``{"results": [{"title", "href", "body"?}]}``, ``{"content": ...}``, or ``{"error": ...}`` for what a model is
to be told. Where the search engine itself fails there is no answer, and the entry is not scored.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from pytest_fcbench.domain import extras
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.web import recording
from pytest_fcbench.web.client import Bounds, Client, Refused, Unreachable
from pytest_fcbench.web.page import Page
from pytest_fcbench.web.search import DuckDuckGo, Search, SmallWebSearch, open_serpapi
from pytest_fcbench.web.small_web import SmallWeb

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
            hits = self.search.search(str(arguments["keywords"]), most, str(arguments["region"]))
            return {"results": [{k: v for k, v in asdict(hit).items() if v is not None} for hit in hits]}
        # Imported here: the parsers of HTML take their time, and few runs read a page.
        from pytest_fcbench.web.page_content import UnreadablePage, render_content
        from pytest_fcbench.web.whole_page import render_officially

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
    # As many redirects as requests follows. No retries: those of ``Retries`` are for all parties.
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


@dataclass(frozen=True, slots=True)
class NoWebSearcher:
    """A stand-in for runs in which nobody searches the web."""

    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Raise ``CallError``."""
        raise refuse_search()


def refuse_search() -> CallError:
    """Return the error of entries about the web in runs without a search engine."""
    return CallError(
        "no_search",
        "this entry needs a web search; choose a search engine with --fcbench-search="
        "duckduckgo, serpapi or recorded:FILE",
    )


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
        answer = self.answers.get(recording.make_key(name, arguments))
        if answer is None and "official" in arguments:
            # A recording of an earlier version has pages in one form only.
            arguments = {key: value for key, value in arguments.items() if key != "official"}
            answer = self.answers.get(recording.make_key(name, arguments))
        if answer is None:
            call = f"{name} with {json.dumps(arguments)}"
            raise CallError("not_recorded", f"{self.path} has no answer to {call:.300}")
        return Completion(text=json.dumps(answer))


ENGINES: Mapping[str, Callable[[], Search]] = {
    "duckduckgo": lambda: DuckDuckGo(),
    "serpapi": lambda: open_serpapi(),
}
"""Makers of the search engines of the open web by name. Each raises ``UsageError``."""


def open_web_searcher(name: str) -> WebSearcher | RecordedWeb | NoWebSearcher:
    """Return what answers for the open web: an engine, or ``recorded:FILE``. Raises ``UsageError``."""
    kind, _, path = name.partition(":")
    if kind == "recorded":
        return RecordedWeb(Path(path), recording.read_recording(Path(path)))
    if kind not in ENGINES:
        return NoWebSearcher()
    engine = ENGINES[kind]()
    notes = ("pages as Markdown are not as officially; pip install 'pytest-fcbench[markdown]'",)
    return WebSearcher(
        lambda: Sources(engine, open_web()), notes=notes if extras.list_missing_packages("markdown") else ()
    )


@dataclass(frozen=True, slots=True)
class WebRecorder:
    """A step that adds the answers of the web to a recording, also those that come from the store."""

    file: recording.Recording
    notes: tuple[str, ...] = ()
    trouble: str | None = None

    async def answer_request(
        self, ask: Callable[[Entry, AskModel], Awaitable[Completion]], entry: Entry, request: AskModel
    ) -> Completion:
        """Ask, and record the answer before it is used; one that cannot be recorded does not count."""
        completion = await ask(entry, request)
        if completion.fault is None:
            try:
                self.file.add(*_read_call(request), read_json_text(completion.text or "{}"))
            except OSError as error:
                raise NotScoredError("recording", f"the answer could not be recorded: {error}") from None
        return completion


def _read_call(request: AskModel) -> tuple[str, Mapping[str, object]]:
    """Return name and arguments of the call in a request."""
    (message,) = request.messages
    call = read_json_text(str(message["content"]))
    return call["name"], call["arguments"]
