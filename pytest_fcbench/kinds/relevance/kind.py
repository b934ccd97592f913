"""The kind of entries in which no function fits, or some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.flaw import CERTAIN, HINT, Flaw
from pytest_fcbench.domain.transcript import AskModel, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.kind import Kind, Resources, RightAnswer
from pytest_fcbench.kinds.relevance import verdict
from pytest_fcbench.kinds.relevance.official_row import describe_wrong_relevance
from pytest_fcbench.kinds.relevance.right_calls import make_call


@dataclass(frozen=True)
class RelevanceKind(Kind):
    """A function is called, or none; arguments are not compared with a truth."""

    file_format: str = "relevance.entries:OfferedFile"
    official_files = ("result", "score")

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge whether the last answer rightly calls a function or none."""
        return verdict.judge(entry, transcript)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe a call where no function fits, or its lack where some does."""
        return describe_wrong_relevance(answer)

    def answer_rightly(self, entry: Entry, request: AskModel) -> RightAnswer:
        """Call the first function where any will do, and none elsewhere."""
        return RightAnswer([make_call(entry.functions[0])] if entry.expectation.takes_any_call else ())

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Say whether a call is right."""
        return ShownTruth(rule="at least one call" if entry.expectation.takes_any_call else "no call")

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find entries without a function."""
        if entry.functions:
            return
        if entry.expectation.takes_any_call:
            yield Flaw(CERTAIN, "no function is offered, but a call is expected")
        else:
            yield Flaw(HINT, "no function is offered, so none can be called by mistake")


IRRELEVANCE = RelevanceKind()
"""No call at all."""
RELEVANCE = RelevanceKind()
"""At least one call."""
NEXT_REPLY = RelevanceKind("relevance.entries:NextReplyFile")
"""A conversation has begun, and words come next, no call."""
