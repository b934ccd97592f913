"""Conversations begin with the memory that earlier ones left."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.transcript import (
    AskModel,
    PathSettings,
)
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.answers.memory_conversation import open_environments
from pytest_fcbench.kinds.answers.verdict import Answers
from pytest_fcbench.kinds.kind import ConversationContext, Memories
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites import core
from tests.kinds.asked import collect_requests
from tests.kinds.golden_path.talking import FC

CORE = core.open_suite(Path())


def _collect_requests(entry: Entry, memories: Memories) -> list[AskModel]:
    model = OracleModel(FC.prompting)
    talk = converse(entry, ConversationContext(FC, CORE, PathSettings(Profile.OFFICIAL), memories))
    return collect_requests(talk, lambda request: run_through(model.complete(entry, request)))


@pytest.mark.parametrize("category", SELECTIONS["memory"])
def test_a_conversation_goes_on_from_what_the_one_before_left(category: str) -> None:
    entry = CORE.load(CATEGORIES[category])[0]
    memories: Memories = {}
    left = []
    for before in entry.earlier:
        first = _collect_requests(before, memories)[0].messages[0]
        assert first["role"] == "system"
        assert entry.scene is not None
        assert str(first["content"]).startswith(entry.scene.persona)
        left.append(copy.deepcopy(memories[before.key]))
    assert list(memories) == [before.key for before in entry.earlier]
    assert left[0] != left[1] != left[2], "each adds something"
    kept = copy.deepcopy(memories)
    *_, last = _collect_requests(entry, memories)
    assert isinstance(entry.expectation, Answers)
    assert any(entry.expectation.texts[0] in str(message) for message in last.messages[2:])
    assert memories == kept, "a question leaves nothing"


def test_what_a_memory_holds_is_shown_ahead() -> None:
    entry = CORE.load(CATEGORIES["memory_rec_sum"])[0]
    assert entry.after is not None
    told = _collect_requests(entry, {entry.after.key: {"memory_rec_sum": {"memory": "Some {persona}."}}})[
        0
    ].messages[0]
    assert str(told["content"]).endswith(f"Some {{persona}}.\n\n{CORE.wording.answer_format}")
    empty = _collect_requests(entry.earlier[0], {})[0].messages[0]
    assert str(empty["content"]).endswith(CORE.wording.empty_memory["memory_rec_sum"])


def test_without_the_conversation_before_results_are_not_known() -> None:
    entry = CORE.load(CATEGORIES["memory_rec_sum"])[0]
    *_, last = _collect_requests(entry, {})
    assert last.messages[-1]["content"] == "(not known: it depends on an earlier conversation)"
    assert open_environments(entry, CORE, {}).copy_state() == {"memory_rec_sum": {"memory": ""}}
