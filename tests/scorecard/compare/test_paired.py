"""Two runs compared: against scipy, by exact enumeration, and by what must hold whichever runs they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import comb

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import t as student_t

from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.aggregate.intervals import Estimate, estimate_change, sum_changes
from pytest_fcbench.scorecard.aggregate.scores import GROUPS, OVERALL, aggregate_scores, weigh_categories
from pytest_fcbench.scorecard.compare.paired import (
    CHANGING,
    MANY,
    POWER,
    Chance,
    EntryPair,
    MetricDifference,
    Paired,
    _estimate_chance,
    _flip_signs,
    find_exact_chances,
    format_p,
    measure_flips,
    pair_runs,
    plan_comparison,
)
from pytest_fcbench.scorecard.record import Record
from tests.cases import each_case
from tests.factories import make_path_record, make_record

WRONG, TIMEOUT = Failed("wrong_count", "2 calls"), NotScored("timeout", "600 s")


def _make_run(verdicts: Sequence[Verdict], category: str = "parallel") -> list[Record]:
    return [make_record(verdict, category=category, number=n) for n, verdict in enumerate(verdicts)]


def _make_verdict(passed: bool) -> Verdict:
    return Passed() if passed else WRONG


def _pair_flips(better: int, worse: int, same: int, category: str = "parallel") -> Paired:
    """Pair two runs with so many flips of each kind; half of the others passed."""
    shares = [(False, True)] * better + [(True, False)] * worse
    shares += [(n % 2 == 0, n % 2 == 0) for n in range(same)]
    before, after = zip(*shares, strict=True)
    return pair_runs(
        _make_run([_make_verdict(p) for p in before], category),
        _make_run([_make_verdict(p) for p in after], category),
        Profile.OFFICIAL,
    )


def _measure_difference(paired: Paired, metric: str = "parallel") -> MetricDifference:
    found = paired.measure_difference(metric)
    assert found is not None
    return found


def _make_parts(*parts: tuple[float, Sequence[float]]) -> list[tuple[float, list[EntryPair]]]:
    """Make pairs of independent entries put once with these changes, by the weight of their category."""
    return [
        (
            weight,
            [
                EntryPair(
                    f"{number}-{n}", str(number), max(0.0, -change), max(0.0, change), 1, f"{number}-{n}"
                )
                for n, change in enumerate(changes)
            ],
        )
        for number, (weight, changes) in enumerate(parts)
    ]


def _estimate_counts(better: int, worse: int, n: int) -> Chance:
    """Estimate the chance of so many flips of ``n`` entries that count alike."""
    changes = [1.0] * better + [-1.0] * worse + [0.0] * (n - better - worse)
    return _estimate_chance(_make_parts((1.0, changes)), (better - worse) / n)


def _draw_parts(*parts: tuple[float, Sequence[float]]) -> tuple[float, float]:
    """Draw the p values of these changes by category, each an entry."""
    made = _make_parts(*parts)
    totals = [weight * pair.change / len(pairs) for weight, pairs in made for pair in pairs]
    summed = [
        (weight, sum_changes((pair.unit, pair.change, pair.flips, 1) for pair in pairs))
        for weight, pairs in made
    ]
    return _flip_signs(totals, estimate_change(summed))[:2]


# What is compared


def test_entries_are_paired_by_name_whatever_their_order() -> None:
    before, after = _make_run([Passed(), WRONG, Passed()]), _make_run([Passed(), Passed(), WRONG])
    paired = pair_runs(before, after[::-1], Profile.OFFICIAL)
    assert [(p.entry, p.before, p.after) for p in paired.pairs] == [
        ("core:parallel_2", 1.0, 0.0),
        ("core:parallel_1", 0.0, 1.0),
        ("core:parallel_0", 1.0, 1.0),
    ]
    assert [p.reason for p in paired.pairs] == ["2 calls", "", ""]
    assert [p.entry for p in paired.pairs if p.change < 0] == ["core:parallel_2"]
    assert [p.entry for p in paired.pairs if p.change > 0] == ["core:parallel_1"]


def test_what_only_one_run_has_or_scored_is_named_and_does_not_count() -> None:
    aside = NotScored(SET_ASIDE, "bad data")
    before = _make_run([Passed(), TIMEOUT, Passed(), aside])
    after = _make_run([Passed(), Passed(), TIMEOUT, aside, Passed()])[:5]
    paired = pair_runs([*before, make_record(category="multiple")], after, Profile.OFFICIAL)
    assert [p.entry for p in paired.pairs] == ["core:parallel_0"]
    assert paired.only_before == ("core:multiple_0",)
    assert paired.only_after == ("core:parallel_4",)
    assert paired.unscored == ("core:parallel_1", "core:parallel_2", "core:parallel_3")


def test_what_the_later_run_has_not_scored_may_be_assumed() -> None:
    before, after = _make_run([Passed(), Passed()]), _make_run([TIMEOUT, NotScored(SET_ASIDE, "bad")])
    worst, best = (pair_runs(before, after, Profile.OFFICIAL, assumed) for assumed in (WRONG, Passed()))
    assert [p.after for p in worst.pairs] == [0.0]
    assert [p.after for p in best.pairs] == [1.0]
    assert worst.unscored == ("core:parallel_1",)


def test_the_profile_decides() -> None:
    before, after = [make_record(Passed(), Passed())], [make_record(WRONG, Passed())]
    changes = {profile: pair_runs(before, after, profile).pairs[0].change for profile in Profile}
    assert changes == {Profile.OFFICIAL: -1.0, Profile.CORRECTED: 0.0}
    changes = {profile: pair_runs(after, before, profile).pairs[0].change for profile in Profile}
    assert changes == {Profile.OFFICIAL: 1.0, Profile.CORRECTED: 0.0}


def test_trials_count_by_their_share() -> None:
    def make_trials(*passed: bool) -> list[Record]:
        return [make_record(_make_verdict(p), category="parallel", trial=n) for n, p in enumerate(passed, 1)]

    (one,) = pair_runs(make_trials(True, True, False), make_trials(True, False), Profile.OFFICIAL).pairs
    assert (one.before, one.after) == pytest.approx((2 / 3, 0.5))
    assert one.trials == 2
    (plain,) = pair_runs([make_record()], [make_record(trial=1)], Profile.OFFICIAL).pairs
    assert plain.trials == 1


# Chance, by formula


@each_case(("better", "worse"), [*product(range(6), range(6)), (40, 61), (300, 250), (0, 2000)])
def test_the_probabilities_are_those_of_the_binomial_test(better: int, worse: int) -> None:
    found = _estimate_counts(better, worse, better + worse + 5)
    if not better + worse:
        assert (found.p, found.p_worse) == (1.0, 1.0)
        return
    two_sided = stats.binomtest(worse, better + worse, 0.5)
    one_sided = stats.binomtest(worse, better + worse, 0.5, alternative="greater")
    assert found.p == pytest.approx(two_sided.pvalue, rel=1e-9)
    assert found.p_worse == pytest.approx(one_sided.pvalue, rel=1e-9)


def _list_flip_counts(n: int, up: float, down: float) -> Iterator[tuple[float, int, int]]:
    """Yield every number of flips in both directions, with its probability."""
    for better in range(n + 1):
        for worse in range(n + 1 - better):
            ways = comb(n, better) * comb(n - better, worse)
            yield ways * up**better * down**worse * (1 - up - down) ** (n - better - worse), better, worse


@each_case("n", [8, 25])
@each_case(("up", "down"), [(0.0, 0.0), (0.05, 0.05), (0.2, 0.1), (0.5, 0.1), (0.3, 0.3)])
def test_the_interval_holds_the_true_change_as_often_as_it_says(n: int, up: float, down: float) -> None:
    covered = sum(
        probability
        for probability, better, worse in _list_flip_counts(n, up, down)
        if (chance := _estimate_counts(better, worse, n)).low <= up - down <= chance.high
    )
    assert covered >= 0.93


def test_the_limits_of_the_interval_are_changes_that_can_be() -> None:
    """Without the bounds they would be -1.23 and 1.23."""
    assert _estimate_counts(0, 5, 5).low == -1.0
    assert _estimate_counts(5, 0, 5).high == 1.0
    assert _estimate_counts(6, 0, 6).method == "McNemar's exact test"


def test_where_nothing_changed_few_entries_still_say_little() -> None:
    few, many = _estimate_counts(0, 0, 10), _estimate_counts(0, 0, 1000)
    assert few.low < -0.1 < 0.1 < few.high
    assert -0.01 < many.low < 0 < many.high < 0.01


def test_few_entries_cannot_show_a_change() -> None:
    """Five of five have p = 2 / 32."""
    few, enough = _estimate_counts(5, 0, 5), _estimate_counts(6, 0, 6)
    assert (few.smallest_p, enough.smallest_p) == (1 / 16, 1 / 32)
    assert (few.p, enough.p) == (few.smallest_p, enough.smallest_p)
    assert (few.can_be_shown, enough.can_be_shown) == (False, True)


# Chance, by draws


@each_case(("better", "worse", "same"), [(0, 0, 20), (3, 9, 50), (0, 4, 10), (30, 60, 400)])
def test_draws_come_near_the_formula(better: int, worse: int, same: int) -> None:
    exact = _estimate_counts(better, worse, better + worse + same)
    drawn = _draw_parts((1.0, [1.0] * better + [-1.0] * worse + [0.0] * same))
    assert drawn == pytest.approx((exact.p, exact.p_worse), abs=0.015)


@each_case(
    ("changes", "p"),
    [
        ([-1 / 3, -1 / 3, -2 / 3], 1 / 4),
        ([1 / 3 - 2 / 3] * 3 + [0.0] * 3, 1 / 4),
        ([1 / 3, 1 / 3, -2 / 3], 1.0),
        ([2 / 3, 1 / 3, 1 / 3, 1 / 3], 1 / 8),
    ],
)
def test_thirds_that_come_out_the_same_are_the_same(changes: list[float], p: float) -> None:
    """All signs by lot, counted by hand; the shares of three trials cannot be written as they are."""
    assert _draw_parts((0.1, changes))[0] == pytest.approx(p, abs=0.015)


def test_the_changes_of_all_categories_add_up() -> None:
    """Three flips of a quarter each in the same direction: by lot that happens twice in eight."""
    better, worse = (_draw_parts((0.5, [sign, sign]), (0.5, [sign, 0.0])) for sign in (1.0, -1.0))
    assert better == pytest.approx((2 / 8, 1.0), abs=0.015)
    assert worse == pytest.approx((2 / 8, 1 / 8), abs=0.015)


def test_a_change_that_no_draw_reaches_has_the_tail_of_t_for_its_chance() -> None:
    """Ninety-nine losses and a small gain, twenty standard errors from 0."""
    p, p_worse, how = _flip_signs([-0.01] * 99 + [0.001], Estimate(-1.0, (0.989 / 20) ** 2, 9.0))
    assert how == "20,000 draws"
    assert p == pytest.approx(2 * float(student_t.sf(20, 9)))
    assert p_worse == 1 / 20_001


def test_changes_in_one_direction_have_the_p_of_the_sign_test() -> None:
    for number in range(1, 40):
        losses, gains = (_draw_parts((1.0, [sign * n for n in range(1, number + 1)])) for sign in (-1.0, 1.0))
        assert losses == (2 * 0.5**number, 0.5**number)
        assert gains == (2 * 0.5**number, 1.0)


def test_a_small_p_is_said_to_be_below_a_thousandth() -> None:
    assert [format_p(p) for p in (0.5, 0.0314, 0.001, 0.00099, 0.0)] == [
        *("= 0.500", "= 0.031", "= 0.001"),
        *["< 0.001"] * 2,
    ]


def test_draws_are_the_same_every_time() -> None:
    parts = (1.0, [1.0, -1.0, -1.0, 0.0])
    assert _draw_parts(parts) == _draw_parts(parts)


# Clusters


def _pair_clusters(*changes: tuple[int, int], size: int = 10) -> Paired:
    """Pair clusters of so many entries, of which some became better and then some worse."""
    runs: tuple[list[Record], list[Record]] = ([], [])
    for cluster, (better, worse) in enumerate(changes):
        for n in range(size):
            for run, passed in zip(runs, (n >= better, n < better or n >= better + worse), strict=True):
                record = make_path_record(
                    _make_verdict(passed), number=cluster * size + n, cluster=str(cluster)
                )
                run.append(record)
    return pair_runs(*runs, Profile.OFFICIAL)


def test_a_cluster_gets_one_sign() -> None:
    """Thirty entries became better, but only three templates: by chance that happens once in four."""
    found = _measure_difference(_pair_clusters((10, 0), (10, 0), (10, 0), (0, 0)), "hotels")
    assert (found.better, found.worse, found.change) == (30, 0, 0.75)
    assert found.chance.p == pytest.approx(2 / 2**3, abs=0.015)
    assert found.chance.p_worse == pytest.approx(1, abs=0.015)
    assert found.chance.method == "sign-flip test (exact)"
    assert (found.chance.clusters, found.chance.can_be_shown) == (4, False)


def test_the_probability_is_that_of_all_signs_of_clusters() -> None:
    found = _measure_difference(_pair_clusters((5, 1), (0, 2), (1, 0)), "hotels")
    totals = [sum(a * b for a, b in zip(sign, (4, 2, 1), strict=True)) for sign in product((1, -1), repeat=3)]
    assert found.chance.p == pytest.approx(sum(abs(total) >= 3 for total in totals) / 8, abs=0.015)
    assert found.chance.p_worse == pytest.approx(sum(total <= 3 for total in totals) / 8, abs=0.015)


def test_a_change_is_no_larger_than_the_weight_of_what_was_run() -> None:
    pairs = _pair_clusters((10, 0), (9, 0), (1, 0)).pairs
    whole, part = (_estimate_chance([(weight, pairs)], weight * 2 / 3) for weight in (1.0, 0.1))
    assert (whole.high, part.high) == (1.0, 0.1)
    assert part.low == pytest.approx(whole.low / 10)


def test_clusters_of_one_entry_change_nothing() -> None:
    single = _measure_difference(_pair_clusters((1, 0), (0, 1), (1, 0), (0, 0), size=1), "hotels")
    assert single.chance == _estimate_counts(2, 1, 4)


def test_a_baseline_needs_no_clusters() -> None:
    """It does not keep them; those of the run count."""
    within = [make_path_record(WRONG, number=n, cluster="0") for n in range(4)]
    without = [make_path_record(number=n) for n in range(4)]
    for before, after in ((without, within), (within, without)):
        assert {one.unit for one in pair_runs(before, after, Profile.OFFICIAL).pairs} == {"core:0"}


# Metrics


def test_a_category_put_once_is_tested_exactly() -> None:
    found = _measure_difference(_pair_flips(2, 6, 12))
    assert (found.entries, found.better, found.worse) == (20, 2, 6)
    assert found.change == pytest.approx(-0.2)
    assert found.before - found.after == pytest.approx(0.2)
    assert found.chance == _estimate_counts(2, 6, 20)


def test_a_group_takes_its_weights() -> None:
    """Two parts of three: the second, ten times as large, counts no more than the first."""
    before = _make_run([Passed()] * 4, "simple_python") + _make_run([Passed()] * 40, "simple_java")
    after = _make_run([WRONG, WRONG, Passed(), Passed()], "simple_python") + _make_run(
        [Passed()] * 40, "simple_java"
    )
    found = _measure_difference(pair_runs(before, after, Profile.OFFICIAL), "simple")
    assert found.change == pytest.approx(-0.5 / 3)
    assert found.metric == "simple"
    assert (found.chance.method, found.chance.clusters) == ("sign-flip test (exact)", None)


def test_a_category_that_no_run_has_counts_by_its_size() -> None:
    """Four entries of sixteen: those of the other category count as not passed."""
    run = _make_run([Passed()] * 4, "live_simple")
    found = pair_runs(run, run, Profile.OFFICIAL).measure_difference(
        "live", lambda name: 12 if name == "live_multiple" else 0
    )
    assert found is not None
    assert (found.before, found.after) == (0.25, 0.25)


def test_a_mark_counts_every_entry_alike() -> None:
    before = _make_run([Passed()] * 4, "simple_python") + _make_run([Passed()] * 12, "live_simple")
    after = _make_run([WRONG] * 4, "simple_python") + _make_run([Passed()] * 12, "live_simple")
    paired = pair_runs(before, after, Profile.OFFICIAL)
    for mark in ("core", "single_turn", "python"):
        assert _measure_difference(paired, mark).change == pytest.approx(-0.25)
        assert _measure_difference(paired, mark).chance == _estimate_counts(0, 4, 16)
    assert _measure_difference(paired, "live").change == 0
    assert paired.measure_difference("bfcl") is None
    assert paired.measure_difference("multi_turn") is None


def test_overall_of_one_category_is_no_share() -> None:
    """Its weight is 10 % of a quarter, whatever the other categories are."""
    assert _measure_difference(_pair_flips(0, 6, 6), "overall").change == pytest.approx(-0.5 * 0.1 / 4)


_CATEGORIES = ("simple_python", "simple_java", "parallel", "live_simple", "live_multiple", "irrelevance")
_RUNS = st.lists(
    st.tuples(st.sampled_from(_CATEGORIES), st.booleans(), st.booleans()), min_size=1, max_size=25
)


def _make_runs(flips: list[tuple[str, bool, bool]]) -> tuple[list[Record], list[Record]]:
    def make_side(which: int) -> list[Record]:
        return [
            make_record(_make_verdict(bool(flip[which])), category=flip[0], number=n)
            for n, flip in enumerate(flips)
        ]

    return make_side(1), make_side(2)


@settings(deadline=None)
@given(_RUNS, st.sampled_from(["overall", "non_live", "live", "core", "parallel"]))
def test_scores_on_the_same_entries_are_those_of_the_runs(
    flips: list[tuple[str, bool, bool]], metric: str
) -> None:
    before, after = _make_runs(flips)
    found = pair_runs(before, after, Profile.OFFICIAL).measure_difference(metric, lambda name: 3)
    scores = [
        aggregate_scores(run, Profile.OFFICIAL, lambda name: 3, partial=True).find_score(metric)
        for run in (before, after)
    ]
    if metric == "core" or found is None:
        return
    assert [found.before, found.after] == pytest.approx([score.accuracy for score in scores if score])


@settings(deadline=None, max_examples=30)
@given(_RUNS, st.sampled_from(["overall", "non_live", "core"]))
def test_turned_around_a_change_is_its_opposite(flips: list[tuple[str, bool, bool]], metric: str) -> None:
    before, after = _make_runs(flips)
    one = pair_runs(before, after, Profile.OFFICIAL).measure_difference(metric)
    other = pair_runs(after, before, Profile.OFFICIAL).measure_difference(metric)
    assert (one is None) == (other is None)
    if one and other:
        assert one.change == pytest.approx(-other.change)
        assert (one.better, one.worse) == (other.worse, other.better)
        assert one.chance.p == pytest.approx(other.chance.p, abs=0.02)
        assert one.chance.low <= one.change + 1e-9
        assert one.change - 1e-9 <= one.chance.high


# Weights


def test_weights_of_the_formulas() -> None:
    assert weigh_categories("parallel", lambda name: 0) == {"parallel": 1.0}
    assert weigh_categories("simple", lambda name: 0) == pytest.approx(
        {"simple_python": 1 / 3, "simple_java": 1 / 3, "simple_javascript": 1 / 3}
    )
    assert weigh_categories("live", lambda name: 3 if name == "live_simple" else 1)["live_simple"] == 0.5
    assert weigh_categories("overall", lambda name: 1)["multi_turn_base"] == pytest.approx(0.3 / 4)


def test_what_has_no_category_yet_has_no_weight() -> None:
    known = sum(share for name, share in OVERALL.items() if name in GROUPS)
    assert sum(weigh_categories("overall", lambda name: 1).values()) == pytest.approx(known)


def test_in_suites_of_a_team_every_entry_counts_alike_in_overall() -> None:
    kinds = ("parallel", "parallel", "chatable")

    def make_team_run(*passed: bool) -> list[Record]:
        return [
            make_record(_make_verdict(well), category=category, number=number, suite="mine")
            for number, (category, well) in enumerate(zip(kinds, passed, strict=True))
        ]

    found = _measure_difference(
        pair_runs(make_team_run(True, False, False), make_team_run(True, True, False), Profile.OFFICIAL),
        "overall",
    )
    assert found.entries == 3
    assert (found.before, found.after) == pytest.approx((1 / 3, 2 / 3))


def _make_pairs(changes: Sequence[float], clusters: int = 0) -> list[EntryPair]:
    """Make a pair of each change, spread over so many clusters, or each by itself."""
    return [
        EntryPair(
            f"core:parallel_{n}", "parallel", 1.0, 1.0 + change, 1, str(n % clusters if clusters else n)
        )
        for n, change in enumerate(changes)
    ]


def find_smallest_loss(
    parts: Sequence[tuple[float, Sequence[EntryPair]]], confidence: float, tests: int = 1
) -> float | None:
    """Find the loss that is shown where the usual share of entries changes by chance."""
    plan = plan_comparison(parts, confidence, tests)
    return plan.find_smallest_loss(CHANGING) if plan else None


def _count_shown(loss: float, changing: float, entries: int = 300, runs: int = 400) -> float:
    """Count the share of simulated runs that show a loss; half of the chance changes go either way."""
    chance = numpy.random.default_rng(7)
    rates = [changing / 2 + loss, changing / 2, 1 - changing - loss]
    drawn = chance.multinomial(entries, rates, runs).tolist()
    return sum(find_exact_chances(up, down)[1] < 0.05 for down, up, _ in drawn) / runs


def test_a_loss_of_that_size_is_shown_about_as_often_as_stated() -> None:
    loss = find_smallest_loss([(1.0, _make_pairs([0.0] * 300))], 0.95)
    assert loss is not None
    assert POWER - 0.1 < _count_shown(loss, CHANGING) < POWER + 0.1
    assert _count_shown(loss / 2, CHANGING) < 0.5


def test_the_power_where_more_entries_change_by_chance() -> None:
    plan = plan_comparison([(1.0, _make_pairs([0.0] * 300))], 0.95)
    assert plan is not None
    loss = plan.find_smallest_loss(CHANGING)
    assert loss is not None
    assert plan.find_power(loss, CHANGING) == pytest.approx(POWER)
    assert plan.find_power(loss, MANY) == pytest.approx(_count_shown(loss, MANY), abs=0.1)
    assert plan.find_power(loss, MANY) < POWER - 0.1


def test_the_share_that_changes_by_chance_is_that_between_two_trials() -> None:
    """One of three passed: two of three pairs of trials differ; the other entry never changes."""
    pairs = [
        EntryPair(f"core:parallel_{n}", "parallel", share, share, 3, str(n))
        for n, share in enumerate((1 / 3, 1.0))
    ]
    assert measure_flips([(0.5, pairs)]) == pytest.approx(1 / 3)
    assert measure_flips([(0.5, pairs), (0.5, _make_pairs([0.0]))]) is None


def test_chance_evens_out_over_trials() -> None:
    once, often = (
        plan_comparison(
            [(1.0, [EntryPair(str(n), "parallel", 1.0, 1.0, k, str(n)) for n in range(100)])], 0.95
        )
        for k in (1, 5)
    )
    assert once is not None
    assert often is not None
    few, many = often.find_smallest_loss(CHANGING), once.find_smallest_loss(CHANGING)
    assert few is not None
    assert many is not None
    assert few < many


def test_four_entries_show_no_loss() -> None:
    """All of four lost have a p value of 1 / 16."""
    assert find_smallest_loss([(1.0, _make_pairs([0.0] * 4))], 0.95) is None
    assert find_smallest_loss([(1.0, _make_pairs([0.0] * 40))], 0.95) is not None


@pytest.mark.parametrize("clusters", [10, 50])
def test_entries_in_clusters_show_only_a_larger_loss(clusters: int) -> None:
    alone = find_smallest_loss([(1.0, _make_pairs([0.0] * 200))], 0.95)
    together = find_smallest_loss([(1.0, _make_pairs([0.0] * 200, clusters))], 0.95)
    assert alone is not None
    assert together is not None
    assert alone < together


def test_several_tests_at_once_show_only_a_larger_loss() -> None:
    parts = [(1.0, _make_pairs([0.0] * 200))]
    one, four = find_smallest_loss(parts, 0.95), find_smallest_loss(parts, 0.95, tests=4)
    assert one is not None
    assert four is not None
    assert one < four


def test_a_small_category_with_a_large_weight_counts_more() -> None:
    even = [(0.5, _make_pairs([0.0] * 100)), (0.5, _make_pairs([0.0] * 100, 0))]
    skewed = [(0.5, _make_pairs([0.0] * 190)), (0.5, _make_pairs([0.0] * 10))]
    first, second = find_smallest_loss(even, 0.95), find_smallest_loss(skewed, 0.95)
    assert first is not None
    assert second is not None
    assert first < second


def test_a_part_of_the_formula_is_measured_in_points_of_the_whole() -> None:
    whole, part = (find_smallest_loss([(weight, _make_pairs([0.0] * 50))], 0.95) for weight in (1.0, 0.1))
    assert whole is not None
    assert part == pytest.approx(whole / 10)
