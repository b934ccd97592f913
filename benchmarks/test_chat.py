"""There is nothing to call, only something to say.

The rule in full: ``pytest_fcbench/kinds/chat.py``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("chatable")
def test_chatable(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """No function is offered: the model must answer in words."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
