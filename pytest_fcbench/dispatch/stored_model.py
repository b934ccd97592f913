"""A model whose answers are stored: nothing is asked twice, by one run or by several at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault
from pytest_fcbench.models.protocol import Model

_LOOK_S = 0.2
"""Seconds between two looks for an answer that another run is asking for."""


@dataclass
class StoredModel:
    """A model whose answers are stored and reused for equal requests.

    ``identity`` is what can change an answer beside the request: id, endpoint, parameters.
    """

    model: Model
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
    reused: int = 0
    reused_from_former: int = 0
    """How many of them an earlier version stored under its own key."""
    unusable: NotScoredError | None = None
    """The error after which nothing is asked any more: an answer that is paid for could not be stored."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The model's notes, and how many answers came from the store."""
        if not self.reused:
            return self.model.notes
        reused = f"{self.reused} answers were reused from {self.store.path.name}"
        if not self.reused_from_former:
            return (*self.model.notes, reused)
        former = (
            f"{self.reused_from_former} of them were stored by an earlier version, which did not note "
            "the server that the environment names, nor headers; --fcbench-refresh asks again"
        )
        return (*self.model.notes, reused, former)

    def kept(self, entry: Entry, request: AskModel) -> Completion | None:
        """Return the stored answer, or None where the model has to be asked."""
        return self._find_answer(digest(self.identity, entry, request), entry, request)[0]

    def _find_answer(self, key: str, entry: Entry, request: AskModel) -> tuple[Completion | None, bool]:
        """Return the stored answer, if any, and whether it is stored under the key of an earlier version."""
        if self.refresh:
            return None, False
        found = self.store.get(key)
        if found or self.former is None:
            return found, False
        former_key = digest_as_formerly(self.former, entry, request)
        older = None if former_key == key else self.store.get(former_key)
        # Answers of endpoints have had their message since the key tells servers apart: one with a message
        # may be another server's.
        return (older, True) if older and older.message is None else (None, False)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the stored answer, or a new one that is stored first.

        An answer that another run with the same store is asking for is waited for. Raises ``NotScoredError``,
        also where the new answer cannot be stored.
        """
        # The request is large, so its key is made once.
        key = digest(self.identity, entry, request)
        stored, is_former = self._find_answer(key, entry, request)
        if stored:
            self.reused += 1
            self.reused_from_former += is_former
            return stored
        if self.offline:
            raise NotScoredError(
                "offline",
                f"{self.store.path.name} has no answer for {entry.item_id}, "
                "and an offline run sends no requests",
            )
        if self.immediate or self.refresh:
            return await self._ask_model(key, entry, request)
        while not self.store.locks.take(key):
            await asyncio.sleep(_LOOK_S)
            if stored := self._reuse_new_answer(key):
                return stored
        try:
            # The other run may have stored it just before it released the lock.
            return self._reuse_new_answer(key) or await self._ask_model(key, entry, request)
        finally:
            self.store.locks.release(key)

    def _reuse_new_answer(self, key: str) -> Completion | None:
        """Return the answer that another run has stored since the first look, under this version's key."""
        stored = self.store.get(key)
        self.reused += stored is not None
        return stored

    async def _ask_model(self, key: str, entry: Entry, request: AskModel) -> Completion:
        """Ask the model, and store the answer before it is used."""
        if self.unusable:
            raise NotScoredError(self.unusable.cause, self.unusable.reason)
        completion = await self.model.complete(entry, request)
        # Failures are not kept, so that the next run asks again; an answer that is too long was one.
        if completion.fault in (None, Fault.TOO_LARGE):
            model = str(self.identity.get("model"))
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


_SECRET = re.compile(r"key|token$|secret|password|authorization|cookie", re.IGNORECASE)


def _leave_out_secrets(parameters: Mapping[str, object]) -> dict[str, object]:
    """Return parameters, and headers among them, without those whose names are those of secrets."""
    kept: dict[str, object] = {}
    for name, value in parameters.items():
        if name.endswith("headers") and isinstance(value, Mapping):
            # Headers that are all secret are as none, whose answers are stored already.
            if headers := _leave_out_secrets(value):
                kept[name] = headers
        elif not _SECRET.search(name):
            kept[name] = value
    return kept


def digest(identity: Mapping[str, object], entry: Entry, request: AskModel) -> str:
    """Return the key of an answer. Parameters that contain secrets change no answer and are left out.

    Entry and trial are part of it because each is a sample of its own, even where two entries ask the same.
    The first of several trials has the key of a run with one.
    """
    parameters = identity.get("parameters")
    if isinstance(parameters, Mapping):
        identity = {**identity, "parameters": _leave_out_secrets(parameters)}
    return _hash_question(identity, entry, request)


_FORMERLY_LEFT_OUT = re.compile(r"key|token$|secret|password|headers?$", re.IGNORECASE)


def digest_as_formerly(identity: Mapping[str, object], entry: Entry, request: AskModel) -> str:
    """Return the key that earlier versions gave to an answer, in which no header counted."""
    parameters = identity.get("parameters")
    if isinstance(parameters, Mapping):
        kept = {name: value for name, value in parameters.items() if not _FORMERLY_LEFT_OUT.search(name)}
        identity = {**identity, "parameters": kept}
    return _hash_question(identity, entry, request)


def _hash_question(identity: Mapping[str, object], entry: Entry, request: AskModel) -> str:
    # A request in the form of a family is that form: its messages may be those of another form too.
    said: Sequence[object] = (
        [[dict(message) for message in request.messages], [dict(tool) for tool in request.tools]]
        if request.wire is None
        else [request.wire.api, dict(request.wire.body)]
    )
    asked = [dict(identity), [entry.key, entry.trial or 1], *said, *request.variant]
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=repr).encode()).hexdigest()
