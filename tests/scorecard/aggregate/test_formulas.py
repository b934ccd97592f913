"""The official formulas, on examples that were computed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pytest_fcbench.domain.categories import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.aggregate.formulas import GROUPS, OVERALL, Weighing, weigh_categories
from pytest_fcbench.scorecard.aggregate.scores import ProfileScores, aggregate_scores
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record

SIZES = {"live_simple": 3, "live_multiple": 1, "live_parallel": 4, "live_parallel_multiple": 2}


def _make_records(counts: Mapping[str, Sequence[int]]) -> list[Record]:
    """Make a run: by category how many entries passed, failed and were not scored."""
    kinds: list[Verdict] = [Passed(), Failed("code", "reason"), NotScored("timeout", "600 s")]
    return [
        make_record(verdict, category=category, number=number)
        for category, found in counts.items()
        for number, verdict in enumerate(
            verdict for verdict, count in zip(kinds, found, strict=False) for _ in range(count)
        )
    ]


def _find_size(category: str) -> int:
    return SIZES.get(category, 99)


def _score_counts(**counts: tuple[int, ...]) -> ProfileScores:
    return aggregate_scores(_make_records(counts), Profile.OFFICIAL, _find_size)


def _score_partly(**counts: tuple[int, ...]) -> ProfileScores:
    """Score a run with parts that were not run as 0."""
    return aggregate_scores(_make_records(counts), Profile.OFFICIAL, _find_size, partial=True)


def test_the_official_weights_make_a_whole() -> None:
    assert sum(OVERALL.values()) == pytest.approx(1)


def test_every_part_is_a_category_or_an_earlier_group() -> None:
    known = set(CATEGORIES)
    for name, formula in GROUPS.items():
        assert set(formula.parts) <= known
        known.add(name)


def test_every_scored_category_but_live_relevance_has_a_weight() -> None:
    """In its group; executable categories, those of v1 and those of own suites have none in overall."""
    weighted = {part for formula in GROUPS.values() for part in formula.parts} - GROUPS.keys()
    scored = {category.name for category in CATEGORIES.values() if category.scored}
    apart = {*SELECTIONS["executable"], *SELECTIONS["v1"], *SELECTIONS["next_step"]}
    alone = {"multi_turn_composite", "format_sensitivity", "mcp"}
    assert scored - weighted == {"live_relevance"}
    assert CATEGORIES.keys() - scored == alone | apart
    assert weighted - scored == apart


def test_which_groups_are_weighted_by_count() -> None:
    by_count = [name for name, formula in GROUPS.items() if formula.weighing is Weighing.BY_COUNT]
    assert by_count == ["live", "complex", "v1", "next_step"]


def test_entries_of_v1_are_a_group_that_moves_nothing_of_overall() -> None:
    without, beside = (
        _score_partly(irrelevance=(1, 1)),
        _score_partly(irrelevance=(1, 1), sql=(1, 2), chatable=(1, 0)),
    )
    assert beside.groups["v1"].accuracy == pytest.approx(2 / 4)
    assert beside.overall.accuracy == without.overall.accuracy == 0.1 * 0.5 / 2
    assert beside.overall.missing == without.overall.missing


def test_complex_categories_are_a_group_without_a_part_in_overall() -> None:
    """Officially the success rate over all entries: 2 + 0 + 4 of 3 + 1 + 4, whatever their domains."""
    part = _score_counts(hotels=(2, 1), flights=(0, 1), car_rental=(4, 0))
    assert part.groups.keys() == {"complex"}
    assert part.categories["hotels"].accuracy == pytest.approx(2 / 3)
    assert (part.overall.n, part.overall.accuracy, part.weight) == (8, None, 0)
    assert (part.groups["complex"].accuracy, part.groups["complex"].missing) == (
        None,
        ("attraction", "cross"),
    )
    whole = _score_counts(hotels=(2, 1), flights=(0, 1), car_rental=(4, 0), attraction=(1, 0), cross=(0, 9))
    assert whole.groups["complex"].accuracy == pytest.approx(7 / 18)
    assert whole.groups["complex"].missing == ()
    assert (part.main, whole.main) == ("all", "complex")


def test_complex_entries_move_nothing_of_overall() -> None:
    without = _score_partly(irrelevance=(1, 1))
    beside = _score_partly(irrelevance=(1, 1), hotels=(0, 5))
    assert (beside.overall.accuracy, beside.overall.missing, beside.weight) == (
        without.overall.accuracy,
        without.overall.missing,
        without.weight,
    )
    assert beside.groups["complex"].missing == ("flights", "car_rental", "attraction", "cross")


def test_executable_categories_are_a_group_without_a_part_in_overall() -> None:
    """Its mean, as BFCL weighed its five until April 2025: those with one call make one of four parts."""
    alone = _score_counts(
        exec_simple=(1, 1),
        rest=(1, 0),
        exec_multiple=(1, 0),
        exec_parallel=(0, 4),
        exec_parallel_multiple=(0, 1),
    )
    assert alone.groups["executable_simple"].accuracy == pytest.approx(0.75)
    assert alone.groups["executable"].accuracy == pytest.approx(1.75 / 4)
    assert (alone.main, alone.overall.accuracy, alone.weight) == ("executable", None, 0)
    beside = _score_partly(irrelevance=(1, 1), exec_simple=(0, 5))
    assert beside.overall.accuracy == _score_partly(irrelevance=(1, 1)).overall.accuracy


def test_a_whole_run_is_scored_by_the_official_weights() -> None:
    """Every category run; live_relevance and multi_turn_composite change nothing."""
    scores = _score_counts(
        simple_python=(3, 1),
        simple_java=(1, 1),
        simple_javascript=(0, 2),
        multiple=(1, 1),
        parallel=(2, 0),
        parallel_multiple=(1, 3),
        irrelevance=(9, 1),
        live_simple=(1, 1),
        live_multiple=(5, 1),
        live_parallel=(0, 1),
        live_parallel_multiple=(1, 0),
        live_irrelevance=(1, 1),
        live_relevance=(0, 7),
        multi_turn_base=(1, 1),
        multi_turn_miss_func=(1, 3),
        multi_turn_miss_param=(0, 9),
        multi_turn_long_context=(1, 0),
        multi_turn_composite=(0, 5),
        memory_kv=(1, 1),
        memory_vector=(1, 3),
        memory_rec_sum=(3, 0),
        web_search_base=(1, 4),
        web_search_no_snippet=(0, 1),
    )
    simple = (0.75 + 0.5 + 0) / 3
    non_live = (simple + 0.5 + 1 + 0.25) / 4
    assert {name: score.accuracy for name, score in scores.groups.items()} == {
        "simple": pytest.approx(simple),
        "non_live": pytest.approx(non_live),
        "live": pytest.approx(7 / 10),
        "irrelevance_all": pytest.approx((0.9 + 0.5) / 2),
        "multi_turn": pytest.approx((0.5 + 0.25 + 0 + 1) / 4),
        "memory": pytest.approx(1.75 / 3),
        "web_search": pytest.approx(0.1),
        "agentic": pytest.approx((1.75 / 3 + 0.1) / 2),
    }
    overall = 0.1 * non_live + 0.1 * 0.7 + 0.1 * 0.7 + 0.3 * 1.75 / 4 + 0.4 * (1.75 / 3 + 0.1) / 2
    assert scores.overall.accuracy == pytest.approx(overall)
    assert scores.overall.missing == ()
    assert scores.main == "overall"
    assert scores.weight == pytest.approx(1)


def test_a_formula_of_which_a_part_was_not_run_has_no_accuracy() -> None:
    """Nor has one of which a part was asked and not scored; what was run as a whole has one."""
    scores = _score_counts(
        **dict.fromkeys(("live_irrelevance", "memory_kv", "memory_vector"), (1, 0)),
        irrelevance=(1, 1),
        live_simple=(3, 0),
        memory_rec_sum=(0, 0, 1),
    )
    missing = {name: score.missing for name, score in scores.groups.items() if score.missing}
    assert missing.keys() == {"live", "memory", "agentic"}
    assert missing["memory"] == ("memory_rec_sum",)
    for name in missing:
        assert (scores.groups[name].accuracy, scores.groups[name].interval) == (None, None)
    assert (scores.overall.accuracy, scores.overall.interval) == (None, None)
    assert scores.overall.missing[:3] == ("non_live", "multi_turn", "live_multiple")
    assert scores.groups["irrelevance_all"].accuracy == pytest.approx(0.75)
    assert (scores.all.accuracy, scores.all.n, scores.all.missing) == (7 / 8, 9, ())
    # irrelevance_all 10, live_simple 3 of 10 entries of 10, two of three parts of half of 40
    assert scores.weight == pytest.approx(0.1 + 0.03 + 0.2 * 2 / 3)


def test_a_part_that_was_not_run_counts_as_0_in_a_mean_that_is_asked_for() -> None:
    scores = _score_partly(simple_python=(1, 0), multiple=(1, 0))
    assert scores.groups["simple"].accuracy == pytest.approx(1 / 3)
    assert scores.groups["simple"].missing == ("simple_java", "simple_javascript")
    assert scores.groups["non_live"].accuracy == pytest.approx((1 / 3 + 1) / 4)
    assert scores.groups["non_live"].missing == (
        "parallel",
        "parallel_multiple",
        "simple_java",
        "simple_javascript",
    )


def test_without_multi_turn_the_overall_score_lacks_its_weight() -> None:
    scores = _score_counts(live_relevance=(1, 0), multi_turn_composite=(1, 0))
    assert "multi_turn" not in scores.groups
    assert scores.overall.missing == ("non_live", "live", "irrelevance_all", "multi_turn", "agentic")
    some = _score_partly(multi_turn_base=(3, 1))
    assert some.groups["multi_turn"].accuracy == pytest.approx(0.75 / 4)
    assert some.overall.accuracy == pytest.approx(0.3 * 0.75 / 4)
    assert some.groups["multi_turn"].missing == (
        "multi_turn_miss_func",
        "multi_turn_miss_param",
        "multi_turn_long_context",
    )


def test_a_live_part_that_was_not_run_counts_as_0_with_all_its_entries() -> None:
    scores = _score_partly(live_simple=(2, 1), live_multiple=(1, 0))
    assert scores.groups["live"].accuracy == pytest.approx(3 / (4 + 4 + 2))
    assert scores.groups["live"].missing == ("live_parallel", "live_parallel_multiple")
    assert scores.groups["live"].n == 4


def test_a_group_that_was_not_run_counts_as_0_overall() -> None:
    scores = _score_partly(irrelevance=(1, 0), live_irrelevance=(1, 0))
    assert scores.overall.accuracy == pytest.approx(0.1)
    assert scores.overall.missing == ("non_live", "live", "multi_turn", "agentic")


def test_entries_that_were_not_scored_are_out_of_the_denominator() -> None:
    scores = _score_counts(
        live_simple=(1, 1, 8), live_multiple=(3, 1), live_parallel=(0, 1), live_parallel_multiple=(0, 1)
    )
    assert scores.groups["live"].accuracy == pytest.approx(4 / 8)
    assert scores.groups["live"].not_scored == 8


def test_entries_that_are_set_aside_count_in_the_official_profile_only() -> None:
    aside = NotScored(SET_ASIDE, "bad data")
    records = [make_record(Failed("c", "r"), aside), make_record(Passed(), number=1)]
    official, corrected = (
        aggregate_scores(records, profile, lambda name: 0).categories["simple_python"] for profile in Profile
    )
    assert (official.accuracy, official.set_aside) == (0.5, 0)
    assert (corrected.accuracy, corrected.set_aside, corrected.not_scored) == (1.0, 1, 1)


@pytest.mark.parametrize("share", [(7, 3), (9, 1), (2, 8)], ids=str)
@pytest.mark.parametrize("group", ["simple", "irrelevance_all", "multi_turn"])
def test_the_mean_of_equal_parts_is_that_part(share: tuple[int, int], group: str) -> None:
    scores = _score_counts(**dict.fromkeys(GROUPS[group].parts, share))
    assert scores.groups[group].accuracy == pytest.approx(share[0] / 10)


def test_a_live_part_that_is_named_missing_counts_as_0() -> None:
    scores = _score_partly(
        live_simple=(3, 0),
        live_multiple=(0, 0, 1),
        live_parallel=(4, 0),
        live_parallel_multiple=(2, 0),
    )
    assert scores.groups["live"].missing == ("live_multiple",)
    assert scores.groups["live"].accuracy == pytest.approx(9 / 10)


# Weights of categories


def _weigh_by_size(metric: str, **sizes: int) -> dict[str, float]:
    """Weigh the categories within a metric; those without a size have no entries."""
    return dict(weigh_categories(metric, lambda category: sizes.get(category, 0)))


def test_a_category_is_all_of_itself() -> None:
    assert _weigh_by_size("parallel") == {"parallel": 1.0}
    assert _weigh_by_size("live_relevance", live_relevance=7) == {"live_relevance": 1.0}


def test_categories_of_a_mean_weigh_the_same_whatever_their_size() -> None:
    halves = {"irrelevance": 0.5, "live_irrelevance": 0.5}
    assert _weigh_by_size("irrelevance_all", irrelevance=1, live_irrelevance=9) == halves


def test_categories_of_a_group_weighted_by_count_weigh_by_their_size() -> None:
    assert _weigh_by_size("live", **SIZES) == pytest.approx(
        {"live_simple": 0.3, "live_multiple": 0.1, "live_parallel": 0.4, "live_parallel_multiple": 0.2}
    )


def test_without_any_entries_no_category_of_such_a_group_has_a_weight() -> None:
    assert _weigh_by_size("live") == dict.fromkeys(SIZES, 0.0)


def test_categories_of_a_group_within_a_group_share_its_weight() -> None:
    simple = dict.fromkeys(("simple_python", "simple_java", "simple_javascript"), 1 / 12)
    others = dict.fromkeys(("multiple", "parallel", "parallel_multiple"), 1 / 4)
    assert _weigh_by_size("non_live") == pytest.approx({**simple, **others})


def test_weights_within_overall_are_those_of_the_official_formula() -> None:
    found = _weigh_by_size("overall", **SIZES)
    assert sum(found.values()) == pytest.approx(1)
    assert {name: found[name] for name in ("simple_java", "parallel", "live_parallel", "irrelevance")} == (
        pytest.approx(
            {"simple_java": 0.1 / 12, "parallel": 0.1 / 4, "live_parallel": 0.04, "irrelevance": 0.05}
        )
    )
    assert (found["multi_turn_base"], found["memory_kv"], found["web_search_base"]) == (
        pytest.approx((0.3 / 4, 0.4 / 2 / 3, 0.4 / 2 / 2))
    )
    assert "hotels" not in found
