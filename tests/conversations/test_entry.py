"""The conversation about an entry fits its category."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from pytest_fcbench import environments
from pytest_fcbench.conversations.entry import Memories, asking, begun
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Answers, Entry, Rule
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import (
    Asking,
    AskModel,
    Completion,
    Driven,
    Fault,
    Party,
    ToolCall,
    Transcript,
)
from pytest_fcbench.domain.verdict import Profile, Rated
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.rest.performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.matchers.registry import Resources, judge
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites import core
from tests.conversations.asked import requests
from tests.matchers.golden_path.talking import FC, PROMPT

CORE = core.open_suite(Path())


def _fresh(entry: Entry) -> Environments:
    return environments.opened(entry, CORE.world)


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
    assert judge(CHAT, done.value.value, Resources(_fresh, pool, performer)).rating == Rated(1, "Half of it.")


def test_prompt_formats_need_a_prompt() -> None:
    entry = CORE.load(CATEGORIES["format_sensitivity"])[0]
    with pytest.raises(NotScoredError, match=r"^prompt formats are for models that are asked by prompting$"):
        asking(entry, FC, CORE, Driven(Profile.OFFICIAL))


# Memory


def _requests(entry: Entry, memories: Memories) -> list[AskModel]:
    model = OracleModel(FC.prompting)
    talk = asking(entry, FC, CORE, Driven(Profile.OFFICIAL), memories)
    return requests(talk, lambda request: run_through(model.complete(entry, request)))


@pytest.mark.parametrize("category", SELECTIONS["memory"])
def test_a_conversation_goes_on_from_what_the_one_before_left(category: str) -> None:
    entry = CORE.load(CATEGORIES[category])[0]
    memories: Memories = {}
    left = []
    for before in entry.earlier:
        first = _requests(before, memories)[0].messages[0]
        assert first["role"] == "system"
        assert entry.scene is not None
        assert str(first["content"]).startswith(entry.scene.persona)
        left.append(copy.deepcopy(memories[before.key]))
    assert list(memories) == [before.key for before in entry.earlier]
    assert left[0] != left[1] != left[2], "each adds something"
    kept = copy.deepcopy(memories)
    *_, last = _requests(entry, memories)
    assert isinstance(entry.expectation, Answers)
    assert any(entry.expectation.texts[0] in str(message) for message in last.messages[2:])
    assert memories == kept, "a question leaves nothing"


def test_what_a_memory_holds_is_shown_ahead() -> None:
    entry = CORE.load(CATEGORIES["memory_rec_sum"])[0]
    assert entry.after is not None
    told = _requests(entry, {entry.after.key: {"memory_rec_sum": {"memory": "Some {persona}."}}})[0].messages[
        0
    ]
    assert str(told["content"]).endswith(f"Some {{persona}}.\n\n{CORE.wording.answer_format}")
    empty = _requests(entry.earlier[0], {})[0].messages[0]
    assert str(empty["content"]).endswith(CORE.wording.empty_memory["memory_rec_sum"])


def test_without_the_conversation_before_results_are_not_known() -> None:
    entry = CORE.load(CATEGORIES["memory_rec_sum"])[0]
    *_, last = _requests(entry, {})
    assert last.messages[-1]["content"] == "(not known: it depends on an earlier conversation)"
    assert begun(entry, CORE, {}).snapshot() == {"memory_rec_sum": {"memory": ""}}
