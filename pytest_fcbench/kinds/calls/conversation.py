"""Conversations after which a judge compares the free texts among the arguments of calls."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import BUILTIN, AuxiliaryCall, Conversation
from pytest_fcbench.judging import questions
from pytest_fcbench.kinds import turns
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.kinds.context import ConversationContext


def converse(entry: Entry, setting: ConversationContext) -> Conversation:
    """Put the entry to the model, then ask the judge, if it is a model, what the verdict depends on."""
    transcript = yield from turns.converse(entry, setting)
    judge = setting.driven.judge
    if judge == BUILTIN:
        return transcript
    asides: list[AuxiliaryCall] = []
    for question in ast.find_open_questions(entry, transcript):
        asides += yield from questions.ask_aside(question, judge)
    return replace(transcript, asides=tuple(asides))
