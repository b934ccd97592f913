"""The number of features decides the stratum."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.strata import find_stratum


@pytest.mark.parametrize(
    ("number", "stratum"), [(0, "easy"), (1, "easy"), (2, "medium"), (3, "hard"), (9, "hard")]
)
def test_more_features_make_an_entry_harder(number: int, stratum: str) -> None:
    assert find_stratum(["near miss"] * number) == stratum
