"""Checks of the server behind a model: what it does with a request, whatever the model would like to say.

They are no part of the model's score. The suite ``wire`` has them; a team's own may have more. The last one
puts the right calls of any suite's entries through the server (``--fcbench-forced``).

The rules in full: ``pytest_fcbench/kinds/server_check/kind.py`` and ``pytest_fcbench/kinds/forced/kind.py``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("server_must")
def test_must(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """The server must keep a property, or clients break and right answers are lost."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("server_should")
def test_should(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """The server should keep a property of its interface that clients can live without."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("server_info")
def test_info(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """A property in which servers differ; one that is broken is told, and nothing fails."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("server_forced")
def test_forced(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """The server gives back exactly the right calls of an entry, which it is given in place of an answer."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
