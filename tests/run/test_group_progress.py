"""The progress of each group."""

from __future__ import annotations

from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.run.group_progress import GroupTally
from tests.factories import make_record

PASSED = make_record()
RECORDS = [
    PASSED,
    make_record(Failed("a", "b"), number=1),
    make_record(NotScored("timeout", "late"), number=2),
    make_record(category="live_simple"),
]


def test_shares_are_of_what_has_a_verdict() -> None:
    tally = GroupTally(Profile.OFFICIAL)
    tally.count_new(RECORDS)
    assert (tally.passed, tally.judged) == (2, 3)
    non_live, live, complex_calls = tally.describe_groups({"non_live": 9, "live": 1, "complex": 5})
    assert non_live == "  non_live         3 of 9      50.0% passed (95% 9.5-90.5%)"
    assert live.startswith("  live             1 of 1     100.0% passed")
    assert complex_calls == "  complex          0 of 5    "


def test_each_record_counts_once() -> None:
    tally = GroupTally(Profile.OFFICIAL)
    for number in (1, 2, 4, 4):
        tally.count_new(RECORDS[:number])
    assert (tally.passed, tally.judged) == (2, 3)


def test_the_profile_decides() -> None:
    tally = GroupTally(Profile.CORRECTED)
    tally.count_new([make_record(Failed("a", "b"), PASSED.verdicts.corrected)])
    assert (tally.passed, tally.judged) == (1, 1)
