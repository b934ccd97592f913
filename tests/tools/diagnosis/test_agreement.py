"""Agreement and Cohen's kappa, against examples that were worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.tools.diagnosis.agreement import Agreement


def make_agreement(counts: dict[tuple[str, str], int]) -> Agreement:
    """Make labels that give this table."""
    pairs = [pair for pair, times in counts.items() for _ in range(times)]
    return Agreement(
        {str(n): one for n, (one, _) in enumerate(pairs)},
        {str(n): other for n, (_, other) in enumerate(pairs)},
    )


@pytest.mark.parametrize(
    ("counts", "share", "kappa"),
    [
        # 35 of 50 agree; by chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5
        ({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}, 0.7, 0.4),
        # The same share twice; chance is 60*70 + 40*30 = 5,400 of 10,000, then 60*30 + 40*70 = 4,600.
        ({("y", "y"): 45, ("y", "n"): 15, ("n", "y"): 25, ("n", "n"): 15}, 0.6, (0.6 - 0.54) / 0.46),
        ({("y", "y"): 25, ("y", "n"): 35, ("n", "y"): 5, ("n", "n"): 35}, 0.6, (0.6 - 0.46) / 0.54),
        # Three labels: chance is (4*3 + 3*4 + 3*3) / 100
        (
            {("a", "a"): 3, ("a", "b"): 1, ("b", "b"): 2, ("b", "c"): 1, ("c", "c"): 2, ("c", "b"): 1},
            0.7,
            (0.7 - 0.33) / 0.67,
        ),
        ({("y", "y"): 2, ("n", "n"): 3}, 1.0, 1.0),
        ({("y", "n"): 1, ("n", "y"): 1}, 0.0, -1.0),
        ({("y", "y"): 5, ("y", "n"): 5}, 0.5, 0.0),
        ({("y", "n"): 3}, 0.0, 0.0),
        ({("y", "y"): 7}, 1.0, None),
    ],
)
def test_share_and_kappa_are_those_of_worked_examples(
    counts: dict[tuple[str, str], int], share: float, kappa: float | None
) -> None:
    agreement = make_agreement(counts)
    assert agreement.share == pytest.approx(share)
    assert agreement.kappa == (None if kappa is None else pytest.approx(kappa))
    assert agreement.table == counts


def test_only_what_both_labelled_counts() -> None:
    agreement = Agreement({"a": "x", "b": "x", "c": "y"}, {"d": "y", "c": "x", "b": "x"})
    assert agreement.both == ["b", "c"]
    assert agreement.different == ["c"]
    assert agreement.share == 0.5


def test_nothing_in_common_has_no_agreement() -> None:
    agreement = Agreement({"a": "x"}, {"b": "x"})
    assert (agreement.share, agreement.kappa, agreement.different) == (None, None, [])


LABELS = st.dictionaries(st.integers(0, 30).map(str), st.sampled_from("abc"), min_size=1)


@given(one=LABELS, other=LABELS)
def test_kappa_is_symmetric_and_at_most_the_share(one: dict[str, str], other: dict[str, str]) -> None:
    agreement, turned = Agreement(one, other), Agreement(other, one)
    assert agreement.share == turned.share
    if agreement.kappa is None or agreement.share is None:
        assert turned.kappa is None
    else:
        assert agreement.kappa == pytest.approx(turned.kappa)
        assert -1 <= agreement.kappa <= agreement.share + 1e-9
