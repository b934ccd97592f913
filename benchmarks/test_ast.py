"""Calls are compared with a possible answer, without running them: function, parameters, values.

The rule in full: ``pytest_fcbench/kinds/calls/``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("simple_python")
def test_simple_python(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """One function is offered, one call answers the question."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("simple_java")
def test_simple_java(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """One Java method is offered; its arguments are Java source text."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("simple_javascript")
def test_simple_javascript(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """One JavaScript function is offered; its arguments are JavaScript source text."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multiple")
def test_multiple(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Several functions are offered, one call of the right one answers the question."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("parallel")
def test_parallel(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """One function must be called several times, in any order."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("parallel_multiple")
def test_parallel_multiple(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Several functions must be called, in any order."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("live_simple")
def test_live_simple(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """As simple, with functions and questions as users write them."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("live_multiple")
def test_live_multiple(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """As multiple, with functions and questions as users write them."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("live_parallel")
def test_live_parallel(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """As parallel, with functions and questions as users write them."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("live_parallel_multiple")
def test_live_parallel_multiple(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """As parallel_multiple, with functions and questions as users write them."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("format_sensitivity")
def test_format_sensitivity(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """An entry of another category, its functions shown and its calls asked for in one of 26 formats."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
