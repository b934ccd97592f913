"""BM25+ as rank_bm25 has it."""

from __future__ import annotations

import pytest

from pytest_fcbench.environments.memory.ranking import rank_texts


def test_scores_are_those_of_the_formula() -> None:
    """By hand, for two words: ln(4/2) x (1 + 2.5 / (1.5 x (0.25 + 0.75 x 2 / (5/3)) + 1)) = 1.3291."""
    found = rank_texts("city nowhere", ["home_city", "city", "work_place"])
    assert [text for _, text in found] == ["city", "home_city", "work_place"]
    assert [score for score, _ in found] == pytest.approx([1.5384, 1.3291, 0.6931], abs=1e-4)


def test_a_word_of_the_query_counts_as_often_as_it_stands_there() -> None:
    (once, _), (twice, _) = rank_texts("city", ["city"])[0], rank_texts("city city", ["city"])[0]
    assert twice == pytest.approx(2 * once)


def test_what_scores_alike_keeps_its_order() -> None:
    assert rank_texts("nothing", ["b", "a", "c"]) == [(0.0, "b"), (0.0, "a"), (0.0, "c")]


def test_nothing_cannot_be_ranked() -> None:
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        rank_texts("a", [])
