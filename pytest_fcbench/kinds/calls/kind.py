"""The kind of entries whose calls are compared as they are written."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.calls import conversation, verdict
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Kind, Resources


@dataclass(frozen=True)
class CallsKind(Kind):
    """Calls are compared as they are written."""

    file_format: str = "calls.entries:ExpectingFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model; a judge, if one is named, compares free texts."""
        return conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the calls of the last answer."""
        return verdict.judge(entry, transcript)


SIMPLE = CallsKind()
"""Exactly one call of the only function."""
MULTIPLE = CallsKind()
"""Exactly one call of the right function among several."""
PARALLEL = CallsKind()
"""Several calls in any order."""
NEXT_CALL = CallsKind("calls.entries:NextCallFile")
"""A conversation has begun, and these calls come next, in any order."""
