"""Answers that are stored: nothing is asked twice, by one run or by several at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pytest_fcbench.dispatch.answer_store import AT, AnswerStore
from pytest_fcbench.domain.endings import is_stored_failure
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.identity_cache import IdentityCache
from pytest_fcbench.domain.redaction import redact_address
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
    former: Mapping[str, object] | None = None
    """The identity under which earlier versions stored answers, which did not tell all servers apart."""
    reuses: int = 0
    """Answers that came from the store."""
    reused_from_former: int = 0
    """How many of them an earlier version stored under its own key."""
    failures: set[str] = field(default_factory=set)
    """Keys of stored answers that are failures of the endpoint; they are asked again."""
    unusable: NotScoredError | None = None
    """The error after which nothing is asked any more: an answer that is paid for cannot be stored."""
    trouble: str | None = field(default=None, init=False)
    _is_checked: bool = field(default=False, init=False, repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how many answers came from the store, and what is wrong with it."""
        notes: list[str] = []
        if self.failures:
            notes.append(
                f"{len(self.failures)} answers in {self.store.path.name} were failures of the endpoint, "
                "which earlier versions stored; they are not used"
            )
        if self.store.is_restored:
            notes.append(
                f"{self.store.path} was deleted or replaced during the run; its answers were written again"
            )
        if self.reuses:
            notes.append(f"{self.reuses} answers were reused from {self.store.path.name}")
        if self.reused_from_former:
            notes.append(
                f"{self.reused_from_former} of them were stored by an earlier version, which did not note "
                "the server that the environment names, nor headers; --fcbench-refresh asks again"
            )
        return tuple(notes)

    @cached_property
    def _keys(self) -> AnswerKeys:
        return AnswerKeys(self.identity, leave_out_secrets)

    @cached_property
    def _former_keys(self) -> AnswerKeys | None:
        """The keys of an earlier version; None where they are the same, or where it stored nothing."""
        if self.former is None or self.store.is_new:
            return None
        keys = AnswerKeys(self.former, leave_out_as_formerly)
        return None if keys.identity_text == self._keys.identity_text else keys

    def find_stored(self, entry: Entry, request: AskModel) -> Completion | None:
        """Return the stored answer, or None where the model has to be asked."""
        return self._find_answer(self._keys.make_key(entry, request), entry, request)[0]

    def _find_answer(self, key: str, entry: Entry, request: AskModel) -> tuple[Completion | None, bool]:
        """Return the stored answer, if any, and whether it is stored under the key of an earlier version."""
        if self.refresh:
            return None, False
        completion = self.store.get(key)
        parameters = self.identity.get("parameters") if request.wire is None else request.wire.body
        is_stream = isinstance(parameters, Mapping) and bool(parameters.get("stream"))
        if completion and is_stored_failure(completion, is_stream=is_stream):
            self.failures.add(key)
            return None, False
        if completion or self._former_keys is None:
            return completion, False
        older = self.store.get(self._former_keys.make_key(entry, request))
        # Answers of endpoints have had their message since the key tells servers apart: one with a message
        # may be another server's.
        return (older, True) if older and older.message is None else (None, False)

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Return the stored answer, or a new one that is stored first.

        An answer that another run with the same store is asking for is waited for. Raises ``NotScoredError``,
        also where the new answer cannot be stored.
        """
        # The request is large, so its key is made once.
        key = self._keys.make_key(entry, request)
        if self.immediate or self.refresh or self.offline:
            return self._reuse_answer(key, entry, request) or await self._ask_model(ask, key, entry, request)
        # One look is enough with the lock taken: until it is released, no other run stores this answer.
        while not self.store.locks.take(key):
            if completion := self._reuse_answer(key, entry, request):
                return completion
            await asyncio.sleep(_LOOK_S)
        try:
            return self._reuse_answer(key, entry, request) or await self._ask_model(ask, key, entry, request)
        finally:
            self.store.locks.release(key)

    def _reuse_answer(self, key: str, entry: Entry, request: AskModel) -> Completion | None:
        """Return the stored answer, if any, and count it."""
        completion, is_former = self._find_answer(key, entry, request)
        self.reuses += completion is not None
        self.reused_from_former += is_former
        return completion

    async def _ask_model(self, ask: Ask, key: str, entry: Entry, request: AskModel) -> Completion:
        """Ask the model, and store the answer before it is used. Raises ``NotScoredError``."""
        if self.offline:
            raise NotScoredError(
                "offline",
                f"{self.store.path.name} has no answer for {entry.item_id}, "
                "and an offline run sends no requests",
            )
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
            model = name_model(self.identity)
            try:
                if self.immediate:
                    self.store.put(key, entry.item_id, model, completion)
                else:
                    await self.store.keep(key, entry.item_id, model, completion)
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


_FORMERLY_LEFT_OUT = re.compile(r"key|token$|secret|password|headers?$", re.IGNORECASE)


def leave_out_as_formerly(parameters: Mapping[str, object]) -> Mapping[str, object]:
    """Return parameters as earlier versions noted them: no header counted."""
    return {name: value for name, value in parameters.items() if not _FORMERLY_LEFT_OUT.search(name)}


class AnswerKeys:
    """The keys under which the answers of a model are stored: hashes of all that can change an answer."""

    def __init__(
        self,
        identity: Mapping[str, object],
        leave_out: Callable[[Mapping[str, object]], Mapping[str, object]],
    ) -> None:
        """Make keys for an identity; ``leave_out`` returns its parameters without those that do not count."""
        parameters = identity.get("parameters")
        if isinstance(parameters, Mapping):
            identity = {**identity, "parameters": leave_out(parameters)}
        self.identity_text = _write_json(dict(identity))
        self._tool_texts = IdentityCache[Mapping[str, object], str](4096)
        """Many requests offer the same tools, and writing them takes most of the time."""

    def make_key(self, entry: Entry, request: AskModel) -> str:
        """Return the key of an answer.

        Entry and trial are part of it because each is a sample of its own, even where two entries ask the
        same. The first of several trials has the key of a run with one.
        """
        # A request in the form of a family is that form: its messages may be those of another form too.
        request_texts = (
            (
                _write_json([dict(message) for message in request.messages]),
                _join_members(
                    self._tool_texts.find_or_make(tool, lambda tool: _write_json(dict(tool)))
                    for tool in request.tools
                ),
            )
            if request.wire is None
            else (_write_json(request.wire.api), _write_json(dict(request.wire.body)))
        )
        key_parts = (self.identity_text, _write_json([entry.key, entry.trial or 1]), *request_texts)
        return hashlib.sha256(
            _join_members((*key_parts, *map(_write_json, request.variant))).encode()
        ).hexdigest()


def _write_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _join_members(members: Iterable[str]) -> str:
    """Join the texts of members to that of their list."""
    return f"[{', '.join(members)}]"
