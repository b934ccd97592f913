"""An entry gets the kind of conversation that fits it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import (
    Completion,
    Conversation,
    Party,
    PathSettings,
    Transcript,
)
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.conversation import converse
from pytest_fcbench.suites import core
from tests.kinds.golden_path.talking import FC, PROMPT

CORE = core.open_suite(Path())


def _refuse_to_call(talk: Conversation) -> Transcript:
    """Hold the conversation with a model that calls nothing."""
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
        talk = converse(entry, ConversationContext(manner, CORE, PathSettings(profile)))
        assert next(talk).party is Party.MODEL
        transcript = _refuse_to_call(talk)
        assert transcript.driven == (PathSettings(profile) if category.kind == "golden_path" else None)


def test_prompt_formats_need_a_prompt() -> None:
    entry = CORE.load(CATEGORIES["format_sensitivity"])[0]
    with pytest.raises(
        NotScoredError, match=r"^prompt formats apply to prompt mode only; use --fcbench-mode=prompt$"
    ):
        converse(entry, ConversationContext(FC, CORE, PathSettings(Profile.OFFICIAL)))
