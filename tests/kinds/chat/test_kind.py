"""A judge rates replies in words where no function is offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench import environments
from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import (
    Completion,
    Fault,
    Party,
    PathSettings,
    ToolCall,
)
from pytest_fcbench.domain.verdict import JudgeRating, Profile
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.rest.performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.conversation import converse
from pytest_fcbench.kinds.judgement import judge
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.suites import core
from tests.kinds.golden_path.talking import FC

CORE = core.open_suite(Path())


def _open_entry(entry: Entry) -> Environments:
    return environments.open_environments(entry, CORE.world)


def _list_parties(entry: Entry, reply: Completion, driven: PathSettings) -> list[Party]:
    """List who is asked in a conversation in which everybody says this."""
    talk = converse(entry, ConversationContext(FC, CORE, driven))
    asked = [next(talk).party]
    while True:
        try:
            asked.append(talk.send(reply).party)
        except StopIteration:
            return asked


CHAT = CORE.load(CATEGORIES["chatable"])[1]
WISE = PathSettings(Profile.OFFICIAL, judge="wise")


def test_a_judge_is_asked_about_words_where_there_is_nothing_to_call() -> None:
    reply = Completion(text='{"score": 1, "reason": "Half of it."}')
    assert _list_parties(CHAT, reply, WISE) == [Party.MODEL, Party.JUDGE]
    assert _list_parties(CHAT, reply, PathSettings(Profile.OFFICIAL)) == [Party.MODEL]
    single = CORE.load(CATEGORIES["irrelevance"])[0]
    assert _list_parties(single, reply, WISE) == [Party.MODEL]


@pytest.mark.parametrize(
    "reply",
    [
        Completion(text=""),
        Completion(text="Of course.", tool_calls=(ToolCall("f", "{}"),)),
        Completion(text="Of course.", tool_calls=(ToolCall("f", "{"),)),
        Completion(text="timeout", fault=Fault.INFERENCE_ERROR),
        Completion(text="too long", fault=Fault.OVERFLOW),
    ],
    ids=["silence", "a call", "a broken call", "an error", "an overflow"],
)
def test_nobody_judges_what_is_no_reply(reply: Completion) -> None:
    assert _list_parties(CHAT, reply, WISE) == [Party.MODEL]


def test_the_rating_is_in_the_judgement(pool: Pool, performer: Performer) -> None:
    talk = converse(CHAT, ConversationContext(FC, CORE, WISE))
    next(talk)
    talk.send(Completion(text="Because of the air."))
    with pytest.raises(StopIteration) as done:
        talk.send(Completion(text='{"score": 1, "reason": "Half of it."}'))
    assert judge(CHAT, done.value.value, Resources(_open_entry, pool, performer)).rating == JudgeRating(
        1, "Half of it."
    )
