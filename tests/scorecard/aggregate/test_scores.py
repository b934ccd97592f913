"""Counts add up, not-scored entries stay out of the denominator, and order does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.verdict import (
    OTHER_RULES,
    SET_ASIDE,
    Failed,
    NotScored,
    Passed,
    Profile,
    Verdict,
)
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from pytest_fcbench.scorecard.aggregate.scores import (
    ProfileScores,
    Score,
    aggregate_scores,
    list_sized_categories,
    score_metric,
)
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_path_record, make_record

PASSED, FAILED = Passed(), Failed("wrong_count", "2 calls")
TIMEOUT, ASIDE = NotScored("timeout", "600 s"), NotScored(SET_ASIDE, "bad data")

_VERDICTS = st.sampled_from([PASSED, FAILED, TIMEOUT, ASIDE])
RECORDS = st.lists(
    st.builds(make_record, _VERDICTS, _VERDICTS, category=st.sampled_from(list(CATEGORIES))), max_size=25
)


def no_more(category: str) -> int:
    """No category has entries beyond those that were run."""
    return 0


def _make_records(category: str, *verdicts: Verdict) -> list[Record]:
    return [make_record(verdict, category=category, number=n) for n, verdict in enumerate(verdicts)]


def _score_records(
    *records: Sequence[Record], profile: Profile = Profile.OFFICIAL, partial: bool = False
) -> ProfileScores:
    every = [record for group in records for record in group]
    return aggregate_scores(every, profile, no_more, partial=partial)


def _read_limits(interval: Interval | None) -> tuple[float, float, str]:
    assert interval is not None
    return round(interval.low, 4), round(interval.high, 4), interval.method


# Examples


def test_a_category_counts_every_verdict_apart() -> None:
    scores = _score_records(_make_records("multiple", PASSED, FAILED, TIMEOUT, PASSED, ASIDE, TIMEOUT))
    assert list(scores.categories) == ["multiple"]
    score = scores.categories["multiple"]
    assert replace(score, interval=None) == Score(
        n=6, passed=2, failed=1, not_scored=3, set_aside=1, accuracy=2 / 3, interval=None
    )
    assert score.scored == 3
    assert _read_limits(score.interval) == (0.2077, 0.9385, "wilson")


def test_trials_of_an_entry_are_a_cluster() -> None:
    verdicts: list[Verdict] = [PASSED, PASSED, FAILED]
    records = [make_record(v, number=n, trial=t) for n, v in enumerate(verdicts) for t in (1, 2, 3)]
    score = _score_records(records).categories["simple_python"]
    assert (score.passed, score.failed) == (6, 3)
    assert _read_limits(score.interval) == (0.0438, 0.9887, "wilson, cluster-robust, fewer than 6 clusters")


def test_entries_that_share_a_cluster_are_one() -> None:
    """Also under a mark, where a cluster reaches over categories."""
    records = [
        make_path_record(PASSED if n < 5 else FAILED, category=name, number=n, cluster=str(n // 3))
        for name in ("hotels", "cross")
        for n in range(6)
    ]
    hotels = _score_records(records).categories["hotels"]
    assert _read_limits(hotels.interval) == (0.0209, 0.9991, "wilson, cluster-robust, fewer than 6 clusters")
    marked = score_metric("core", records, Profile.OFFICIAL, no_more)
    assert marked is not None
    assert marked.interval == hotels.interval
    alone = [replace(record, cluster=f"{n}") for n, record in enumerate(records[:6])]
    hotels = _score_records(alone).categories["hotels"]
    assert _read_limits(hotels.interval) == (0.4365, 0.9699, "wilson")


@pytest.mark.parametrize(("others", "number"), [(40, 5), (4, None)])
def test_a_group_names_the_few_clusters_that_make_its_interval_wide(others: int, number: int | None) -> None:
    """Not where the doubt is mostly that of other categories."""

    def make_questions(category: str, n: int, clusters: int) -> list[Record]:
        return [
            replace(each, cluster=f"{category[:6]} {place % clusters}")
            for place, each in enumerate(_make_records(category, *(PASSED, FAILED) * (n // 2)))
        ]

    scores = _score_records(
        *(make_questions(name, 40, 5) for name in ("memory_kv", "memory_vector", "memory_rec_sum")),
        *(make_questions(name, others, 40) for name in ("web_search_base", "web_search_no_snippet")),
    )
    intervals = [scores.groups[name].interval for name in ("memory", "agentic", "web_search")]
    assert [each and each.clusters for each in intervals] == [5, number, None]


def test_a_group_is_as_sure_as_its_parts() -> None:
    """The one that was not run, where it counts as 0, adds no doubt."""
    groups = _score_records(_make_records("irrelevance", PASSED, FAILED, PASSED), partial=True).groups
    # Half of the limits of 2 of 3
    assert _read_limits(groups["irrelevance_all"].interval) == (0.1038, 0.4693, "mover of its parts")


def test_overall_goes_by_the_weights_of_its_groups() -> None:
    scores = _score_records(
        _make_records("irrelevance", PASSED, FAILED),
        _make_records("live_irrelevance", PASSED, PASSED),
        partial=True,
    )
    assert _read_limits(scores.groups["irrelevance_all"].interval) == (0.3637, 0.9527, "mover of its parts")
    assert _read_limits(scores.overall.interval) == (0.0364, 0.0953, "mover of its parts")


def test_nothing_scored_has_no_accuracy() -> None:
    scores = _score_records(_make_records("multiple", TIMEOUT, ASIDE))
    assert scores.categories["multiple"].accuracy is None
    assert scores.groups["non_live"].accuracy is None


def test_each_profile_counts_its_own_verdicts() -> None:
    records = [make_record(PASSED, FAILED), make_record(FAILED, ASIDE, number=1)]
    assert _score_records(records).categories["simple_python"].passed == 1
    corrected = _score_records(records, profile=Profile.CORRECTED).categories["simple_python"]
    assert (corrected.passed, corrected.failed, corrected.set_aside) == (0, 1, 1)


def test_categories_are_in_the_order_of_the_tables_and_only_those_run() -> None:
    scores = _score_records(
        *(_make_records(name, PASSED) for name in ("live_simple", "parallel", "simple_java"))
    )
    assert list(scores.categories) == ["simple_java", "parallel", "live_simple"]


def test_a_group_is_there_when_a_part_of_it_was_run() -> None:
    assert list(_score_records(_make_records("live_simple", PASSED)).groups) == ["live"]
    assert list(_score_records(_make_records("simple_java", PASSED)).groups) == ["simple", "non_live"]
    assert list(_score_records(_make_records("irrelevance", FAILED)).groups) == ["irrelevance_all"]


def test_live_relevance_is_counted_and_has_no_weight() -> None:
    scores = _score_records(_make_records("live_relevance", PASSED, PASSED))
    assert scores.groups == {}
    assert scores.overall.n == 2
    assert scores.overall.accuracy is None


def test_a_run_of_nothing_has_no_scores() -> None:
    scores = _score_records()
    assert (scores.categories, scores.groups, scores.overall.n) == ({}, {}, 0)
    assert scores.overall.accuracy is None


@pytest.mark.parametrize("name", ["multiple", "non_live", "overall", "all"])
def test_scores_are_found_by_name(name: str) -> None:
    scores = _score_records(_make_records("multiple", PASSED))
    named = {**scores.categories, **scores.groups, "overall": scores.overall, "all": scores.all}
    assert scores.find_score(name) is named[name]


def test_what_was_not_run_has_no_score() -> None:
    assert _score_records(_make_records("multiple", PASSED)).find_score("live") is None


@pytest.mark.parametrize(("assumed", "passed", "failed"), [(PASSED, 3, 1), (FAILED, 1, 3)])
def test_entries_without_a_verdict_can_be_assumed_to_have_one(
    assumed: Passed | Failed, passed: int, failed: int
) -> None:
    """Set-aside ones excepted: no answer to them counts."""
    records = _make_records("multiple", PASSED, FAILED, TIMEOUT, TIMEOUT, ASIDE)
    score = aggregate_scores(records, Profile.OFFICIAL, no_more, assumed).categories["multiple"]
    assert (score.passed, score.failed, score.not_scored, score.set_aside) == (passed, failed, 1, 1)


def test_each_trial_counts() -> None:
    """Also where a group is weighted by count: five of six tests scored, and a category of six not run."""
    verdicts: list[Verdict] = [PASSED, FAILED, PASSED, TIMEOUT, PASSED, FAILED]
    records = [
        make_record(verdict, category="live_simple", number=index // 3, trial=index % 3 + 1)
        for index, verdict in enumerate(verdicts)
    ]
    scores = aggregate_scores(
        records, Profile.OFFICIAL, lambda name: 6 if name == "live_multiple" else 0, partial=True
    )
    found = scores.categories["live_simple"]
    assert (found.n, found.passed, found.failed, found.not_scored) == (6, 3, 2, 1)
    assert scores.groups["live"].accuracy == 3 / 11


def test_overall_has_no_accuracy_where_nothing_was_scored() -> None:
    assert _score_records(_make_records("multiple", TIMEOUT)).overall.accuracy is None


# What is missing, and what has no verdict under this profile


def test_where_nothing_of_overall_was_scored_all_of_it_is_missing() -> None:
    overall = _score_records(_make_records("multiple", TIMEOUT)).overall
    # First what overall lacks, then what the group that was begun lacks.
    assert overall.missing == (
        "non_live",
        "live",
        "irrelevance_all",
        "multi_turn",
        "agentic",
        "simple",
        "multiple",
        "parallel",
        "parallel_multiple",
    )


@pytest.mark.parametrize(
    ("categories", "main", "names"),
    [
        ("hotels", "hotels", ["hotels"]),
        ("irrelevance", "irrelevance", ["irrelevance"]),
        ("irrelevance live_irrelevance", "irrelevance_all", ["irrelevance_all", "all"]),
        ("irrelevance live_irrelevance hotels", "all", ["irrelevance_all", "all"]),
        ("simple_python multiple", "all", ["all"]),
        ("simple_python simple_java simple_javascript", "simple", ["simple", "all"]),
    ],
)
def test_the_score_that_stands_for_a_part_is_whole(categories: str, main: str, names: list[str]) -> None:
    """One category or one group that was run whole, else all entries; no formula that lacks a part."""
    run = categories.split()
    scores = _score_records(*(_make_records(name, PASSED, FAILED) for name in run))
    assert scores.main == main
    assert scores.names == (names if len(run) == 1 else [*run, *names])
    for name in scores.names:
        assert (score := scores.find_score(name))
        assert (score.accuracy, score.missing) == (0.5, ())


def test_what_followed_the_rules_of_the_other_profile_leaves_no_accuracy() -> None:
    unknown = NotScored(OTHER_RULES, "went another way")
    scores = _score_records(
        _make_records("hotels", PASSED, unknown),
        _make_records("flights", PASSED),
        _make_records("cross", TIMEOUT),
    )
    hotels, group = scores.categories["hotels"], scores.groups["complex"]
    assert (hotels.unknown, hotels.accuracy, hotels.interval) == (1, None, None)
    assert (group.n, group.unknown, group.accuracy, group.interval) == (4, 1, None, None)
    # Of hotels something is known, only no share.
    assert group.missing == ("car_rental", "attraction", "cross")


@pytest.mark.parametrize(
    ("run", "sample"),
    # A category without a weight is no part of the formula, and an older scorecard knows no size.
    [
        ("multiple", None),
        ("parallel multiple", (6, 8)),
        ("parallel exec_simple", (3, 5)),
        ("simple_python", None),
    ],
)
def test_a_run_knows_of_how_many_tests_it_is_a_sample(run: str, sample: tuple[int, int] | None) -> None:
    sizes = {"parallel": 5, "multiple": 3, "exec_simple": 9}
    records = [record for name in run.split() for record in _make_records(name, PASSED, FAILED, TIMEOUT)]
    assert aggregate_scores(records, Profile.OFFICIAL, lambda name: sizes.get(name, 0)).sample == sample


def test_a_single_entry_is_all_of_its_group() -> None:
    scores = _score_records(_make_records("live_simple", PASSED), partial=True)
    assert scores.groups["live"].accuracy == 1.0


@pytest.mark.parametrize(
    ("run", "sized"),
    [
        ("live_simple", ["live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"]),
        ("hotels", ["hotels", "flights", "car_rental", "attraction", "cross"]),
        ("multiple", ["multiple"]),
        ("of my own", []),
    ],
)
def test_sizes_count_in_groups_that_are_weighted_by_count(run: str, sized: list[str]) -> None:
    assert list_sized_categories([run]) == sized


# Single metrics


_MIXED = [
    make_record(PASSED, FAILED, category="live_simple", number=0),
    make_record(FAILED, category="live_simple", number=1),
    make_record(TIMEOUT, category="live_simple", number=2),
    replace(make_record(PASSED, category="multiple"), marks=("hard",)),
]


@pytest.mark.parametrize("metric", ["overall", "all", "live", "live_simple"])
@pytest.mark.parametrize("assumed", [None, PASSED])
@pytest.mark.parametrize("profile", Profile)
def test_a_metric_with_a_formula_is_that_of_the_scores(
    metric: str, assumed: Passed | None, profile: Profile
) -> None:
    def count_entries(category: str) -> int:
        return 6 if category == "live_parallel" else 0

    scores = aggregate_scores(_MIXED, profile, count_entries, assumed)
    assert score_metric(metric, _MIXED, profile, count_entries, assumed) == scores.find_score(metric)


@pytest.mark.parametrize(
    ("metric", "profile", "assumed", "counts"),
    [
        ("core", Profile.OFFICIAL, None, (4, 2, 1, 1)),
        ("core", Profile.CORRECTED, None, (4, 1, 2, 1)),
        ("core", Profile.CORRECTED, FAILED, (4, 1, 3, 0)),
        ("single_turn", Profile.OFFICIAL, None, (4, 2, 1, 1)),
        ("mark:hard", Profile.OFFICIAL, None, (1, 1, 0, 0)),
    ],
)
def test_under_a_mark_entries_count_alike(
    metric: str, profile: Profile, assumed: Failed | None, counts: tuple[int, int, int, int]
) -> None:
    score = score_metric(metric, _MIXED, profile, no_more, assumed)
    assert score
    assert (score.n, score.passed, score.failed, score.not_scored) == counts


@pytest.mark.parametrize("metric", ["bfcl", "mark:soft", "parallel", "agentic"])
def test_a_metric_of_which_nothing_was_run_has_no_score(metric: str) -> None:
    assert score_metric(metric, _MIXED, Profile.OFFICIAL, no_more) is None


# Properties


def _list_scores(scores: ProfileScores) -> Mapping[str, Score]:
    return {**scores.categories, **scores.groups, "overall": scores.overall, "all": scores.all}


@given(RECORDS)
def test_counts_add_up_everywhere(records: list[Record]) -> None:
    for profile in Profile:
        for name, score in _list_scores(aggregate_scores(records, profile, no_more)).items():
            assert score.n == score.passed + score.failed + score.not_scored, name
            assert score.scored == score.passed + score.failed, name
            assert 0 <= score.set_aside <= score.not_scored, name
            assert score.accuracy is None or 0 <= score.accuracy <= 1, name


@given(RECORDS)
def test_only_what_is_whole_has_an_accuracy(records: list[Record]) -> None:
    for profile in Profile:
        for name, score in _list_scores(aggregate_scores(records, profile, no_more)).items():
            assert score.accuracy is None or not score.missing, name


@given(RECORDS)
def test_overall_counts_every_record_once(records: list[Record]) -> None:
    for profile in Profile:
        assert aggregate_scores(records, profile, no_more).overall.n == len(records)


@given(RECORDS.flatmap(lambda records: st.tuples(st.just(records), st.permutations(records))))
def test_the_order_of_records_does_not_matter(orders: tuple[list[Record], list[Record]]) -> None:
    for profile in Profile:
        one, other = (aggregate_scores(records, profile, lambda name: 7) for records in orders)
        assert one == other
        assert list(_list_scores(one)) == list(_list_scores(other))


@given(RECORDS)
def test_what_could_come_lies_around_what_was_found(records: list[Record]) -> None:
    """Of categories, whose accuracy is a plain share: assumed verdicts never turn worst and best around."""
    for profile in Profile:
        worst, found, best = (
            aggregate_scores(records, profile, no_more, assumed).categories
            for assumed in (FAILED, None, PASSED)
        )
        for name, score in found.items():
            if score.accuracy is not None:
                assert (worst[name].accuracy or 0) <= score.accuracy <= (best[name].accuracy or 0)


# Suites of a team's own


_SOME: list[Verdict] = [PASSED, FAILED, TIMEOUT]


def test_in_suites_of_a_team_every_entry_counts_alike() -> None:
    own = [make_record(v, number=n, suite="mine") for n, v in enumerate(_SOME)]
    more = [make_record(PASSED, suite="yours", category="chatable", number=n) for n in range(3)]
    scores = _score_records(own, more)
    assert replace(scores.overall, interval=None) == Score(
        n=6, passed=4, failed=1, not_scored=1, set_aside=0, accuracy=4 / 5, interval=None
    )
    assert _read_limits(scores.overall.interval) == (0.3755, 0.9638, "wilson")
    assert scores.alike
    assert {name: group.accuracy for name, group in scores.groups.items()} == {"mine": 0.5, "yours": 1.0}
    assert scores.main == "overall"


@pytest.mark.parametrize(
    ("profile", "counts"), [(Profile.OFFICIAL, (2, 0, 0)), (Profile.CORRECTED, (1, 1, 0))]
)
def test_in_suites_of_a_team_each_profile_counts_its_own_verdicts(
    profile: Profile, counts: tuple[int, int, int]
) -> None:
    own = [make_record(PASSED, FAILED, suite="mine"), make_record(TIMEOUT, suite="mine", number=1)]
    scores = aggregate_scores(own, profile, no_more, PASSED)
    for found in (
        scores.overall,
        scores.groups["mine"],
        score_metric("overall", own, profile, no_more, PASSED),
    ):
        assert found
        assert (found.passed, found.failed, found.not_scored) == counts


def test_in_suites_of_a_team_a_group_is_the_mean_of_its_entries() -> None:
    own = [
        make_record(PASSED, suite="mine", category="live_simple", number=0),
        make_record(PASSED, suite="mine", category="live_simple", number=1),
        make_record(FAILED, suite="mine", category="live_multiple"),
    ]
    live = score_metric("live", own, Profile.OFFICIAL, lambda category: 100)
    assert live
    assert (live.n, live.accuracy) == (3, 2 / 3)


def test_beside_a_suite_of_the_benchmark_the_formula_holds() -> None:
    scores = _score_records([make_record(PASSED, suite="mine"), make_record(PASSED, number=1)])
    assert not scores.alike
    assert "mine" not in scores.groups
    assert scores.weight == pytest.approx(0.1 / 4 / 3)
    assert (scores.overall.accuracy, scores.all.accuracy) == (None, 1)
