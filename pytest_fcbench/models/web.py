"""The web as one who is asked in conversations: it searches, fetches pages, and knows recordings of both.

The request's only message is the call, ``{"name": ..., "arguments": {...}}`` as JSON. The answer is JSON too:
``{"results": [{"title", "href", "body"?}]}``, ``{"content": ...}``, or ``{"error": ...}`` for what a model is
to be told. Where the search engine itself fails there is no answer, and the entry is not scored.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.web import recording
from pytest_fcbench.web.client import Bounds, Client, Refused, Unreachable
from pytest_fcbench.web.page import Page
from pytest_fcbench.web.search import Search, SmallWebSearch
from pytest_fcbench.web.small_web import SmallWeb

Answer: TypeAlias = Mapping[str, object]

_AT_ONCE = 16
"""Questions that are out at the same time."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Who answers what."""

    search: Search
    pages: Client

    def answer(self, name: str, arguments: Mapping[str, object]) -> Answer:
        """The answer to a call. Raises ``CallError`` where the search engine fails."""
        if name == "search_engine_query":
            most = arguments["max_results"]
            assert isinstance(most, int)
            found = self.search.search(str(arguments["keywords"]), most, str(arguments["region"]))
            return {"results": [{k: v for k, v in asdict(hit).items() if v is not None} for hit in found]}
        from pytest_fcbench.web.page_content import Unshown, content

        try:
            return {"content": content(self.pages.get(str(arguments["url"])), str(arguments["mode"]))}
        except (Refused, Unreachable, Unshown) as error:
            return {"error": str(error)}
        except Exception as error:  # noqa: BLE001 - a page that somebody wrote can break any parser
            return {"error": f"it cannot be read ({type(error).__name__})"}


def open_web() -> Client:
    """What fetches pages from any public host."""
    return Client(Bounds(redirects=5, retries=0))


@dataclass
class WebModel:
    """Asks in threads, because searching waits, or in place where nobody else would be held up."""

    make: Callable[[], Sources]
    """Makes what answers, when it is first asked."""
    immediate: bool = False
    notes: tuple[str, ...] = ()
    _lock: Lock = field(default_factory=Lock, repr=False)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask once. Raises ``CallError``."""
        name, arguments = asked(request)
        started = time.perf_counter()
        if self.immediate:
            answer = self._sources.answer(name, arguments)
        else:
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._threads, lambda: self._sources.answer(name, arguments))
        return Completion(text=json.dumps(answer), latency_s=time.perf_counter() - started)

    @property
    def _sources(self) -> Sources:
        with self._lock:
            return self._made

    @cached_property
    def _made(self) -> Sources:
        return self.make()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_AT_ONCE, "fcbench-web")


class OwnWeb:
    """The small web of suites, served from when it is first asked until it is closed."""

    def __init__(self, pages: Callable[[], Mapping[str, Page]]) -> None:
        self._pages = pages
        self._server: SmallWeb | None = None

    def sources(self) -> Sources:
        """Starts the server. Only its hosts can be asked. Raises ``CallError``."""
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
class NoWebModel:
    """Stands where nobody searches the web."""

    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Raises ``CallError``."""
        raise no_search()


def no_search() -> CallError:
    """Why entries that are about the web are not scored."""
    return CallError(
        "no_search",
        "this entry asks about the web, and nobody searches it; name who does with --fcbench-search="
        "duckduckgo, serpapi or recorded:FILE",
    )


@dataclass(frozen=True, slots=True)
class RecordedWeb:
    """Answers from a recording."""

    path: Path
    answers: Mapping[str, Answer]
    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """The recorded answer. Raises ``CallError`` where there is none."""
        name, arguments = asked(request)
        answer = self.answers.get(recording.key(name, arguments))
        if answer is None:
            call = f"{name} with {json.dumps(arguments)}"
            raise CallError("not_recorded", f"{self.path} has no answer to {call:.300}")
        return Completion(text=json.dumps(answer))


@dataclass(frozen=True, slots=True)
class RecordingModel:
    """The web, each answer of which is added to a recording, also one that comes from the store."""

    model: Model
    file: recording.Recording

    @property
    def immediate(self) -> bool:
        """Whether the web never waits."""
        return self.model.immediate

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of the web."""
        return self.model.notes

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """The answer, recorded before it is used: one that cannot be is none."""
        completion = await self.model.complete(entry, request)
        if completion.fault is None:
            try:
                self.file.add(*asked(request), json.loads(completion.text or "{}"))
            except OSError as error:
                raise NotScoredError("recording", f"the answer could not be recorded: {error}") from None
        return completion


def asked(request: AskModel) -> tuple[str, Mapping[str, object]]:
    """Name and arguments of the call that a request holds."""
    (message,) = request.messages
    call = json.loads(str(message["content"]))
    return call["name"], call["arguments"]
