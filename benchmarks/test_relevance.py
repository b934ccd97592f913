"""Whether a function should be called at all.

The rule in full: ``pytest_fcbench/kinds/relevance.py``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("irrelevance")
def test_irrelevance(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """No offered function fits: the model must not call any."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("live_irrelevance")
def test_live_irrelevance(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """As irrelevance, with functions and questions as users write them."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("live_relevance")
def test_live_relevance(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Some function fits: the model must call at least one."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
