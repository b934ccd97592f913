"""Statements of SQL are explained as they are judged."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.explanation import FailedEntry
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.sql.kind import SQL
from tests.factories import make_entry, make_transcript


@pytest.mark.parametrize(("profile", "pairs"), [(Profile.OFFICIAL, 1), (Profile.CORRECTED, 0)])
def test_arguments_stand_beside_each_other_only_where_they_are_compared(profile: Profile, pairs: int) -> None:
    transcript = make_transcript("[weather.forecast(city='Oslo')]")
    failed = FailedEntry(make_entry("sql"), transcript, Failed("code", "why"), profile)
    assert len(SQL.pair_calls(failed, None)) == pairs
