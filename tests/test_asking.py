"""Every category is judged by its own matcher."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench import environments
from pytest_fcbench.answers import Completion
from pytest_fcbench.asking import judge
from pytest_fcbench.entries import CATEGORIES, Entry
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.matchers import ast, relevance, state
from pytest_fcbench.suites import core
from tests.factories import make_transcript

CORE = core.open_suite(Path())


def _fresh(entry: Entry) -> Environments:
    return environments.opened(entry, CORE.world)


@pytest.mark.parametrize("category", CORE.categories, ids=lambda category: category.name)
def test_the_verdict_is_that_of_the_matcher(category: object) -> None:
    assert category in CATEGORIES.values()
    entry = CORE.load(category)[0]  # type: ignore[arg-type]
    transcript = make_transcript(Completion(text="[f()]"), entry=entry.key)
    if not entry.category.single_turn:
        expected = state.judge(entry, transcript, _fresh)
    elif entry.category.expects_calls:
        expected = ast.judge(entry, transcript)
    else:
        expected = relevance.judge(entry, transcript)
    assert judge(entry, transcript, _fresh) == expected
