"""The first step of a request: it goes to the party that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, RunStoppedError
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party
from pytest_fcbench.models.protocol import Responder


@dataclass(frozen=True, slots=True)
class RoutedModel:
    """The model under test and the other parties, behind one interface.

    Where another party gives no answer, the conversation goes on and decides what that means.
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

        Raises ``NotScoredError`` where the model under test gives no answer.
        """
        party = request.party
        if party is Party.MODEL:
            return await self.model.complete(entry, request)
        try:
            if party not in self.others:
                raise NotScoredError("no_party", f"nobody is there to be asked as {party}")
            return await self.others[party].complete(entry, request)
        # The run has ended, so nothing is left for the conversation to decide.
        except RunStoppedError:
            raise
        except NotScoredError as error:
            return Completion(text=f"{error.cause}: {error.reason}", fault=Fault.INFERENCE_ERROR)
