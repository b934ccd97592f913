"""Several parties behind one model: each request goes to the one that it is meant for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, RunStoppedError
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party
from pytest_fcbench.models.protocol import Model


@dataclass(frozen=True, slots=True)
class Parties:
    """The model under test, and who is asked beside it.

    Where another party gives no answer the conversation goes on and says what that means for it.
    """

    model: Model
    others: Mapping[Party, Model]

    @property
    def immediate(self) -> bool:
        """Whether nobody has to be waited for."""
        return self.model.immediate and all(other.immediate for other in self.others.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of all."""
        told = [f"{party}: {note}" for party, other in self.others.items() for note in other.notes]
        return (*self.model.notes, *told)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """The answer of who is asked. Raises ``NotScoredError`` where that is the model under test."""
        if request.party is Party.MODEL:
            return await self.model.complete(entry, request)
        try:
            return await self._other(request.party).complete(entry, request)
        except RunStoppedError:
            raise
        except NotScoredError as error:
            return Completion(text=f"{error.cause}: {error.reason}", fault=Fault.INFERENCE_ERROR)

    def _other(self, party: Party) -> Model:
        if party not in self.others:
            raise NotScoredError("no_party", f"nobody is there to be asked as {party}")
        return self.others[party]
