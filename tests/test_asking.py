"""Every category is judged by its own matcher."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from pytest_fcbench import environments
from pytest_fcbench.answers import AskModel, Completion, Driven, Party, Transcript
from pytest_fcbench.asking import Memories, asking, begun, judge
from pytest_fcbench.complexeval import verdict
from pytest_fcbench.conversation import Asking, requests
from pytest_fcbench.entries import CATEGORIES, SELECTIONS, Answers, Entry, Rule
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.executables.pool import Pool
from pytest_fcbench.matchers import answer, ast, chat, execution, relevance, sql, state
from pytest_fcbench.models.model import run_through
from pytest_fcbench.models.oracle import OracleModel
from pytest_fcbench.suites import core
from pytest_fcbench.verdicts import Profile
from tests.complexeval.talking import FC
from tests.factories import make_transcript

CORE = core.open_suite(Path())


def _fresh(entry: Entry) -> Environments:
    return environments.opened(entry, CORE.world)


@pytest.mark.parametrize("category", CORE.categories, ids=lambda category: category.name)
def test_the_verdict_is_that_of_the_matcher(category: object, pool: Pool) -> None:
    assert category in CATEGORIES.values()
    entry = CORE.load(category)[0]  # type: ignore[arg-type]
    transcript = make_transcript(Completion(text="[f()]"), entry=entry.key)
    if entry.category.rule is Rule.PATH:
        expected = verdict.judge(entry, transcript)
    elif entry.category.rule is Rule.STATE:
        expected = state.judge(entry, transcript, _fresh)
    elif entry.category.rule is Rule.EXECUTION:
        expected = execution.judge(entry, transcript, pool)
    elif entry.category.rule is Rule.SQL:
        expected = sql.judge(entry, transcript)
    elif entry.category.rule is Rule.ANSWER:
        expected = answer.judge(entry, transcript)
    elif entry.category.rule is Rule.CHAT:
        expected = chat.judge(entry, transcript)
    elif entry.category.expects_calls:
        expected = ast.judge(entry, transcript)
    else:
        expected = relevance.judge(entry, transcript)
    assert judge(entry, transcript, _fresh, pool) == expected


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
        talk = asking(entry, FC, CORE, Driven(profile))
        assert next(talk).party is Party.MODEL
        transcript = _refused(talk)
        assert transcript.driven == (Driven(profile) if category.rule is Rule.PATH else None)


# Memory


def _requests(entry: Entry, memories: Memories) -> list[AskModel]:
    model = OracleModel(FC.mode, FC.names)
    talk = asking(entry, FC, CORE, Driven(Profile.OFFICIAL), memories)
    return list(requests(talk, lambda request: run_through(model.complete(entry, request))))


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
