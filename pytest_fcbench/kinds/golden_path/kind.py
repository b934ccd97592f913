"""The kind of entries with a golden path."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CallPair, ShownTruth
from pytest_fcbench.domain.failure import FailedEntry
from pytest_fcbench.domain.flaw import CERTAIN, Flaw
from pytest_fcbench.domain.transcript import Call, Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement, PathScore
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.golden_path import conversation, pairing, verdict
from pytest_fcbench.kinds.golden_path.truth import list_steps
from pytest_fcbench.kinds.kind import Kind, Resources, RightCalls


class GoldenPathKind(Kind):
    """Calls are compared, step by step, with those of a golden path, whose recorded replies answer them."""

    file_format = "golden_path.entries:PathFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Walk along the golden path with a model."""
        return conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation and its progress."""
        return verdict.judge(entry, transcript)

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls of each step of the only turn."""
        return [[[Call(call.name, call.arguments) for call in step] for step in list_steps(entry)]]

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the steps of the path."""
        return pairing.describe_truth(entry)

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair each wrong call along the path."""
        return tuple(pairing.pair_wrong_calls(failure, path)) if path else ()

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find a path without a step."""
        if not list_steps(entry):
            yield Flaw(CERTAIN, "the golden path has no step")


GOLDEN_PATH = GoldenPathKind()
