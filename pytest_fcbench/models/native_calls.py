"""Read calls from the text of answers, for endpoints that do not read them themselves."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax, list_schemas, read_answer
from pytest_fcbench.codecs.native_prompt import write_native_prompt
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall
from pytest_fcbench.models.protocol import Responder

PROMPTED = "functions stand in the prompt, and "
READ_FROM_TEXT = "calls are read from the text of answers, in the syntax "
"""The beginnings of the note that tells how a run reads calls; the name of the syntax ends it."""


@dataclass(frozen=True, slots=True)
class NativeCallsModel:
    """A model whose endpoint passes calls on as the model wrote them."""

    model: Responder
    syntax: NativeSyntax
    prompts: bool = False
    """True where the functions stand in the prompt, so that the endpoint knows of none."""

    @property
    def immediate(self) -> bool:
        """True where the model answers at once."""
        return self.model.immediate

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the model, and in which syntax its calls are read."""
        shown = PROMPTED if self.prompts else ""
        return (*self.model.notes, f"{shown}{READ_FROM_TEXT}{self.syntax.name}")

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the answer with the calls of its text. Raises ``NotScoredError``."""
        asked = write_native_prompt(request, self.syntax) if self.prompts else request
        completion = await self.model.complete(entry, asked)
        answer = read_answer(completion, self.syntax, request.tools)
        if answer is not completion or not self.prompts:
            return answer
        # Servers that know of no tools leave the special tokens of their calls out of texts.
        bare_answer = read_answer(completion, self.syntax.bare, request.tools)
        called = {call.name for call in bare_answer.tool_calls or () if isinstance(call, ToolCall)}
        return bare_answer if called and called <= list_schemas(request.tools).keys() else answer
