"""Wrong calls along a golden path stand beside the expected ones."""

from __future__ import annotations

from pytest_fcbench.domain.explanation import FailedEntry
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.golden_path.kind import pair_wrong_calls
from tests.factories import make_call_verdict, make_entry, make_path_score, make_transcript


def test_only_wrong_calls_stand_beside_the_expected_ones() -> None:
    wrong = make_call_verdict(expected={"city": "Oslo"}, code="value_error")
    path = make_path_score(make_call_verdict(), wrong)
    failed = FailedEntry(make_entry("hotels"), make_transcript(""), Failed("code", "why"), Profile.OFFICIAL)
    (pair,) = pair_wrong_calls(failed, path)
    assert (pair.found, pair.expected, pair.wrong) == ("find_hotels", "find_hotels", False)
    (city,) = pair.arguments
    assert (city.name, city.found, city.expected, city.wrong) == ("city", "'Bergen'", "'Oslo'", True)
