"""Answers that are stored: nothing is asked twice, by one run or by several at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_fcbench.dispatch.answer_store import AT, AnswerStore
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.redaction import redact_address
from pytest_fcbench.domain.registry import IdentityCache
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault
from pytest_fcbench.models.protocol import Ask

_LOOK_S = 0.2
"""Seconds between two looks for an answer that another run is asking for."""


@dataclass
class StoredAnswers:
    """A step that stores the answers of a model and reuses them for equal requests.

    ``identity`` is what can change an answer beside the request: id, endpoint, parameters.
    """

    store: AnswerStore
    identity: Mapping[str, object]
    offline: bool = False
    """Ask nothing: an entry without a stored answer is not scored."""
    refresh: bool = False
    """Ask everything again and keep the new answers."""
    immediate: bool = False
    """True where the model answers at once; then answers are written in place too, not by a thread."""
    reuses: int = 0
    """Answers that came from the store."""
    unusable: NotScoredError | None = None
    """The error after which nothing is asked any more: an answer that is paid for cannot be stored."""
    trouble: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._keys, self._model = AnswerKeys(self.identity), name_model(self.identity)
        self._is_checked = False

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how many answers came from the store, and what is wrong with it."""
        notes: list[str] = []
        if self.store.is_restored:
            fate = "was deleted or replaced during the run; its answers were written again"
            notes.append(f"{self.store.path} {fate}")
        if self.reuses:
            answers = "1 answer was" if self.reuses == 1 else f"{self.reuses:,} answers were"
            notes.append(f"{answers} reused from {self.store.path.name}")
        return tuple(notes)

    def find_stored(self, entry: Entry, request: AskModel) -> Completion | None:
        """Return the stored answer, or None where the model has to be asked."""
        return None if self.refresh else self.store.get(self._keys.make_key(entry, request))

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Return the stored answer, or a new one that is stored first.

        An answer that another run with the same store is asking for is waited for. Raises ``NotScoredError``,
        also where the new answer cannot be stored.
        """
        # The request is large, so its key is made once.
        key = self._keys.make_key(entry, request)
        if self.immediate or self.refresh or self.offline:
            return self._reuse_answer(key) or await self._ask_model(ask, key, entry, request)
        # One look is enough with the lock taken: until it is released, no other run stores this answer.
        while not self.store.locks.take(key):
            if completion := self._reuse_answer(key):
                return completion
            await asyncio.sleep(_LOOK_S)
        try:
            return self._reuse_answer(key) or await self._ask_model(ask, key, entry, request)
        finally:
            self.store.locks.release(key)

    def _reuse_answer(self, key: str) -> Completion | None:
        """Return the stored answer, if any, and count it."""
        completion = None if self.refresh else self.store.get(key)
        self.reuses += completion is not None
        return completion

    async def _ask_model(self, ask: Ask, key: str, entry: Entry, request: AskModel) -> Completion:
        """Ask the model, and store the answer before it is used. Raises ``NotScoredError``."""
        if self.offline:
            fault = f"{self.store.path.name} has no answer for {entry.item_id}"
            raise NotScoredError("offline", f"{fault}, and an offline run sends no requests")
        if not self._is_checked:
            # Once, and only where something is asked: a store that cannot be written may still be read.
            self._is_checked = True
            try:
                self.store.require_writable()
            except sqlite3.Error as error:
                self.unusable = NotScoredError("store", self.store.describe_error(error))
        if self.unusable:
            raise NotScoredError(self.unusable.cause, self.unusable.reason)
        completion = await ask(entry, request)
        # Failures are not kept, so that the next run asks again; an answer that is too long was one.
        if completion.fault in (None, Fault.TOO_LARGE):
            try:
                if self.immediate:
                    self.store.put(key, entry.item_id, self._model, completion)
                else:
                    await self.store.keep(key, entry.item_id, self._model, completion)
            except sqlite3.Error as error:
                # Every further answer would be paid for and lost.
                self.unusable = NotScoredError("store", self.store.describe_error(error))
                raise self.unusable from None
        return completion


def name_model(identity: Mapping[str, object]) -> str:
    """Name a model for people: its id, and where it is asked if that was said."""
    model, address = identity.get("model"), identity.get("api_base")
    return f"{model}{AT}{redact_address(str(address))}" if address else str(model)


_SECRET = re.compile(r"key|token$|secret|password|authorization|cookie", re.IGNORECASE)


def leave_out_secrets(parameters: Mapping[str, object]) -> dict[str, object]:
    """Return parameters, and headers among them, without those whose names are those of secrets."""
    public_parameters: dict[str, object] = {}
    for name, value in parameters.items():
        if name.endswith("headers") and isinstance(value, Mapping):
            # Headers that are all secret are as none, whose answers are stored already.
            if headers := leave_out_secrets(value):
                public_parameters[name] = headers
        elif not _SECRET.search(name):
            public_parameters[name] = value
    return public_parameters


class AnswerKeys:
    """The keys under which the answers of a model are stored: hashes of all that can change an answer."""

    def __init__(self, identity: Mapping[str, object]) -> None:
        """Make keys for an identity, in which secrets do not count."""
        parameters = identity.get("parameters")
        if isinstance(parameters, Mapping):
            identity = {**identity, "parameters": leave_out_secrets(parameters)}
        self.identity_text = _write_json(dict(identity))
        self._tool_texts = IdentityCache[Mapping[str, object], str](4096)
        """Many requests offer the same tools, and writing them takes most of the time."""

    def make_key(self, entry: Entry, request: AskModel) -> str:
        """Return the key of an answer.

        Entry and trial are part of it because each is a sample of its own, even where two entries ask the
        same. The first of several trials has the key of a run with one.
        """
        # A request in the form of a family is that form: its messages may be those of another form too.
        if wire := request.wire:
            request_texts = _write_json(wire.api), _write_json(dict(wire.body))
        else:
            find_or_make = self._tool_texts.find_or_make
            tools = (find_or_make(tool, lambda tool: _write_json(dict(tool))) for tool in request.tools)
            request_texts = _write_json(list(map(dict, request.messages))), _join_members(tools)
        key_parts = (self.identity_text, _write_json([entry.key, entry.trial or 1]), *request_texts)
        text = _join_members((*key_parts, *map(_write_json, request.variant)))
        return hashlib.sha256(text.encode()).hexdigest()


def _write_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _join_members(members: Iterable[str]) -> str:
    """Join the texts of members to that of their list."""
    return f"[{', '.join(members)}]"
