"""Read calls from the text of answers, for endpoints that do not read them themselves."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax, read_answer
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.protocol import Responder


@dataclass(frozen=True, slots=True)
class NativeCallsModel:
    """A model whose endpoint passes calls on as the model wrote them."""

    model: Responder
    syntax: NativeSyntax

    @property
    def immediate(self) -> bool:
        """True where the model answers at once."""
        return self.model.immediate

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the model, and in which syntax its calls are read."""
        return (
            *self.model.notes,
            f"calls are read from the text of answers, in the syntax {self.syntax.name}",
        )

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the answer with the calls of its text. Raises ``NotScoredError``."""
        return read_answer(await self.model.complete(entry, request), self.syntax, request.tools)
