"""A call says in its arguments what a statement of SQL consists of.

The rule in full: ``pytest_fcbench/kinds/sql/``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("sql")
def test_sql(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """One statement does what is asked."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
