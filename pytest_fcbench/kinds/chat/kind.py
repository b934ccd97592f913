"""The kind of entries that offer no function."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.transcript import BUILTIN, Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement, Passed
from pytest_fcbench.judging import questions
from pytest_fcbench.kinds import turns
from pytest_fcbench.kinds.chat import verdict
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Kind, Resources


class ChatKind(Kind):
    """Words are the answer, which a judge may rate."""

    file_format = "chat.entries:ChatFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model; a judge, if one is named, rates the reply.

        No rating is bought for an empty reply or an attempted call.
        """
        transcript = yield from turns.converse(entry, context)
        judge = context.driven.judge
        if judge == BUILTIN or not isinstance(verdict.judge(entry, transcript).corrected, Passed):
            return transcript
        asides = yield from questions.ask_aside(verdict.build_question(entry, transcript), judge)
        return replace(transcript, asides=asides)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer."""
        return verdict.judge(entry, transcript)

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Say that no call is right."""
        return ShownTruth(rule="no call")


CHAT = ChatKind()
