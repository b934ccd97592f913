"""Find the entry that a request is about, the manner in which it was put, and the answer to it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax
from pytest_fcbench.codecs.dialogues.families import find_api
from pytest_fcbench.codecs.dialogues.vendor_forms import read_family_reply
from pytest_fcbench.codecs.native_prompt import find_prompted_syntax, write_native_prompt
from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.registry import IdentityCache
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, PathSettings, drive_conversation
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.kinds.golden_path.script import list_path_settings
from pytest_fcbench.kinds.kind import ConversationContext, Memories
from pytest_fcbench.kinds.server_turns.kind import skip_calls
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.models.protocol import Model, Responder, RoutedModel, run_through
from pytest_fcbench.server.body import (
    Body,
    RefusedRequestError,
    estimate_tokens,
    interpret_messages,
    leave_out_results,
    make_digest,
    parse_json,
    read_body,
)
from pytest_fcbench.server.nearest import Expected, Questions, choose_nearest, describe_difference
from pytest_fcbench.server.replies import ServedReply, build_reply, write_reply
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.web.searcher import OwnWeb, WebSearcher

MANNERS = (
    Prompting.make_default(Mode.FC, Names.UNDERSCORED),
    Prompting.make_default(Mode.PROMPT, Names.DOTTED),
    Prompting.make_default(Mode.FC, Names.DOTTED),
    Prompting.make_default(Mode.PROMPT, Names.UNDERSCORED),
)
"""The manners in which entries can be put to a model, the usual ones first."""

CONTINUED = (Prompting.make_default(Mode.COMPLETION),)
"""The manner of entries that are put to a base model."""

Models: TypeAlias = Callable[[Prompting], Model]
"""The model that answers in a manner."""


@dataclass(frozen=True, slots=True)
class FoundRequest:
    """An entry, the manner in which it was put, how far its conversation is, and the answer."""

    entry: Entry
    prompting: Prompting
    turn: int
    step: int
    prompt_tokens: int
    """An estimate, a token for four bytes of messages and tools."""
    answer: Completion | NotScoredError
    """What the model says, or why it says nothing."""
    tools: tuple[Mapping[str, object], ...] = ()
    native: NativeSyntax | None = None
    """The native syntax in which calls are asked for, where the tools stand in the prompt."""


class _ServedEntries:
    """The entries of suites by key, and the web that they ask."""

    def __init__(self, suites: Sequence[Suite]) -> None:
        """Load all entries. Raises ``SuiteError``."""
        self.names = ", ".join(suite.name for suite in suites)
        self.by_key = {
            each.key: (each, suite)
            for suite in suites
            for category in suite.categories
            for entry in suite.load(category)
            for each in (*entry.earlier, entry)
        }
        own = OwnWeb(lambda: web_pages.read_pages([suite.web for suite in suites]))
        self.web = WebSearcher(own.open_sources, immediate=True)

    def find_key(self, name: str | None) -> str | None:
        """Return the key of an entry from its name in a header, which may end with a trial."""
        # An id may itself end like a trial, so it is looked up before the trial is cut off.
        return name if name is None or name in self.by_key else re.sub(r"-t[1-9]\d*$", "", name)


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
        self._served = _ServedEntries(suites)
        self._entries = self._served.by_key
        self._models = models
        self._on_servers = any(entry.category.group is Group.MCP for entry, _ in self._entries.values())
        self._questions = Questions(entry for entry, _ in self._entries.values())
        self._places = {key: place for place, key in enumerate(self._entries)}
        self._index: dict[bytes, dict[str, FoundRequest]] = {}
        self._indexed: set[tuple[str, Prompting, PathSettings, NativeSyntax | None]] = set()
        self._memories: defaultdict[Prompting, Memories] = defaultdict(dict)
        self._tool_texts = IdentityCache[Mapping[str, object], tuple[str, str]](4096)
        """Conversations offer the same tools in each request: as they are sent, and as they are hashed."""

    @property
    def has_entries(self) -> bool:
        """True where there is an entry to ask about."""
        return bool(self._entries)

    def find_request(self, body: Body, name: str | None = None) -> FoundRequest:
        """Find the entry of a request; where several ask the same, the named one, else the first.

        ``name`` is a key, with its trial where there are several. Raises ``RefusedRequestError``.
        """
        key = self._served.find_key(name)
        if key is not None and key not in self._entries:
            raise RefusedRequestError(
                404, "unknown_entry", f"these suites have no entry {name!r}: {self._served.names}"
            )
        digests = [body.digest]
        if self._on_servers:
            digests.append(body.leave_out_results().digest)
        if key and (found_request := self._find_indexed(digests, key)):
            return found_request
        native = find_prompted_syntax(body.messages)
        is_fc = bool(body.tools or native)
        among = CONTINUED if body.is_continued else MANNERS
        manners = sorted(among, key=lambda manner: is_fc and manner.mode is Mode.PROMPT)
        likely = self._questions.find_entries(body) or self._questions.without_texts
        for entries in ([self._entries[key][0]], likely) if key else (likely,):
            for prompting in manners:
                for _ in self._index_entries(entries, prompting, native):
                    if found_request := self._find_indexed(digests, key):
                        return found_request
        raise self._refuse_request(body, digests, key)

    def _refuse_request(self, body: Body, digests: Sequence[bytes], key: str | None) -> RefusedRequestError:
        """Return the error of a request that no entry has, with the nearest one."""
        near = [self._entries[key][0]] if key else self._questions.find_nearest(body)
        nearest = choose_nearest(body, (each for entry in near for each in self._list_expected(entry)))
        hint = describe_difference(body, nearest) if nearest else ""
        if key is None:
            hint = (
                f". The nearest is {nearest.key}: {hint}"
                if nearest
                else ", nor a question like theirs; name the suite of the request with --suite"
            )
            reason = f"no entry of these suites has these messages and tools: {self._served.names}{hint}"
            return RefusedRequestError(404, "unknown_request", reason)
        others = self._find_matches(digests)
        hint = f", {next(iter(others))} has them" if others else f": {hint}" if nearest else ""
        return RefusedRequestError(
            400,
            "other_request",
            f"{key} does not have these messages and tools{hint}; use the same suite version and options "
            f"as the server",
        )

    def _find_matches(self, digests: Sequence[bytes]) -> Mapping[str, FoundRequest]:
        return next((matches for digest in digests if (matches := self._index.get(digest))), {})

    def _find_indexed(self, digests: Sequence[bytes], key: str | None) -> FoundRequest | None:
        """Find a request among those that are indexed: that of the named entry, or of the first one."""
        matches = self._find_matches(digests)
        return matches.get(key or min(matches, key=self._places.__getitem__, default=""))

    def _list_expected(self, entry: Entry) -> Iterator[Expected]:
        """Yield every request about an entry in each manner."""
        suite = self._entries[entry.key][1]
        for prompting in MANNERS:
            for path_settings in list_path_settings(entry):
                setting = ConversationContext(ModelPresentation("", prompting), suite, path_settings)
                for each in (*entry.earlier, entry):
                    requests = list_requests(each, setting, self._models, self._served.web)
                for request in requests:
                    request_body = {"messages": request.messages, "tools": request.tools}
                    yield Expected(entry.key, read_body(json.dumps(request_body)), prompting.mode)

    def _index_entries(
        self, entries: Sequence[Entry], prompting: Prompting, native: NativeSyntax | None
    ) -> Iterator[None]:
        """Index the requests about entries in a manner; yield after each of the settings of their paths."""
        # A conversation takes time, and most requests are found after the first one.
        for settings in zip_longest(*map(list_path_settings, entries)):
            for entry, path_settings in zip(entries, settings, strict=True):
                if path_settings:
                    self._index_entry(entry, prompting, path_settings, native)
            yield

    def _index_entry(
        self, entry: Entry, prompting: Prompting, path_settings: PathSettings, native: NativeSyntax | None
    ) -> None:
        """Index the requests about an entry, after those of the entries that it continues."""
        for each in (*entry.earlier, entry):
            if (each.key, prompting, path_settings, native) in self._indexed:
                continue
            self._indexed.add((each.key, prompting, path_settings, native))
            memories, suite = self._memories[prompting], self._entries[each.key][1]
            setting = ConversationContext(ModelPresentation("", prompting), suite, path_settings, memories)
            model = self._models(prompting)
            for request in list_requests(each, setting, {prompting: model}.__getitem__, self._served.web):
                asked = write_native_prompt(request, native) if native else request
                tools = [self._tool_texts.find_or_make(tool, _write_tool) for tool in asked.tools]
                text = json.dumps(asked.messages, ensure_ascii=False)
                sent_tools = ", ".join(sent for sent, _ in tools)
                messages = parse_json(text)
                assert isinstance(messages, list)
                if each.category.group is Group.MCP:
                    messages = leave_out_results(messages)
                digest = make_digest(
                    interpret_messages(messages), f"[{', '.join(hashed for _, hashed in tools)}]"
                )
                try:
                    completion: Completion | NotScoredError = run_through(model.complete(each, request))
                except NotScoredError as error:
                    completion = error
                tokens = estimate_tokens(f'{{"messages": {text}, "tools": [{sent_tools}]}}')
                found_request = FoundRequest(
                    each, prompting, request.turn, request.step, tokens, completion, request.tools, native
                )
                self._index.setdefault(digest, {}).setdefault(each.key, found_request)


def _write_tool(tool: Mapping[str, object]) -> tuple[str, str]:
    """Write a tool as JSON: as it is sent, and as it is hashed."""
    sent_text = json.dumps(tool, ensure_ascii=False)
    return sent_text, json.dumps(parse_json(sent_text), sort_keys=True)


# Families

_SAID = (
    *("messages", "input", "contents", "prompt", "system", "systemInstruction"),
    *("tools", "toolConfig", "functions", "chat_template_kwargs"),
)
"""The members of a body that an entry decides; the others are parameters, which a client may choose."""


class FamilyLookup:
    """An index of replies by requests in the form of a family, which grows until a request is found.

    No request of an API is interpreted: it is the one that our own client sends, or it is refused.
    """

    def __init__(self, suites: Sequence[Suite], models: Models, manner: ModelPresentation) -> None:
        """Load all entries. Raises ``SuiteError``."""
        assert manner.member, "requests of a family have the form of a member"
        self.member, self._manner = manner.member, manner
        api = find_api(manner.member.handler)
        assert api, "a family without a dialogue is refused before it is served"
        self.api = api
        self._served = _ServedEntries(suites)
        # A served model writes calls as every interface returns them, or as Python.
        model = models(Prompting.make_default(manner.prompting.mode, manner.prompting.names))
        self._model = RoutedModel(model, {Party.OWN_WEB: self._served.web})
        self._index: dict[str, dict[str, ServedReply]] = {}
        self._indexed = self._index_entries()

    def find_reply(self, content: bytes, name: str | None = None) -> tuple[str, ServedReply]:
        """Find the reply to a request, and the key of its entry; of several the named one, else the first.

        Raises ``RefusedRequestError``.
        """
        body = parse_json(content)
        if not isinstance(body, Mapping):
            raise RefusedRequestError(400, "invalid_json", "the body must be a JSON object")
        key, digest = self._served.find_key(name), _hash_said(body)
        while True:
            replies = self._index.get(digest, {})
            if key in replies:
                return key, replies[key]
            if replies and key is None:
                return next(iter(replies.items()))
            if next(self._indexed, None) is None:
                break
        known = key in self._served.by_key
        problem = f"{key} has no" if known else f"no entry of {self._served.names} has a"
        raise RefusedRequestError(
            404,
            "unknown_request",
            f"{problem} request like this as {self.member}; ask with the same suite version and with "
            f"--fcbench-as={self.member.model}",
        )

    def _index_entries(self) -> Iterator[str]:
        """Hold the conversation about one entry after the other, and yield its key."""
        memories: Memories = {}
        is_fc = self._manner.prompting.mode is Mode.FC
        for key, (entry, suite) in self._served.by_key.items():
            # Golden paths are asked in a form of their own, and prompt formats in prompt mode only.
            if entry.category.group is not Group.COMPLEX and not (is_fc and entry.category.varies_others):
                with suppress(NotScoredError):
                    self._hold_conversation(entry, suite, memories)
            yield key

    def _hold_conversation(self, entry: Entry, suite: Suite, memories: Memories) -> None:
        def answer(request: AskModel) -> Completion:
            completion = run_through(self._model.complete(entry, request))
            if request.wire is None or request.party is not Party.MODEL:
                return completion
            # Without the entry: some begin alike, and their requests differ only when their results do.
            reply = build_reply(self.member.name, completion, f"{request.turn}_{request.step}", 1)
            self._index.setdefault(_hash_said(request.wire.body), {}).setdefault(entry.key, reply)
            return read_family_reply(request.wire.api, write_reply(request.wire.api, reply))

        setting = ConversationContext(self._manner, suite, PathSettings(Profile.OFFICIAL), memories)
        drive_conversation(converse(entry, setting), answer)


def _hash_said(body: Mapping[str, object]) -> str:
    # Numbers by value, as ``parse_json`` reads those of a request.
    members = parse_json(json.dumps({name: body[name] for name in _SAID if name in body}))
    return hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()


def add_texts(suites: Sequence[Suite], texts: Mapping[str, tuple[str, ...]]) -> list[Suite]:
    """Return suites with the sentences of official families, where they have none of their own."""
    return [
        suite
        if suite.wording.family_texts
        else replace(suite, wording=replace(suite.wording, family_texts=texts))
        for suite in suites
    ]
