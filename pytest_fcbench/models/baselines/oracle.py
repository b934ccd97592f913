"""The oracle answers from the ground truth.

It must score 100 % in the corrected profile: an entry it misses is broken. Where several values are
accepted it gives the first, leaves out what may be left out, and for relevance entries, which have no
ground truth, it fills the first function with values of the declared types. In a conversation it makes all
calls of a turn at once, of a golden path those of each step, and then says that it is done. Where words are
the answer, it says one that its calls have found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.models.provider import Provider, open_plain_model


@dataclass(frozen=True, slots=True)
class OracleModel:
    """A model that knows the ground truth; it answers in the mode it is asked in."""

    prompting: Prompting
    immediate: bool = True
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the right answer."""
        answer = find_kind(entry).answer_rightly(entry, request)
        if not answer.calls:
            return Completion(text=answer.words)
        return render_completion(answer.calls, entry, self.prompting, request.tools)


PROVIDER = Provider(
    partial(open_plain_model, OracleModel),
    about="answers from the ground truth",
    needs_network=False,
    answers_questions=False,
)
