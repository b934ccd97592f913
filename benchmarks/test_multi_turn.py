"""Calls are carried out in environments, turn by turn; what they changed and returned is compared."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.matchers import state
from pytest_fcbench.matchers.state import Fresh
from pytest_fcbench.run.session import Ask, Score


@pytest.mark.fcbench("multi_turn_base")
def test_multi_turn_base(entry: Entry, ask: Ask, score: Score, fresh: Fresh) -> None:
    """Everything that a request needs is there."""
    verdict = score(state.judge(entry, ask(entry), fresh))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_miss_func")
def test_multi_turn_miss_func(entry: Entry, ask: Ask, score: Score, fresh: Fresh) -> None:
    """In one turn a function is missing; it is offered in the next."""
    verdict = score(state.judge(entry, ask(entry), fresh))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_miss_param")
def test_multi_turn_miss_param(entry: Entry, ask: Ask, score: Score, fresh: Fresh) -> None:
    """In one turn a value is missing; the user gives it in the next."""
    verdict = score(state.judge(entry, ask(entry), fresh))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_long_context")
def test_multi_turn_long_context(entry: Entry, ask: Ask, score: Score, fresh: Fresh) -> None:
    """The environments are full of things that the task does not need."""
    verdict = score(state.judge(entry, ask(entry), fresh))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_composite")
def test_multi_turn_composite(entry: Entry, ask: Ask, score: Score, fresh: Fresh) -> None:
    """All of this at once. Not part of the benchmark: it runs where it is named."""
    verdict = score(state.judge(entry, ask(entry), fresh))
    assert verdict.passed, str(verdict)
