"""Find the entry that a request is about, and the manner in which it was put."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_fcbench.conversations.entry import converse
from pytest_fcbench.conversations.setting import Memories, Setting
from pytest_fcbench.domain.driving import drive_conversation
from pytest_fcbench.domain.entry import Answers, Entry, GoldenPath
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Manner, Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.models.protocol import Model, run_through
from pytest_fcbench.models.routing import Parties
from pytest_fcbench.models.web import OwnWeb, WebModel
from pytest_fcbench.suites.formats import web_pages
from pytest_fcbench.suites.suite import Suite

MANNERS = (
    Prompting.make_default(Mode.FC, Names.UNDERSCORED),
    Prompting.make_default(Mode.PROMPT, Names.DOTTED),
    Prompting.make_default(Mode.FC, Names.DOTTED),
    Prompting.make_default(Mode.PROMPT, Names.UNDERSCORED),
)
"""The manners in which entries can be put to a model, the usual ones first."""


class RefusedRequestError(Exception):
    """An error that answers a request: HTTP status, OpenAI's code, a sentence."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class FoundRequest:
    """An entry, the manner in which it was put, and how far its conversation is."""

    entry: Entry
    prompting: Prompting
    turn: int = 0
    step: int = 0
    prompt_tokens: int = 0
    """An estimate, a token for four bytes of messages and tools."""
    messages: tuple[Mapping[str, object], ...] = ()
    """The messages of the request where the answer depends on earlier results, else empty."""


Models: TypeAlias = Callable[[Prompting], Model]
"""The model that answers in a manner."""


def list_requests(
    entry: Entry,
    suite: Suite,
    prompting: Prompting,
    models: Models,
    memories: Memories | None = None,
    web: Model | None = None,
) -> Sequence[AskModel]:
    """List every request of the conversation about an entry when this model answers.

    The list ends where the model has no answer. A golden path is followed in each profile, because the two
    can continue differently. ``memories`` must hold the memories of earlier conversations; ``web`` answers
    requests to the suite's own web.
    """
    model = Parties(models(prompting), {Party.OWN_WEB: web} if web else {})
    asked: list[AskModel] = []

    def answer(request: AskModel) -> Completion:
        if request.party is Party.MODEL and request not in asked:
            asked.append(request)
        return run_through(model.complete(entry, request))

    memories = {} if memories is None else memories
    for profile in Profile if isinstance(entry.expectation, GoldenPath) else (Profile.OFFICIAL,):
        with suppress(NotScoredError):
            manner = Manner("", prompting)
            talk = converse(entry, Setting(manner, suite, PathSettings(profile), memories))
            # Its first request is its only one, so nothing has to be answered.
            if entry.category.single_turn:
                return [next(talk)]
            drive_conversation(talk, answer)
    return asked


@dataclass(frozen=True, slots=True)
class Body:
    """The parts of a request's body that the server uses."""

    digest: bytes
    """Hash of messages and tools as JSON values; missing tools count as an empty list."""
    messages: Sequence[object] = field(compare=False)
    tools: object = field(compare=False)
    stream: bool = False
    include_usage: bool = False
    """True where the last event of a stream shall tell the token usage."""


def parse_json(text: str | bytes) -> object:
    """Parse the body of a request. Raises ``RefusedRequestError`` where it is not JSON."""
    try:
        body: object = json.loads(text, parse_float=_parse_number)
    except (ValueError, RecursionError) as error:
        raise RefusedRequestError(400, "invalid_json", f"the body is not JSON: {error}") from None
    return body


def read_body(text: str | bytes) -> Body:
    """Read a chat request. Raises ``RefusedRequestError`` for one that is not JSON or has no messages."""
    return interpret_body(parse_json(text))


