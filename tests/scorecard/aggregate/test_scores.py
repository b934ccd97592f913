"""Counts add up, not-scored entries stay out of the denominator, and order does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Group, Stratum
from pytest_fcbench.domain.verdict import (
    OTHER_RULES,
    SET_ASIDE,
    Failed,
    NotScored,
    Passed,
    Profile,
    Verdict,
    Verdicts,
)
from pytest_fcbench.present.score_tables import tabulate_strata, tabulate_untrained
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from pytest_fcbench.scorecard.aggregate.scores import (
    GROUPS,
    OVERALL,
    ProfileScores,
    Score,
    aggregate_scores,
    list_sized_categories,
    mark_trained,
    name_main_score,
    score_metric,
    score_strata,
    score_untrained,
    weigh_categories,
)
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.record import Record
from tests.cases import each_case
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


@each_case("name", ["multiple", "non_live", "overall", "all"])
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


@each_case(
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


@each_case(
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


@each_case(
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


@each_case("metric", ["overall", "all", "live", "live_simple"])
@each_case("assumed", [None, PASSED])
@each_case("profile", Profile)
def test_a_metric_with_a_formula_is_that_of_the_scores(
    metric: str, assumed: Passed | None, profile: Profile
) -> None:
    def count_entries(category: str) -> int:
        return 6 if category == "live_parallel" else 0

    scores = aggregate_scores(_MIXED, profile, count_entries, assumed)
    assert score_metric(metric, _MIXED, profile, count_entries, assumed) == scores.find_score(metric)


@each_case(
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


@each_case("metric", ["bfcl", "mark:soft", "parallel", "agentic"])
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
    # Checks of a server count only where nothing else was run.
    counted = [record for record in records if record.group != Group.SERVER] or records
    for profile in Profile:
        assert aggregate_scores(records, profile, no_more).overall.n == len(counted)


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


SIZES = {"live_simple": 3, "live_multiple": 1, "live_parallel": 4, "live_parallel_multiple": 2}


def _make_counted_records(counts: Mapping[str, Sequence[int]]) -> list[Record]:
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
    return aggregate_scores(_make_counted_records(counts), Profile.OFFICIAL, _find_size)


def _score_partly(**counts: tuple[int, ...]) -> ProfileScores:
    """Score a run with parts that were not run as 0."""
    return aggregate_scores(_make_counted_records(counts), Profile.OFFICIAL, _find_size, partial=True)


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
    alone = {
        "multi_turn_composite",
        "format_sensitivity",
        "mcp",
        "server_must",
        "server_should",
        "server_info",
        "server_forced",
    }
    assert scored - weighted == {"live_relevance"}
    assert CATEGORIES.keys() - scored == alone | apart
    assert weighted - scored == apart


def test_which_groups_are_weighted_by_count() -> None:
    by_count = [name for name, formula in GROUPS.items() if formula.by_count]
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


@each_case("share", [(7, 3), (9, 1), (2, 8)], ids=str)
@each_case("group", ["simple", "irrelevance_all", "multi_turn"])
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


_WRONG = Failed("value_error:string", "x")


def make_stratum_record(
    stratum: str | None, verdict: Verdict, number: int = 0, category: str = "multiple"
) -> Record:
    """Make a Record of an entry in this stratum."""
    return replace(make_record(verdict, category=category, number=number), stratum=stratum)


_RECORDS = [
    make_stratum_record("hard", Passed()),
    make_stratum_record("hard", _WRONG, 1),
    make_stratum_record("hard", _WRONG, 2, category="parallel"),
    make_stratum_record("hard", NotScored("timeout", "x"), 3),
    make_stratum_record("easy", Passed(), 4),
    make_stratum_record(None, Passed(), 5),
]


def test_a_stratum_has_the_entries_of_all_categories() -> None:
    found = score_strata(_RECORDS, Profile.OFFICIAL)
    counts = {name: (score.n, score.passed, score.failed) for name, score in found.items()}
    assert counts == {Stratum.EASY: (1, 1, 0), Stratum.HARD: (4, 1, 2)}


def test_the_table_goes_from_easy_to_hard() -> None:
    table = tabulate_strata(_RECORDS, Profile.OFFICIAL)
    assert table
    assert table.title == "strata of difficulty (official profile)"
    # Wilson's limits of 1 of 1 and of 1 of 3.
    assert table.rows == (
        ("easy", "1", "1", "1", "100.0%", "20.7-100.0%"),
        ("hard", "4", "3", "1", "33.3%", "6.1-79.2%"),
    )


def test_entries_of_a_cluster_have_a_wider_interval() -> None:
    alone = [make_stratum_record("hard", Passed() if n % 2 else _WRONG, n) for n in range(12)]
    together = [replace(each, cluster=f"c{n // 6}") for n, each in enumerate(sorted(alone, key=str))]
    widths = []
    for records in (alone, together):
        interval = score_strata(records, Profile.OFFICIAL)[Stratum.HARD].interval
        assert interval
        widths.append(interval.high - interval.low)
    assert widths[0] < widths[1]


@pytest.mark.parametrize("category", ["multiple", "format_sensitivity"])
def test_what_repeats_entries_in_other_formats_does_not_count(category: str) -> None:
    records = [make_stratum_record("hard", Passed(), category=category)]
    assert bool(tabulate_strata(records, Profile.OFFICIAL)) is (category == "multiple")


def test_there_is_no_table_without_strata() -> None:
    assert not tabulate_strata([make_record()], Profile.OFFICIAL)


WRONG = Failed("value_error:string", "x")


def size_nothing(name: str) -> int:
    return 0


def make_run(suite: str = "mine", passed: str = "0123", trained: str = "012") -> list[Record]:
    """Make a run of eight entries in two categories of which some passed and some are trained."""
    records = [
        make_record(
            Passed() if str(number) in passed else WRONG,
            category="multiple" if number < 4 else "irrelevance",
            number=number,
            suite=suite,
        )
        for number in range(8)
    ]
    return mark_trained(records, [records[int(number)].entry for number in trained])


def test_the_score_without_trained_entries_stands_beside_the_other() -> None:
    found = score_untrained(make_run(), Profile.OFFICIAL, size_nothing)
    assert found
    assert (found.overall.n, found.overall.accuracy) == (5, 1 / 5)
    table = tabulate_untrained(make_run(), Profile.OFFICIAL, size_nothing)
    assert table
    assert table.title == "without entries of the training data (official profile)"
    assert table.rows == (
        ("multiple", "4", "3", "100.00%", "100.00%", "20.7-100.0%"),
        ("overall", "8", "3", "50.00%", "20.00%", "3.6-62.4%"),
    )


def test_a_category_of_which_nothing_is_left_has_no_other_score() -> None:
    table = tabulate_untrained(make_run(trained="0123"), Profile.OFFICIAL, size_nothing)
    assert table
    assert table.rows[0] == ("multiple", "4", "4", "100.00%", "-", "-")


def test_a_group_that_stands_for_the_run_counts_its_entries() -> None:
    categories = ("simple_python", "simple_java", "simple_javascript")
    run = [make_record(category=category, number=n) for category in categories for n in range(3)]
    table = tabulate_untrained(mark_trained(run, [run[0].entry]), Profile.OFFICIAL, size_nothing)
    assert table
    assert [row[:3] for row in table.rows] == [("simple_python", "3", "1"), ("simple", "9", "1")]


def test_an_entry_that_is_set_aside_hides_no_part_of_the_score() -> None:
    parts = GROUPS["live"].parts
    run = [make_record(category=category, number=n) for category in parts for n in range(2)]
    run[-1] = replace(run[-1], verdicts=Verdicts.same_in_both(NotScored(SET_ASIDE, "an example")))
    assert name_main_score(run) == aggregate_scores(run, Profile.OFFICIAL, size_nothing).main == "live"


def test_nothing_is_shown_where_no_entry_is_trained() -> None:
    assert score_untrained(make_run(trained=""), Profile.OFFICIAL, size_nothing) is None
    assert tabulate_untrained(make_run(trained=""), Profile.OFFICIAL, size_nothing) is None


def test_the_mark_stands_beside_those_of_the_user() -> None:
    (marked,) = mark_trained([replace(make_record(), marks=("slow", "wip"))], [make_record().entry])
    assert marked.marks == ("slow", "trained", "wip")
    assert mark_trained([make_record()], ["core:else"]) == [make_record()]


@pytest.mark.parametrize(
    ("run", "metric"),
    [(make_run(), "overall"), (make_run("core"), "all"), (make_run("core")[:4], "multiple")],
)
def test_the_metric_is_the_score_that_stands_for_the_run(run: list[Record], metric: str) -> None:
    rest = [record for record in run if not record.marks]
    score = score_metric("untrained", run, Profile.OFFICIAL, size_nothing)
    assert score == score_metric(metric, rest, Profile.OFFICIAL, size_nothing)
    assert score
    assert score.accuracy == 1 / (len(run) - 3)


def test_a_loss_is_measured_on_the_other_entries_only() -> None:
    before, after = make_run(passed="01234567"), make_run(passed="34567")
    paired = pair_runs(before, after, Profile.OFFICIAL)
    whole, rest = (paired.measure_difference(metric, size_nothing) for metric in ("overall", "untrained"))
    assert whole
    assert rest
    assert (whole.entries, whole.worse) == (8, 3)
    assert (rest.entries, rest.worse) == (5, 0)
