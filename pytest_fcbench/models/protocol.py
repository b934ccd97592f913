"""The contract of models, and of what else answers requests; the model that sends each to its party."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, RunStoppedError
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party

T = TypeVar("T")


Ask: TypeAlias = Callable[[Entry, AskModel], Awaitable[Completion]]
"""Answers a request about an entry."""


class Responder(Protocol):
    """A model or a tool that answers requests; what inherits from it needs nothing but ``complete``.

    One object serves a whole run; ``complete`` may run many times at once.
    """

    @property
    def immediate(self) -> bool:
        """True where ``complete`` never waits for anything."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for readers of the scorecard, for example parameters that were dropped."""
        return ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Answer one request. Only models that need no network may look at the entry.

        Raises ``NotScoredError`` where there is no answer to judge.
        """


class Model(Responder, Protocol):
    """A responder that answers questions of the benchmark, or judges and compares such answers."""


@runtime_checkable
class Describable(Model, Protocol):
    """A model that can tell what it sends."""

    def describe_request(self, entry: Entry, request: AskModel) -> Mapping[str, object]:
        """Return a request as it is sent, as JSON values in which keys are masked."""


@runtime_checkable
class Preparable(Protocol):
    """A model whose first call would take longer than others, for reasons that are not the endpoint's."""

    async def prepare(self) -> None:
        """Import and open what calls need. May be called more than once."""


@runtime_checkable
class NeedsKey(Protocol):
    """A model that can tell before its first call that it has no key."""

    def require_key(self) -> None:
        """Raise ``CallError`` where no key is set."""


async def prepare_model(model: Responder) -> None:
    """Prepare a model for its first call, where it knows how."""
    if isinstance(model, Preparable):
        await model.prepare()


def describe_request(model: Model | None, entry: Entry, request: AskModel) -> Mapping[str, object]:
    """Return a request as a model sends it, or messages and tools where it sends nothing anywhere."""
    if isinstance(model, Describable):
        return model.describe_request(entry, request)
    return {"messages": request.messages, "tools": request.tools}


def run_through(coroutine: Coroutine[object, object, T]) -> T:
    """Return the result of a coroutine that never waits, such as one that asks an ``immediate`` model."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError("a model that says it answers at once has waited")


_ABSENT = {Party.ENDPOINT: "the model has no endpoint of a known address; name one with --fcbench-api-base"}
"""The way out where a party is missing that a user can name."""


@dataclass(frozen=True, slots=True)
class RoutedModel:
    """The model under test and the other parties, behind one interface.

    Where another party gives no answer, the conversation goes on and decides what that means; one with the
    endpoint itself has nothing else to go on.
    """

    model: Responder
    others: Mapping[Party, Responder]

    @property
    def immediate(self) -> bool:
        """True where all parties answer at once."""
        return self.model.immediate and all(other.immediate for other in self.others.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all parties, those of the others with their name."""
        # A replay answers for all parties, and says what it has to say once.
        others = {party: other.notes for party, other in self.others.items() if other is not self.model}
        return (*self.model.notes, *(f"{party}: {note}" for party, notes in others.items() for note in notes))

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the model that the request is for.

        Raises ``NotScoredError`` where the model under test, or its endpoint, gives no answer.
        """
        party = request.party
        if party is Party.MODEL:
            return await self.model.complete(entry, request)
        try:
            if party not in self.others:
                reason = _ABSENT.get(party, f"nobody is there to be asked as {party}")
                raise NotScoredError("no_party", reason)
            return await self.others[party].complete(entry, request)
        # The run has ended, so nothing is left for the conversation to decide.
        except RunStoppedError:
            raise
        except NotScoredError as error:
            if party is Party.ENDPOINT:
                raise
            return Completion(text=f"{error.cause}: {error.reason}", fault=Fault.INFERENCE_ERROR)
