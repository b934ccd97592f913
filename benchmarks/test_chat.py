"""There is nothing to call, only something to say."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.matchers import chat
from pytest_fcbench.run.session import Ask, Score


@pytest.mark.fcbench("chatable")
def test_chatable(entry: Entry, ask: Ask, score: Score) -> None:
    """No function is offered: the model must answer in words."""
    verdict = score(chat.judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
