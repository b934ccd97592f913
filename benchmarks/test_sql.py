"""A call says in its arguments what a statement of SQL consists of."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.matchers import sql
from pytest_fcbench.run.session import Ask, Score


@pytest.mark.fcbench("sql")
def test_sql(entry: Entry, ask: Ask, score: Score) -> None:
    """One statement does what is asked."""
    verdict = score(sql.judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
