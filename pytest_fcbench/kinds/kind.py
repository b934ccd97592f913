"""The interface of a kind of entry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CallPair, ShownTruth
from pytest_fcbench.domain.failure import Divergence, FailedEntry
from pytest_fcbench.domain.flaw import Flaw
from pytest_fcbench.domain.transcript import AskModel, Call, Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement, PathScore
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.kinds import turns
from pytest_fcbench.kinds.answer_failure import classify_answer
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
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
        calls_by_turn = self.list_right_calls(entry)
        steps = calls_by_turn[request.turn] if request.turn < len(calls_by_turn) else ()
        calls = steps[request.step] if request.step < len(steps) else ()
        return RightAnswer(calls, DONE if request.step else ABSTENTION)

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe what a right answer is; nothing where only a check knows it."""
        return ShownTruth()

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair the calls of a wrong answer with the expected ones, as the verdict paired them.

        Empty where calls are not compared, or are compared by what they do.
        """
        return ()

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find what contradicts itself in the shape of an entry."""
        yield from ()

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe a wrong answer for a score file, which its category must have; None for a right one."""
        raise TypeError(f"{answer.entry.key} is in no score file")

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find the class of a failure and its place. Usually the answer and the code of its verdict tell."""
        return classify_answer(failure)
