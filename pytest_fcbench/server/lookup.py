"""Find the entry that a request is about, and the manner in which it was put."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

from pytest_fcbench.domain.categories import Group
from pytest_fcbench.domain.driving import drive_conversation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.identity_cache import IdentityCache
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, PathSettings
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.kinds.context import ConversationContext, Memories
from pytest_fcbench.kinds.conversation import converse
from pytest_fcbench.kinds.golden_path.runners import list_path_settings
from pytest_fcbench.kinds.server_turns.conversation import skip_calls
from pytest_fcbench.models.protocol import Model, Responder, run_through
from pytest_fcbench.models.routing import RoutedModel
from pytest_fcbench.server.body import (
    Body,
    RefusedRequestError,
    interpret_messages,
    leave_out_results,
    make_digest,
    parse_json,
    read_body,
)
from pytest_fcbench.server.differences import Expected, Questions, choose_nearest, describe_difference
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.web.searcher import OwnWeb, WebSearcher

MANNERS = (
    Prompting.make_default(Mode.FC, Names.UNDERSCORED),
    Prompting.make_default(Mode.PROMPT, Names.DOTTED),
    Prompting.make_default(Mode.FC, Names.DOTTED),
    Prompting.make_default(Mode.PROMPT, Names.UNDERSCORED),
)
"""The manners in which entries can be put to a model, the usual ones first."""


@dataclass(frozen=True, slots=True)
class FoundRequest:
    """An entry, the manner in which it was put, and how far its conversation is."""

    entry: Entry
    prompting: Prompting
    driven: PathSettings
    """The settings under which a golden path was walked."""
    turn: int = 0
    step: int = 0
    prompt_tokens: int = 0
    """An estimate, a token for four bytes of messages and tools."""
    messages: tuple[Mapping[str, object], ...] = ()
    """The messages of the request where the answer depends on earlier results, else empty."""
    tools: tuple[Mapping[str, object], ...] = ()
    """The tools of the request where they tell how names are shown, else empty."""


Models: TypeAlias = Callable[[Prompting], Model]
"""The model that answers in a manner."""


def list_requests(
    entry: Entry, setting: ConversationContext, models: Models, web: Responder | None = None
) -> Sequence[AskModel]:
    """List every request of the conversation about an entry when this model answers.

    The list ends where the model has no answer. The setting must hold the memories of earlier conversations;
    ``web`` answers requests to the suite's own web.
    """
    model = RoutedModel(models(setting.manner.prompting), {Party.OWN_WEB: web} if web else {})
    requests: list[AskModel] = []

    def answer(request: AskModel) -> Completion:
        # This server starts no others: requests are found whatever results they have.
        if request.party is Party.SERVER:
            return skip_calls(request)
        if request.party is Party.MODEL and request not in requests:
            requests.append(request)
        return run_through(model.complete(entry, request))

    with suppress(NotScoredError):
        talk = converse(entry, setting)
        # Its first request is its only one, so nothing has to be answered.
        if entry.category.single_turn:
            return [next(talk)]
        drive_conversation(talk, answer)
    return requests


class EntryIndex:
    """An index of entries by what they ask, which grows with the entries that are asked about.

    Each entry takes a whole conversation, so only those are indexed whose texts a request repeats. All
    requests about an entry repeat a text of its users, where it has one.
    """

    def __init__(self, suites: Sequence[Suite], models: Models) -> None:
        """Load all entries. Raises ``SuiteError``."""
        self._suites = ", ".join(suite.name for suite in suites)
        self._models = models
        own = OwnWeb(lambda: web_pages.read_pages([suite.web for suite in suites]))
        self._web = WebSearcher(own.open_sources, immediate=True)
        self._entries = {
            each.key: (each, suite)
            for suite in suites
            for category in suite.categories
            for entry in suite.load(category)
            for each in (*entry.earlier, entry)
        }
        self._on_servers = any(entry.category.group is Group.MCP for entry, _ in self._entries.values())
        self._questions = Questions(entry for entry, _ in self._entries.values())
        self._places = {key: place for place, key in enumerate(self._entries)}
        self._index: dict[bytes, dict[str, FoundRequest]] = {}
        self._indexed: set[tuple[str, Prompting, PathSettings]] = set()
        self._memories: dict[Prompting, Memories] = {prompting: {} for prompting in MANNERS}
        self._tool_texts = IdentityCache[Mapping[str, object], _ToolText](4096)
        """Conversations offer the same tools in each request."""

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
        digests = [body.digest]
        if self._on_servers:
            digests.append(body.leave_out_results().digest)
        if key and (found_request := self._find_indexed(digests, key)):
            return found_request
        manners = sorted(MANNERS, key=lambda manner: bool(body.tools) and manner.mode is Mode.PROMPT)
        likely = self._questions.find_entries(body) or self._questions.without_texts
        for entries in ([self._entries[key][0]], likely) if key else (likely,):
            for prompting in manners:
                for _ in self._index_entries(entries, prompting):
                    if found_request := self._find_indexed(digests, key):
                        return found_request
        matches = next((hits for digest in digests if (hits := self._index.get(digest))), {})
        if key is not None:
            nearest = choose_nearest(body, self._list_expected(self._entries[key][0]))
            hint = f": {describe_difference(body, nearest)}" if nearest else ""
            if matches:
                hint = f", {next(iter(matches))} has them"
            raise RefusedRequestError(
                400,
                "other_request",
                f"{key} does not have these messages and tools{hint}; use the same suite version and options "
                f"as the server",
            )
        near = self._questions.find_nearest(body)
        nearest = choose_nearest(body, (each for entry in near for each in self._list_expected(entry)))
        hint = (
            f". The nearest is {nearest.key}: {describe_difference(body, nearest)}"
            if nearest
            else ", nor a question like theirs; name the suite of the request with --suite"
        )
        raise RefusedRequestError(
            404,
            "unknown_request",
            f"no entry of these suites has these messages and tools: {self._suites}{hint}",
        )

    def _find_indexed(self, digests: Sequence[bytes], key: str | None) -> FoundRequest | None:
        """Find a request among those that are indexed: that of the named entry, or of the first one."""
        matches = next((hits for digest in digests if (hits := self._index.get(digest))), {})
        return matches.get(key or min(matches, key=self._places.__getitem__, default=""))

    def _list_expected(self, entry: Entry) -> Iterator[Expected]:
        """Yield every request about an entry in each manner."""
        suite = self._entries[entry.key][1]
        for prompting in MANNERS:
            for path_settings in list_path_settings(entry):
                setting = ConversationContext(ModelPresentation("", prompting), suite, path_settings)
                for each in (*entry.earlier, entry):
                    requests = list_requests(each, setting, self._models, self._web)
                for request in requests:
                    request_body = {"messages": request.messages, "tools": request.tools}
                    yield Expected(entry.key, read_body(json.dumps(request_body)), prompting.mode)

    def _index_entries(self, entries: Sequence[Entry], prompting: Prompting) -> Iterator[None]:
        """Index the requests about entries in a manner; yield after each of the settings of their paths."""
        # A conversation takes time, and most requests are found after the first one.
        for settings in zip_longest(*map(list_path_settings, entries)):
            for entry, path_settings in zip(entries, settings, strict=True):
                if path_settings:
                    self._index_entry(entry, prompting, path_settings)
            yield

    def _index_entry(self, entry: Entry, prompting: Prompting, path_settings: PathSettings) -> None:
        """Index the requests about an entry, after those of the entries that it continues."""
        for each in (*entry.earlier, entry):
            if (each.key, prompting, path_settings) in self._indexed:
                continue
            self._indexed.add((each.key, prompting, path_settings))
            setting = ConversationContext(
                ModelPresentation("", prompting),
                self._entries[each.key][1],
                path_settings,
                self._memories[prompting],
            )
            for request in list_requests(each, setting, self._models, self._web):
                tools = [self._tool_texts.find_or_make(tool, _write_tool) for tool in request.tools]
                text = json.dumps(request.messages, ensure_ascii=False)
                tokens = estimate_tokens(
                    f'{{"messages": {text}, "tools": [{", ".join(tool.sent for tool in tools)}]}}'
                )
                messages = parse_json(text)
                assert isinstance(messages, list)
                if each.category.group is Group.MCP:
                    messages = leave_out_results(messages)
                tools_text = f"[{', '.join(tool.hashed for tool in tools)}]"
                digest = make_digest(interpret_messages(messages), tools_text)
                # Only an answer about a memory or the web depends on what was found out before.
                request_messages = request.messages if each.expectation.rests_on_results else ()
                request_tools = request.tools if each.category.group is Group.COMPLEX else ()
                found_request = FoundRequest(
                    each,
                    prompting,
                    path_settings,
                    request.turn,
                    request.step,
                    tokens,
                    request_messages,
                    request_tools,
                )
                self._index.setdefault(digest, {}).setdefault(each.key, found_request)


@dataclass(frozen=True, slots=True)
class _ToolText:
    """A tool as JSON: as it is sent, and as it is hashed."""

    sent: str
    hashed: str


def _write_tool(tool: Mapping[str, object]) -> _ToolText:
    sent_text = json.dumps(tool, ensure_ascii=False)
    return _ToolText(sent_text, json.dumps(parse_json(sent_text), sort_keys=True))


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one for four bytes of UTF-8, one at least."""
    return max(1, len(text.encode(errors="replace")) // 4)
