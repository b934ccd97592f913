"""The interface of a kind of entry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import AskModel, Call, Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.kinds import turns
from pytest_fcbench.kinds.context import ConversationContext

RightCalls: TypeAlias = Sequence[Sequence[Sequence[Call]]]
"""The calls of a right answer, by turn and step."""

ABSTENTION = "None of the offered functions can serve this request."
DONE = "All of this is done."


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that some kinds need to judge, beside the entry and its transcript."""

    fresh: Callable[[Entry], Environments]
    """Makes the environments of an entry in their initial state."""
    execute: Execute
    """Carries calls out, each by itself."""
    perform: Perform
    """Sends the request of a call."""


@dataclass(frozen=True, slots=True)
class RightAnswer:
    """A right answer to a request: calls, or else words."""

    calls: Sequence[Call] = ()
    words: str = ABSTENTION


class Kind(ABC):
    """How entries of a kind are read, asked, judged, explained, answered and shown."""

    file_format: str = ""
    """The model of its files as ``module:Model`` below ``kinds``; empty where no such file is read."""

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model. Usually its calls act on fresh environments, if it has any."""
        return turns.converse(entry, context)

    @abstractmethod
    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a transcript in both profiles. Raises TypeError for an entry of another kind."""

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls of a right answer; none where any call will do, or none is right.

        A text of a ground truth that is no call is left out.
        """
        return ()

    def answer_rightly(self, entry: Entry, request: AskModel) -> RightAnswer:
        """Answer a request from the ground truth."""
        turns_of_calls = self.list_right_calls(entry)
        steps = turns_of_calls[request.turn] if request.turn < len(turns_of_calls) else ()
        return RightAnswer(steps[request.step] if request.step < len(steps) else ())

    def find_flaws(self, entry: Entry) -> Iterator[str]:
        """Find what contradicts itself in the shape of an entry."""
        yield from ()
