"""Conversations that offer no function; a judge may rate the reply afterwards."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import BUILTIN, Conversation
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.judging import questions
from pytest_fcbench.kinds import turns
from pytest_fcbench.kinds.chat import verdict as chat
from pytest_fcbench.kinds.context import ConversationContext


def converse(entry: Entry, setting: ConversationContext) -> Conversation:
    """Put the entry to the model, then ask the judge, if it is a model, to rate a reply in words.

    No rating is bought for an empty reply or an attempted call.
    """
    transcript = yield from turns.converse(entry, setting)
    judge = setting.driven.judge
    if judge == BUILTIN or not isinstance(chat.judge(entry, transcript).corrected, Passed):
        return transcript
    asides = yield from questions.ask_aside(chat.build_question(entry, transcript), judge)
    return replace(transcript, asides=asides)
