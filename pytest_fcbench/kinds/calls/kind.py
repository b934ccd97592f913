"""The kind of entries whose calls are compared as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CallPair, ShownTruth
from pytest_fcbench.domain.failure import Divergence, FailedEntry
from pytest_fcbench.domain.flaw import Flaw
from pytest_fcbench.domain.transcript import Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement, PathScore
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.calls import conversation, pairing, right_calls, shape, verdict
from pytest_fcbench.kinds.calls.failure import classify_calls
from pytest_fcbench.kinds.calls.official_row import describe_wrong_calls
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Kind, Resources, RightCalls


@dataclass(frozen=True)
class CallsKind(Kind):
    """Calls are compared as they are written."""

    file_format: str = "calls.entries:ExpectingFile"
    official_files = ("result", "score")

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model; a judge, if one is named, compares free texts."""
        return conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the calls of the last answer."""
        return verdict.judge(entry, transcript)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe calls that are wrong as they are written."""
        return describe_wrong_calls(answer)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find what is wrong with the first call that does not fit."""
        return classify_calls(failure)

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the expected calls with their first values."""
        return right_calls.list_right_calls(entry)

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the expected calls with their accepted values."""
        return pairing.describe_truth(entry)

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair the calls of the last answer."""
        return pairing.pair_last_calls(failure)

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find what differs from the shape of its category."""
        return shape.find_flaws(entry)


SIMPLE = CallsKind()
"""Exactly one call of the only function."""
MULTIPLE = CallsKind()
"""Exactly one call of the right function among several."""
PARALLEL = CallsKind()
"""Several calls in any order."""
NEXT_CALL = CallsKind("calls.entries:NextCallFile")
"""A conversation has begun, and these calls come next, in any order."""
