"""Calls in several steps, each answered with what was recorded, compared with those of a golden path.

The rule in full: ``pytest_fcbench/kinds/golden_path/``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("hotels")
def test_hotels(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Places to stay: rooms, prices, reviews, policies."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("flights")
def test_flights(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Flights: offers, prices, seats."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("car_rental")
def test_car_rental(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Cars for rent: offers, packages, suppliers."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("attraction")
def test_attraction(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Sights and activities: tickets, opening days."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("cross")
def test_cross(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """Several of these in one request, with rides between them."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
