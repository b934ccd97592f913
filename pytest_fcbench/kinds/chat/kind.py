"""The kind of entries that offer no function."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.transcript import Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.chat import conversation, verdict
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Kind, Resources


class ChatKind(Kind):
    """Words are the answer, which a judge may rate."""

    file_format = "chat.entries:ChatFile"
    official_files = ("result",)

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model; a judge, if one is named, rates the reply."""
        return conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer."""
        return verdict.judge(entry, transcript)

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Say that no call is right."""
        return ShownTruth(rule="no call")


CHAT = ChatKind()
