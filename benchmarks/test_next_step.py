"""The next step of a conversation that has begun; entries come from a team's own suites.

The rules in full: ``pytest_fcbench/kinds/calls`` and ``pytest_fcbench/kinds/relevance``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("next_call")
def test_next_call(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Calls come next: the model must make them all, in any order, and no others."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("next_reply")
def test_next_reply(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Words come next: the model must not call any function."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("own_check")
def test_own_check(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Words or calls come that a function of your own accepts."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
