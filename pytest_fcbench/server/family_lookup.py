"""Find the reply to a request in the form of a family, by holding the family's conversations oneself.

No request of an API is interpreted: it is the one that our own client sends, or it is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from pytest_fcbench.codecs.dialogues.replies import read_family_reply
from pytest_fcbench.domain.categories import Group
from pytest_fcbench.domain.driving import drive_conversation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.answers import web_pages
from pytest_fcbench.kinds.context import ConversationContext, Memories
from pytest_fcbench.kinds.conversation import converse
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.models.routing import RoutedModel
from pytest_fcbench.server.body import RefusedRequestError
from pytest_fcbench.server.family_replies import build_family_reply
from pytest_fcbench.server.lookup import Models
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.web.searcher import OwnWeb, WebSearcher

_SAID = (
    *("messages", "input", "contents", "prompt", "system", "systemInstruction"),
    *("tools", "toolConfig", "functions", "chat_template_kwargs"),
)
"""The members of a body that an entry decides; the others are parameters, which a client may choose."""


class FamilyLookup:
    """An index of replies by requests, which grows entry by entry until a request is found."""

    def __init__(self, suites: Sequence[Suite], models: Models, manner: ModelPresentation) -> None:
        """Load all entries. Raises ``SuiteError``."""
        assert manner.member, "requests of a family have the form of a member"
        self.member, self._manner = manner.member, manner
        # A served model writes calls as every interface returns them, or as Python.
        mode = manner.prompting.mode
        self._model = models(Prompting.make_default(mode, manner.prompting.names))
        own = OwnWeb(lambda: web_pages.read_pages([suite.web for suite in suites]))
        self._web = WebSearcher(own.open_sources, immediate=True)
        self._names = ", ".join(suite.name for suite in suites)
        self._entries = {
            each.key: (each, suite)
            for suite in suites
            for category in suite.categories
            if not (category.varies_others and mode is Mode.FC)
            for entry in suite.load(category)
            for each in (*entry.earlier, entry)
        }
        self._index: dict[str, dict[str, Mapping[str, object]]] = {}
        self._indexed = self._index_entries()

    def find_reply(self, content: bytes, name: str | None = None) -> tuple[str, Mapping[str, object]]:
        """Find the reply to a request, and the key of its entry; of several the named one, else the first.

        Raises ``RefusedRequestError``.
        """
        try:
            body: object = read_json_text(content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, Mapping):
            raise RefusedRequestError(400, "invalid_json", "the body must be a JSON object")
        key = name if name is None or name in self._entries else re.sub(r"-t[1-9]\d*$", "", name)
        digest = _hash_said(body)
        while True:
            replies = self._index.get(digest, {})
            if key in replies:
                return key, replies[key]
            if replies and key is None:
                return next(iter(replies.items()))
            if next(self._indexed, None) is None:
                break
        problem = f"{key} has no" if key in self._entries else f"no entry of {self._names} has a"
        raise RefusedRequestError(
            404,
            "unknown_request",
            f"{problem} request like this as {self.member}; ask with the same suite version and with "
            f"--fcbench-as={self.member.model}",
        )

    def _index_entries(self) -> Iterator[str]:
        """Hold the conversation about one entry after the other, and yield its key."""
        memories: Memories = {}
        for key, (entry, suite) in self._entries.items():
            # Golden paths are asked in a form of their own.
            if entry.category.group is not Group.COMPLEX:
                with suppress(NotScoredError):
                    self._hold_conversation(entry, suite, memories)
            yield key

    def _hold_conversation(self, entry: Entry, suite: Suite, memories: Memories) -> None:
        model = RoutedModel(self._model, {Party.OWN_WEB: self._web})

        def answer(request: AskModel) -> Completion:
            completion = run_through(model.complete(entry, request))
            if request.wire is None or request.party is not Party.MODEL:
                return completion
            # Without the entry: some begin alike, and their requests differ only when their results do.
            reply = build_family_reply(request.wire.api, completion, f"{request.turn}_{request.step}")
            self._index.setdefault(_hash_said(request.wire.body), {}).setdefault(entry.key, reply)
            return read_family_reply(request.wire.api, reply)

        setting = ConversationContext(self._manner, suite, PathSettings(Profile.OFFICIAL), memories)
        drive_conversation(converse(entry, setting), answer)


def _hash_said(body: Mapping[str, object]) -> str:
    members = {name: body[name] for name in _SAID if name in body}
    return hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()


def add_texts(suites: Sequence[Suite], texts: Mapping[str, tuple[str, ...]]) -> list[Suite]:
    """Return suites with the sentences of official families, where they have none of their own."""
    return [
        suite
        if suite.wording.family_texts
        else replace(suite, wording=replace(suite.wording, family_texts=texts))
        for suite in suites
    ]