def interpret_body(body: object) -> Body:
    """Interpret a parsed chat request. Raises ``RefusedRequestError`` for one without messages."""
    try:
        if not isinstance(body, Mapping) or not isinstance(body.get("messages"), list):
            raise RefusedRequestError(
                400, "invalid_request", "the body must be an object with a list of messages"
            )
        # Clients leave out the content of a message that has none, or send null.
        messages = [
            {key: value for key, value in message.items() if value is not None}
            if isinstance(message, Mapping)
            else message
            for message in body["messages"]
        ]
        # Temperature, model and the order of keys differ from client to client, so they are left out.
        tools = body.get("tools") or []
        asked = json.dumps([messages, tools], sort_keys=True)
    except RecursionError as error:
        raise RefusedRequestError(400, "invalid_json", f"the body is not JSON: {error}") from None
    options = body.get("stream_options")
    return Body(
        hashlib.sha256(asked.encode()).digest(),
        messages,
        tools,
        stream=bool(body.get("stream")),
        include_usage=isinstance(options, Mapping) and bool(options.get("include_usage")),
    )


def _parse_number(text: str) -> float:
    """Parse a number by its value, because some clients (JavaScript) write ``1`` for ``1.0``."""
    number = float(text)
    return int(number) if number.is_integer() else number


class Lookup:
    """An index of entries by what they ask, which grows entry by entry until a request is found."""

    def __init__(self, suites: Sequence[Suite], models: Models) -> None:
        """Load all entries. Raises ``SuiteError``."""
        self._suites = ", ".join(suite.name for suite in suites)
        self._models = models
        own = OwnWeb(lambda: web_pages.read_pages([suite.web for suite in suites]))
        self._web = WebModel(own.open_sources, immediate=True)
        self._entries = {
            each.key: (each, suite)
            for suite in suites
            for category in suite.categories
            for entry in suite.load(category)
            for each in (*entry.earlier, entry)
        }
        self._index: dict[bytes, dict[str, FoundRequest]] = {}
        self._indexed = self._index_entries()

    def find_request(self, body: Body, name: str | None = None) -> FoundRequest:
        """Find the entry of a request; where several ask the same, the named one, else the first.

        ``name`` is a key, with its trial where there are several. Raises ``RefusedRequestError``.
        """
        # An id may itself end like a trial, so it is looked up before the trial is cut off.
        key = name if name is None or name in self._entries else re.sub(r"-t[1-9]\d*$", "", name)
        if key is not None and key not in self._entries:
            raise RefusedRequestError(
                404, "unknown_entry", f"these suites have no entry {name!r}: {self._suites}"
            )
        while True:
            found = self._index.get(body.digest, {})
            if asked := found.get(key) if key else next(iter(found.values()), None):
                return asked
            if next(self._indexed, None) is None:
                break
        if key is not None:
            raise RefusedRequestError(
                400,
                "other_request",
                f"{key} does not have these messages and tools; use the same suite version and "
                f"options as the server",
            )
        raise RefusedRequestError(
            404, "unknown_request", f"no entry of these suites has these messages: {self._suites}"
        )

    def _index_entries(self) -> Iterator[str]:
        """Index the requests of one entry after the other, in each manner, and yield its key.

        Each takes a whole conversation, so what no request needs is not indexed: the first request would wait
        for all of them, and most clients use one manner.
        """
        for prompting in MANNERS:
            memories: Memories = {}
            for key, (entry, suite) in self._entries.items():
                for request in list_requests(entry, suite, prompting, self._models, memories, self._web):
                    asked_for = {"messages": request.messages, "tools": request.tools}
                    text = json.dumps(asked_for, ensure_ascii=False)
                    # Only an answer about a memory or the web depends on what was found out before.
                    said = request.messages if isinstance(entry.expectation, Answers) else ()
                    asked = FoundRequest(
                        entry, prompting, request.turn, request.step, estimate_tokens(text), said
                    )
                    self._index.setdefault(read_body(text).digest, {}).setdefault(key, asked)
                yield key


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one for four bytes of UTF-8, one at least."""
    return max(1, len(text.encode(errors="replace")) // 4)
