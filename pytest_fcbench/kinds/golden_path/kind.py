"""The kind of entries with a golden path."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.golden_path import conversation, verdict
from pytest_fcbench.kinds.kind import Kind, Resources


class GoldenPathKind(Kind):
    """Calls are compared, step by step, with those of a golden path, whose recorded replies answer them."""

    file_format = "golden_path.entries:PathFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Walk along the golden path with a model."""
        return conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation and its progress."""
        return verdict.judge(entry, transcript)


GOLDEN_PATH = GoldenPathKind()
