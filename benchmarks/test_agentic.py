"""The model finds out what is asked with its functions, and says it.

The rule in full: ``pytest_fcbench/kinds/answers/verdict.py``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("memory_kv")
def test_memory_kv(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """It was said in an earlier conversation, and kept in a memory of texts with names."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("memory_vector")
def test_memory_vector(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """It was kept in a memory of texts that are found by what they mean."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("memory_rec_sum")
def test_memory_rec_sum(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """It was kept in a memory of one text that is always shown."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("web_search_base")
def test_web_search_base(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """It has to be looked up on the web, from page to page."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("web_search_no_snippet")
def test_web_search_no_snippet(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """The same, and what is found is shown by its title only."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
