"""Every category is judged by its own matcher."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench import environments
from pytest_fcbench.answers import Completion, Driven, Fault, Party, ToolCall, Transcript
from pytest_fcbench.asking import asking, judge
from pytest_fcbench.complexeval import verdict
from pytest_fcbench.conversation import Asking
from pytest_fcbench.entries import CATEGORIES, Entry, Rule
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.errors import NotScoredError
from pytest_fcbench.executables.performing import Performer
from pytest_fcbench.executables.pool import Pool
from pytest_fcbench.matchers import ast, chat, execution, relevance, rest, sql, state
from pytest_fcbench.suites import core
from pytest_fcbench.verdicts import Profile, Rated
from tests.complexeval.talking import FC, PROMPT
from tests.factories import make_transcript

CORE = core.open_suite(Path())


def _fresh(entry: Entry) -> Environments:
    return environments.opened(entry, CORE.world)


@pytest.mark.parametrize("category", CORE.categories, ids=lambda category: category.name)
def test_the_verdict_is_that_of_the_matcher(category: object, pool: Pool, performer: Performer) -> None:
    assert category in CATEGORIES.values()
    entry = CORE.load(category)[0]  # type: ignore[arg-type]
    transcript = make_transcript(Completion(text="[f()]"), entry=entry.key)
    if entry.category.rule is Rule.PATH:
        expected = verdict.judge(entry, transcript)
    elif entry.category.rule is Rule.STATE:
        expected = state.judge(entry, transcript, _fresh)
    elif entry.category.rule is Rule.EXECUTION:
        expected = execution.judge(entry, transcript, pool)
    elif entry.category.rule is Rule.REST:
        expected = rest.judge(entry, transcript, performer)
    elif entry.category.rule is Rule.SQL:
        expected = sql.judge(entry, transcript)
    elif entry.category.rule is Rule.CHAT:
        expected = chat.judge(entry, transcript)
    elif entry.category.expects_calls:
        expected = ast.judge(entry, transcript)
    else:
        expected = relevance.judge(entry, transcript)
    assert judge(entry, transcript, _fresh, pool, performer) == expected


def _refused(talk: Asking) -> Transcript:
    """The conversation with a model that calls nothing."""
    while True:
        try:
            talk.send(Completion(text="I cannot."))
        except StopIteration as done:
            transcript: Transcript = done.value
            return transcript


@pytest.mark.parametrize("profile", Profile)
def test_the_profile_drives_along_golden_paths_only(profile: Profile) -> None:
    for category in CORE.categories:
        entry = CORE.load(category)[0]
        manner = PROMPT if entry.variation else FC
        talk = asking(entry, manner, CORE, Driven(profile))
        assert next(talk).party is Party.MODEL
        transcript = _refused(talk)
        assert transcript.driven == (Driven(profile) if category.rule is Rule.PATH else None)


def _held(entry: Entry, reply: Completion, driven: Driven) -> list[Party]:
    """Who is asked in a conversation in which everybody says this."""
    talk = asking(entry, FC, CORE, driven)
    asked = [next(talk).party]
    while True:
        try:
            asked.append(talk.send(reply).party)
        except StopIteration:
            return asked


CHAT = CORE.load(CATEGORIES["chatable"])[1]
WISE = Driven(Profile.OFFICIAL, judge="wise")


def test_a_judge_is_asked_about_words_where_there_is_nothing_to_call() -> None:
    reply = Completion(text='{"score": 1, "reason": "Half of it."}')
    assert _held(CHAT, reply, WISE) == [Party.MODEL, Party.JUDGE]
    assert _held(CHAT, reply, Driven(Profile.OFFICIAL)) == [Party.MODEL]
    single = CORE.load(CATEGORIES["irrelevance"])[0]
    assert _held(single, reply, WISE) == [Party.MODEL]


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
    assert _held(CHAT, reply, WISE) == [Party.MODEL]


def test_the_rating_is_in_the_judgement(pool: Pool, performer: Performer) -> None:
    talk = asking(CHAT, FC, CORE, WISE)
    next(talk)
    talk.send(Completion(text="Because of the air."))
    with pytest.raises(StopIteration) as done:
        talk.send(Completion(text='{"score": 1, "reason": "Half of it."}'))
    assert judge(CHAT, done.value.value, _fresh, pool, performer).rating == Rated(1, "Half of it.")


def test_prompt_formats_need_a_prompt() -> None:
    entry = CORE.load(CATEGORIES["format_sensitivity"])[0]
    with pytest.raises(NotScoredError, match=r"^prompt formats are for models that are asked by prompting$"):
        asking(entry, FC, CORE, Driven(Profile.OFFICIAL))
