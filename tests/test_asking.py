"""Every category is judged by its own matcher."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench import environments
from pytest_fcbench.answers import Completion, Driven, Party, Transcript
from pytest_fcbench.asking import asking, judge
from pytest_fcbench.complexeval import verdict
from pytest_fcbench.conversation import Asking
from pytest_fcbench.entries import CATEGORIES, Entry, Rule
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.executables.pool import Pool
from pytest_fcbench.matchers import answer, ast, chat, execution, relevance, sql, state
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
