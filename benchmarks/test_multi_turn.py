"""Calls are carried out in environments, turn by turn; what they changed and returned is compared.

The rule in full: ``pytest_fcbench/kinds/state/verdict.py``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("multi_turn_base")
def test_multi_turn_base(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Everything that a request needs is there."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_miss_func")
def test_multi_turn_miss_func(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """In one turn a function is missing; it is offered in the next."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_miss_param")
def test_multi_turn_miss_param(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """In one turn a value is missing; the user gives it in the next."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_long_context")
def test_multi_turn_long_context(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """The environments are full of things that the task does not need."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_composite")
def test_multi_turn_composite(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """All of this at once. Not part of the benchmark: it runs where it is named."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
