"""A judge rates replies in words where no function is offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.transcript import (
    AuxiliaryCall,
    Completion,
    Fault,
    Party,
    PathSettings,
    ToolCall,
)
from pytest_fcbench.domain.verdict import SET_ASIDE, JudgeRating, NotScored, Profile
from pytest_fcbench.environments import execution as environments
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.judging.questions import put_question
from pytest_fcbench.kinds import chat
from pytest_fcbench.kinds.kind import ConversationContext, Resources
from pytest_fcbench.kinds.table import converse, judge
from pytest_fcbench.suites import core
from tests.cases import each_case
from tests.factories import make_entry, make_transcript, tool_calls
from tests.kinds.golden_path.talking import FC
from tests.kinds.outcomes import name_outcomes

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


@each_case(
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


ENTRY = make_entry("chatable", functions=[], query="What rhymes with kettle?")
OFFICIAL = "irrelevance_error:decoder_success"

ANSWERS: Mapping[str, tuple[Completion | str, str | None, str | None]] = {
    # what: (answer, official code, corrected code)
    "words": ("Nettle does.", None, None),
    "words as tools see them": (Completion(text="Nettle does.", tool_calls=()), None, None),
    "words about a call": ("Call it with f(x=1), then look at `y`.", None, None),
    "words with parentheses": ("Petal (almost)", OFFICIAL, None),
    "no list": ("[]", None, None),
    "a call": (tool_calls(("rhyme", "{}")), OFFICIAL, "irrelevance:call"),
    "a call as text": ("[rhyme(word='kettle')]", OFFICIAL, "irrelevance:call"),
    "a call in tags": ('<tool_call>{"name": "rhyme"', None, "irrelevance:unreadable_call"),
    "a broken call": (tool_calls(("rhyme", "{")), None, "irrelevance:unreadable_call"),
    "nothing": ("", None, "chat:empty"),
    "no text": (Completion(tool_calls=()), None, "chat:empty"),
    "blanks": (" \n\t", None, "chat:empty"),
}


@each_case("what", ANSWERS)
def test_an_answer_has_both_verdicts(what: str) -> None:
    answer, official, corrected = ANSWERS[what]
    assert name_outcomes(chat.judge(ENTRY, make_transcript(answer))) == (official, corrected)


def test_what_is_no_answer_is_judged_as_anywhere() -> None:
    overflow = chat.judge(ENTRY, make_transcript(Completion(fault=Fault.OVERFLOW)))
    assert name_outcomes(overflow) == (None, "context_overflow")
    error = chat.judge(ENTRY, make_transcript(Completion(text="timeout", fault=Fault.INFERENCE_ERROR)))
    assert name_outcomes(error) == (None, "not scored: inference_error")
    aside = chat.judge(replace(ENTRY, set_aside="bad"), make_transcript(""))
    assert aside.corrected == NotScored(SET_ASIDE, "bad")


# Ratings


def _make_aside(reply: str) -> AuxiliaryCall:
    """Make the aside of a judge who said this of the answer in the first place."""
    request = next(
        put_question(chat.build_question(ENTRY, make_transcript("Nettle does.")), "judge", Party.JUDGE)
    )
    return AuxiliaryCall(Party.JUDGE, request.digest, Completion(reply))


def test_a_rating_changes_no_verdict() -> None:
    plain = make_transcript("Nettle does.")
    bad = chat.judge(ENTRY, replace(plain, asides=(_make_aside('{"score": 0, "reason": "No rhyme."}'),)))
    assert bad.rating == JudgeRating(0, "No rhyme.")
    assert replace(bad, rating=None) == chat.judge(ENTRY, plain)
    assert chat.judge(ENTRY, plain).rating is None


def test_a_rating_of_another_answer_is_none() -> None:
    aside = _make_aside('{"score": 2, "reason": "It rhymes."}')
    found = chat.judge(ENTRY, replace(make_transcript("Petal does."), asides=(aside,)))
    assert found.rating == NotScored("inference_error", "nobody was asked this")
