"""Calls are carried out, each by itself; what they return is compared. Runs where it is named.

The rules in full: ``pytest_fcbench/kinds/execution/verdict.py`` and ``rest.py``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("exec_simple")
def test_exec_simple(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """One function is offered, one call answers the question."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("exec_multiple")
def test_exec_multiple(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Several functions are offered, one call of the right one answers the question."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("exec_parallel")
def test_exec_parallel(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """One function must be called several times, in any order."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("exec_parallel_multiple")
def test_exec_parallel_multiple(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Several functions must be called, in any order."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("rest")
def test_rest(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """One call asks a web API."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
