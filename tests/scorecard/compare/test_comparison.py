"""Two scorecards side by side: what is shown, what is warned of, and what is never claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.transcript import CallCounts, PathSettings
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.present.comparison_tables import (
    list_tables_for_programs,
    tabulate_all_flips,
    tabulate_beside_scores,
    tabulate_comparison,
    tabulate_runs,
    tabulate_scores,
    tabulate_usage,
    write_conclusion,
    write_warnings,
)
from pytest_fcbench.present.table_formats import FORMATS
from pytest_fcbench.present.tables import Table
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores, weigh_categories
from pytest_fcbench.scorecard.compare.comparison import (
    NO_ENTRY,
    ChangeKind,
    Comparison,
    classify_change,
    compare_scorecards,
    decide_direction,
    list_changed_scores,
    list_changes,
)
from pytest_fcbench.scorecard.compare.paired import Chance, MetricDifference, correct_by_holm
from pytest_fcbench.scorecard.record import Usage
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.cases import each_case
from tests.factories import make_card, make_path_record, make_path_score, make_record
from tests.scorecard.aggregate.test_secondary_scores import WRONG, make_chat_records, make_executed_records

TIMEOUT, ASIDE = NotScored("timeout", "600 s"), NotScored(SET_ASIDE, "bad data")


def _compare_flips(better: int, worse: int, same: int, category: str = "parallel") -> Comparison:
    """Compare models a and b, with so many flips of each kind."""
    before = [False] * better + [True] * worse + [True] * same
    after = [True] * better + [False] * worse + [True] * same
    return _compare_cards(make_card({category: before}, "a"), make_card({category: after}, "b"))


def _compare_cards(before: Scorecard, after: Scorecard, metrics: Sequence[str] = ()) -> Comparison:
    return compare_scorecards(before, after, Profile.OFFICIAL, metrics)


def _read_column(table: Table, name: str) -> dict[str, str]:
    index = table.columns.index(name)
    return {row[0]: row[index] for row in table.rows}


# What is shown


def test_holm_as_by_hand() -> None:
    """Of four: 4 x .01, 3 x .02 (.06), 2 x .03 (.06, no less than the one before), 1 x .04 (.06)."""
    assert correct_by_holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert correct_by_holm([0.5, 0.6]) == [1.0, 1.0]
    assert correct_by_holm([0.03]) == [0.03]
    assert correct_by_holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_a_corrected_p_is_no_smaller_and_no_larger_than_bonferronis(probabilities: list[float]) -> None:
    corrected = correct_by_holm(probabilities)
    for p, own in zip(probabilities, corrected, strict=True):
        assert p <= own <= min(1.0, p * len(probabilities)) + 1e-12
    assert [i for _, i in sorted(zip(probabilities, range(99), strict=False))] == [
        i for _, _, i in sorted(zip(corrected, probabilities, range(99), strict=False))
    ]


@each_case(
    ("low", "high", "p", "says"),
    [
        (0.01, 0.2, 0.05, 1),
        (-0.2, -0.01, 0.05, -1),
        (0.01, 0.2, 0.051, 0),
        (0.0, 0.2, 0.01, 0),
        (-0.2, 0.0, 0.01, 0),
        (-0.1, 0.2, 0.01, 0),
    ],
)
def test_a_difference_is_shown_by_p_and_interval(low: float, high: float, p: float, says: int) -> None:
    found = MetricDifference("overall", 9, 0.5, 0.6, 3, 2, Chance(low, high, p, p, "by hand"))
    assert decide_direction(found, p) == says


def test_rows_are_categories_whole_groups_and_all_entries_where_there_is_no_overall() -> None:
    simple = ["simple_python", "simple_java", "simple_javascript"]
    verdicts = {**{name: [True, False] for name in (*simple, "parallel")}, "live_relevance": [False]}
    cards = make_card(verdicts, "a"), make_card(verdicts, "b")
    table = tabulate_scores(_compare_cards(*cards))
    assert list(_read_column(table, "p")) == [*simple, "parallel", "live_relevance", "simple", "all"]
    assert table.notes[0] == "no overall score: 5% of its weight was compared"
    asked = tabulate_scores(_compare_cards(*cards, metrics=["non_live", "overall", "simple"]))
    assert list(_read_column(asked, "p")) == ["non_live*", "overall*", "simple"]
    assert asked.notes[0] == (
        "* asked for, although parts of the formula were not compared and count as 0: multiple, "
        "parallel_multiple, live, irrelevance_all, multi_turn, agentic"
    )


def test_a_row_says_all_of_a_change() -> None:
    table = tabulate_scores(_compare_flips(25, 8, 167))
    assert table.rows[0] == (
        "parallel",
        "200",
        "87.5%",
        "96.0%",
        "+8.5",
        "+2.8",
        "+14.0",
        "25",
        "8",
        "0.005",
        "better",
    )


def test_categories_are_corrected_for_each_other_and_overall_is_not() -> None:
    """7 flips of 7 have p .016: shown alone, not among four categories."""
    before = dict.fromkeys(("parallel", "multiple", "simple_python", "irrelevance"), [True] * 40)
    after = {**before, "parallel": [False] * 7 + [True] * 33}
    cards = make_card(before, "a"), make_card(after, "b")
    every, alone = (
        tabulate_scores(_compare_cards(*cards)),
        tabulate_scores(_compare_cards(*cards, metrics=["parallel"])),
    )
    assert _read_column(every, "p")["parallel"] == "0.062"
    assert _read_column(every, "shown")["parallel"] == ""
    assert _read_column(every, "shown")["all"] == "worse"
    assert _read_column(alone, "p") == {"parallel": "0.016"}
    assert _read_column(alone, "shown") == {"parallel": "worse"}


def test_methods_are_told_with_the_clusters_of_each_score() -> None:
    assert tabulate_scores(_compare_flips(25, 8, 167)).notes[-1] == "p-values by McNemar's exact test"
    verdicts = {"parallel": [True] * 8, "multiple": [True] * 8}
    before, after = make_card(verdicts, "a"), make_card(verdicts, "b")
    records = [
        replace(record, cluster=str(place % 4)) if record.category == "parallel" else record
        for place, record in enumerate(after.records)
    ]
    table = tabulate_scores(_compare_cards(before, replace(after, records=tuple(records))))
    assert table.notes[-2:] == (
        "p-values by McNemar's exact test: multiple; sign-flip test (exact): parallel (4 clusters), all (12 "
        "clusters)",
        "too few entries or clusters to show a change: parallel (p = 0.125 at best)",
    )


def test_a_suite_that_only_one_run_has_changes_no_weights() -> None:
    """In runs of a team's own suites every entry counts alike."""
    own = [make_record(WRONG, category="parallel", suite="mine", number=n) for n in range(9)]
    better = [make_record(category="parallel", suite="mine", number=n) for n in range(9)]
    before, after = (
        replace(make_card({}, name), records=(*records,))
        for name, records in (("a", own), ("b", [*better, make_record(category="parallel")]))
    )
    tested = {one.difference.metric: one.difference.change for one in _compare_cards(before, after).tested}
    assert tested == {"parallel": 1, "mine": 1, "overall": 1}


def test_metrics_may_be_marks() -> None:
    verdicts = {"simple_python": [True], "live_simple": [True]}
    found = _compare_cards(make_card(verdicts, "a"), make_card(verdicts, "b"), ["core", "python"])
    assert [one.difference.metric for one in found.tested] == ["core", "python"]


# The conclusion


@each_case(
    ("better", "worse", "same", "says"),
    [
        (
            *(25, 8, 167),
            "b is better than a: +8.5 points in parallel (95% CI +2.8 to +14.0); "
            "of 200 entries 25 became better and 8 worse",
        ),
        (0, 30, 70, "b is worse than a: -30.0 points in parallel"),
        (9, 8, 100, "no difference shown between a and b: +0.9 points in parallel"),
        (0, 0, 206, "no difference shown: none of 206 entries changed from a to b"),
        pytest.param(4, 0, 0, "no difference shown between a and b: +100.0 points", id="few entries"),
        pytest.param(5, 0, 200, "no difference shown between a and b", id="few flips"),
    ],
)
def test_the_conclusion_claims_what_is_shown(better: int, worse: int, same: int, says: str) -> None:
    assert write_conclusion(_compare_flips(better, worse, same)).startswith(says)


def test_the_conclusion_says_where_no_flips_could_show_a_difference() -> None:
    few = "; too few entries or clusters to show any difference (p = 0.125 at best)"
    told = f"{few}; of 4 entries 0 became better and 4 worse"
    assert write_conclusion(_compare_flips(0, 4, 0)).endswith(told)
    assert "too few" not in write_conclusion(_compare_flips(2, 2, 60))


@each_case(
    ("whole", "metrics", "says"),
    [
        (True, [], " -0.6 points overall (95% "),
        (True, ["parallel", "overall"], " -0.6 points overall (95% "),
        (True, ["parallel", "multiple"], " -25.0 points in parallel (95% "),
        (False, [], " -12.5 points of all entries compared (95% "),
        (False, ["parallel", "overall"], " -25.0 points in parallel (95% "),
        (
            *(False, ["overall", "parallel"]),
            " -0.6 points overall, of which 5% by weight was compared (95% ",
        ),
        (False, ["non_live"], " -6.2 points in non_live without simple, parallel_multiple (95% "),
    ],
)
def test_the_conclusion_is_about_what_stands_for_the_runs_or_the_first_metric(
    whole: bool, metrics: Sequence[str], says: str
) -> None:
    names = weigh_categories("overall", lambda name: 1.0) if whole else ("parallel", "multiple")
    before = dict.fromkeys(names, [True] * 4)
    after = {**before, "parallel": [False, True, True, True]}
    found = _compare_cards(make_card(before, "a"), make_card(after, "b"), metrics)
    assert says in write_conclusion(found)


def test_the_same_model_is_told_apart() -> None:
    before, after = make_card({"parallel": [True]}, "a"), make_card({"parallel": [False]}, "a", mode="prompt")
    assert "between a (fc) and a (prompt)" in write_conclusion(_compare_cards(before, after))


# What differs beside the model


def test_equal_runs_are_compared_without_warnings() -> None:
    assert list(write_warnings(_compare_flips(1, 1, 3))) == []


def test_every_difference_beside_the_model_is_told() -> None:
    before = make_card({"parallel": [True, True]}, "a")
    after = make_card(
        {"parallel": [True, True]},
        "b",
        mode="prompt",
        names="dotted",
        syntax="python",
        fcbench="9.9",
        suites={
            "core": {"version": "2", "pack_hash": "ab" * 32},
            "bfcl": {"version": "4", "pack_hash": None},
        },
    )
    trial = tuple(replace(record, trial=2) for record in after.records)
    after = replace(after, records=after.records + trial)
    assert list(write_warnings(_compare_cards(before, after))) == [
        "suite core version 1 before, core version 2 (sha256 abababababab) after; "
        "entries with the same id may differ",
        "suite bfcl: only after",
        "mode: fc before, prompt after",
        "names: underscored before, dotted after",
        "syntax: tool_calls before, python after",
        "trials: 1 before, 2 after",
        "fcbench version: 0.1.0 before, 9.9 after",
    ]


def test_what_is_left_out_is_told_with_its_reason() -> None:
    before = make_card({"parallel": [True, TIMEOUT, ASIDE, True], "multiple": [True] * 7}, "a")
    after = make_card({"parallel": [True, True, ASIDE, TIMEOUT, True]}, "b")
    assert list(write_warnings(_compare_cards(before, after))) == [
        "left out, only before: core:multiple_0, core:multiple_1, core:multiple_2, core:multiple_3, "
        "core:multiple_4 and 2 more",
        "left out, only after: core:parallel_4",
        "left out, set aside: core:parallel_2",
        "left out, not scored in one of the two runs: core:parallel_1, core:parallel_3",
    ]
    assert (
        _read_column(tabulate_runs(_compare_cards(before, after)), "before")["not scored"]
        == "1, and 1 set aside"
    )


def test_the_date_is_that_of_the_run() -> None:
    found = _compare_flips(0, 0, 1)
    dated = replace(found, before=replace(found.before, created_s=1_780_000_000.5))
    odd = replace(found, before=replace(found.before, created_s=1e30))
    assert _read_column(tabulate_runs(found), "before")["ended"] == "-"
    assert _read_column(tabulate_runs(dated), "before")["ended"] == "2026-05-28 20:26 UTC"
    assert _read_column(tabulate_runs(odd), "before")["ended"] == "1e+30 s"


# Cost and latency


def test_cost_and_latency_stand_side_by_side() -> None:
    before = make_card({"parallel": [True, True]}, "a", steps=[Usage(1.0, 100, 10, 0.001)])
    after = make_card(
        {"parallel": [True, TIMEOUT]}, "b", steps=[Usage(2.0, 50, 10, None), Usage(1.0, 50, 10, 0.002)]
    )
    table = tabulate_usage(_compare_cards(before, after))
    assert {row[0]: row[1:] for row in table.rows} == {
        "calls": ("1", "2", "+100%"),
        "tokens in": ("100", "100", "+0%"),
        "tokens out": ("10", "20", "+100%"),
        "dollars": ("0.0010", "0.0020", "+100%"),
        "dollars per 1,000 calls": ("1.00", "2.00", "+100%"),
        "seconds per call, mean": ("1.00", "1.50", "+50%"),
        "seconds per call, p50": ("1.00", "1.50", "+50%"),
        "seconds per call, p95": ("1.00", "1.95", "+95%"),
    }
    assert table.notes == ("dollars after cover 1 of 2 calls",)


def test_what_only_one_run_knows_has_no_change() -> None:
    known = make_card({"parallel": [True]}, "a", steps=[Usage(latency_s=1.0)])
    table = tabulate_usage(_compare_cards(known, make_card({"parallel": [True]}, "b")))
    assert table.rows[0] == ("calls", "1", "-", "-")
    assert [row[0] for row in table.rows if row[0].startswith(("tokens", "dollars"))] == []


# Flips


def _make_complex_card(name: str, *rights: int, **facts: object) -> Scorecard:
    """Make hotels entries with so many right calls of 4."""
    records = [
        make_path_record(
            Passed() if right == 4 else Failed("value_error", "r"),
            number=n,
            path=make_path_score(calls=4, right=right),
            cluster=str(n // 2),
        )
        for n, right in enumerate(rights)
    ]
    return replace(make_card({}, name, (), **facts), records=tuple(records))


def test_calls_along_golden_paths_stand_side_by_side() -> None:
    """On the entries that both have."""
    found = _compare_cards(_make_complex_card("a", 4, 2, 0, 0, 1), _make_complex_card("b", 4, 4, 4, 3))
    (table,) = tabulate_beside_scores(found)
    assert [(*row[:2], *row[4:6]) for row in table.rows] == [
        ("hotels", "before", "6 of 16", "37.50%"),
        ("hotels", "after", "15 of 16", "93.75%"),
        ("all", "before", "6 of 16", "37.50%"),
        ("all", "after", "15 of 16", "93.75%"),
    ]
    assert table in tabulate_comparison(found, 5)
    assert " points in hotels (95% " in write_conclusion(found)


def test_a_baseline_knows_no_calls() -> None:
    after = _make_complex_card("b", 4, 4)
    kept = [replace(r, paths={}, cluster=None) for r in after.records]
    before = replace(after, records=tuple(kept))
    assert list(tabulate_beside_scores(_compare_cards(before, after))) == []


def _compare_chats_and_written_calls() -> Comparison:
    before, after = (
        replace(
            make_card({}, name, rated_by=judge),
            records=(*make_executed_records(*verdicts), *make_chat_records(*scores)),
        )
        for name, judge, verdicts, scores in (
            ("a", "wise", [(Passed(), Passed()), (WRONG, WRONG)], (1, 0)),
            ("b", "harsh", [(Passed(), Passed()), (WRONG, Passed())], (2, 2)),
        )
    )
    return _compare_cards(before, after)


def test_calls_as_written_stand_side_by_side() -> None:
    table, _ = tabulate_beside_scores(_compare_chats_and_written_calls())
    assert [row[:6] for row in table.rows[:2]] == [
        ("exec_simple", "before", "2", "1", "0", "0"),
        ("exec_simple", "after", "2", "1", "0", "1"),
    ]


def test_a_category_has_a_line_where_calls_of_one_run_are_invalid() -> None:
    calls, card = CallCounts(2, 2, 2, 2, 2, 2), make_card({"multiple": [True], "parallel": [True]})
    multiple, parallel = (replace(record, calls=calls) for record in card.records)
    worse = replace(parallel, calls=replace(calls, valid=1))
    before, after = (replace(card, records=(multiple, each)) for each in (parallel, worse))
    (table,) = tabulate_beside_scores(_compare_cards(before, after))
    assert [(name, when, valid) for name, when, *_, valid in table.rows] == [
        ("parallel", "before", "100.0%"),
        ("parallel", "after", "50.0%"),
        ("all", "before", "100.0%"),
        ("all", "after", "75.0%"),
    ]


def test_ratings_stand_side_by_side() -> None:
    _, table = tabulate_beside_scores(_compare_chats_and_written_calls())
    assert [row[:5] for row in table.rows] == [
        ("chatable", "before", "2", "0", "0.50"),
        ("chatable", "after", "2", "0", "2.00"),
    ]


def test_ratings_by_two_judges_are_warned_of() -> None:
    warnings = write_warnings(_compare_chats_and_written_calls())
    assert "judge of ratings: wise before, harsh after" in warnings


def test_runs_without_calls_as_written_and_ratings_have_no_rows_of_them() -> None:
    assert list(tabulate_beside_scores(_compare_flips(1, 0, 1))) == []


def test_other_rules_of_conversations_are_warned_of() -> None:
    before, after = (_make_complex_card(name, 4, driven=PathSettings(name)) for name in Profile)
    means = "judge builtin, similarity structured, recorded replies"
    told = (
        f"complex conversations: by the official rules, {means} before, by the corrected rules, {means} after"
    )
    assert told in write_warnings(_compare_cards(before, after))


def test_flips_say_what_became_of_an_entry_and_why() -> None:
    wrong = Failed("value_error:string", "city is 'Oslo', accepted: ['Bergen']")
    before = make_card({"parallel": [wrong, True, True]}, "a")
    after = make_card({"parallel": [True, Failed("bare", ""), True]}, "b")
    worse, better = tabulate_all_flips(_compare_cards(before, after), 20)
    why = "value_error:string: city is 'Oslo', accepted: ['Bergen']"
    assert better.rows == (("core:parallel_0", "parallel", "failed", "passed", why),)
    assert worse.rows == (("core:parallel_1", "parallel", "passed", "failed", "bare"),)
    assert (better.title, worse.title) == ("Better (1)", "Worse (1)")


def test_flips_beyond_the_limit_are_counted() -> None:
    found = _compare_flips(5, 2, 1)
    worse, better = tabulate_all_flips(found, 3)
    assert (len(better.rows), better.notes) == (3, ("and 2 more; --flips=N shows N",))
    assert (len(worse.rows), worse.notes) == (2, ())
    _, flips = list_tables_for_programs(found, None)
    assert len(flips.rows) == 7


def test_a_direction_without_flips_has_no_table() -> None:
    assert [table.title for table in tabulate_comparison(_compare_flips(1, 0, 3), 20)][2:] == ["Better (1)"]


def test_trials_are_counted() -> None:
    def make_trials(name: str, *passed: bool) -> Scorecard:
        verdicts = [Passed() if one else Failed("wrong_count", "2 calls") for one in passed]
        records = [make_record(v, category="parallel", trial=n) for n, v in enumerate(verdicts, 1)]
        return replace(make_card({}, name), records=tuple(records))

    found = _compare_cards(make_trials("a", True, True, False), make_trials("b", True, False, False))
    assert tabulate_all_flips(found, 20)[0].rows == (
        ("core:parallel_0", "parallel", "2 of 3", "1 of 3", "wrong_count: 2 calls"),
    )


# Errors


def test_runs_without_a_common_entry_are_refused() -> None:
    before, after = make_card({"parallel": [True]}, "a"), make_card({"multiple": [True, True]}, "b")
    with pytest.raises(UsageError) as caught:
        _compare_cards(before, after)
    assert str(caught.value) == (
        "a.json and b.json have no scored entry in common: of 1 and 2 entries none have the "
        "same id (core version 1 and core version 1); compare runs of the same entries"
    )


def test_runs_that_scored_nothing_in_common_are_refused() -> None:
    with pytest.raises(UsageError, match="of 1 and 1 entries 1 have the same id"):
        _compare_cards(make_card({"parallel": [True]}, "a"), make_card({"parallel": [TIMEOUT]}, "b"))


def test_a_metric_that_is_not_there_is_refused() -> None:
    card = make_card({"parallel": [True]}, "a")
    with pytest.raises(UsageError, match=r"unknown metric 'paralel'\. Did you mean 'parallel'"):
        _compare_cards(card, card, ["paralel"])
    with pytest.raises(
        UsageError, match="metric 'live': none of its entries was scored in both; name another metric"
    ):
        _compare_cards(card, card, ["parallel", "live"])


# Laws

_RUNS = st.lists(
    st.tuples(st.sampled_from(("parallel", "simple_python", "live_simple")), st.booleans(), st.booleans()),
    min_size=1,
    max_size=30,
)


def _make_cards(flips: list[tuple[str, bool, bool]]) -> tuple[Scorecard, Scorecard]:
    before: dict[str, list[bool]] = {}
    after: dict[str, list[bool]] = {}
    for category, one, other in flips:
        before.setdefault(category, []).append(one)
        after.setdefault(category, []).append(other)
    return make_card(before, "a"), make_card(after, "b")


@settings(deadline=None, max_examples=30)
@given(_RUNS)
def test_turned_around_everything_is_its_opposite(runs: list[tuple[str, bool, bool]]) -> None:
    before, after = _make_cards(runs)
    one, other = _compare_cards(before, after), _compare_cards(after, before)
    for there, back in zip(one.tested, other.tested, strict=True):
        assert there.difference.metric == back.difference.metric
        assert there.difference.change == pytest.approx(-back.difference.change)
        assert (there.difference.better, there.difference.worse) == (
            back.difference.worse,
            back.difference.better,
        )
        if there.difference.chance.method == "McNemar, exact":
            assert there.shown == -back.shown
    assert [len(table.rows) for table in tabulate_all_flips(one, None)] == [
        len(table.rows) for table in tabulate_all_flips(other, None)[::-1]
    ]


@settings(deadline=None, max_examples=30)
@given(_RUNS, st.sampled_from(sorted(FORMATS)))
def test_what_is_claimed_has_the_numbers_on_its_side(runs: list[tuple[str, bool, bool]], form: str) -> None:
    found = _compare_cards(*_make_cards(runs))
    for one in found.tested:
        if one.shown:
            assert one.p <= 0.05
            assert one.shown * one.difference.change > 0
            assert one.difference.better + one.difference.worse >= 6
    assert all(line.isprintable() for line in FORMATS[form]("t", tabulate_comparison(found, 3)))


PASSED, MISCOUNTED, OTHER = Passed(), Failed("wrong_count", "2 calls"), Failed("missing", "no call")
LATE, DOWN = NotScored("timeout", "600 s"), NotScored("endpoint", "500")
NONE = NotScored(NO_ENTRY, "core 3 has no such entry")


@each_case(
    ("old", "new", "kind"),
    [
        (PASSED, MISCOUNTED, ChangeKind.WORSE),
        (MISCOUNTED, PASSED, ChangeKind.BETTER),
        (MISCOUNTED, OTHER, ChangeKind.CODE),
        (PASSED, ASIDE, ChangeKind.SET_ASIDE),
        (LATE, ASIDE, ChangeKind.SET_ASIDE),
        (ASIDE, MISCOUNTED, ChangeKind.COUNTED),
        (ASIDE, LATE, ChangeKind.CAUSE),
        (PASSED, LATE, ChangeKind.LOST),
        (MISCOUNTED, LATE, ChangeKind.LOST),
        (LATE, PASSED, ChangeKind.SCORED),
        (LATE, MISCOUNTED, ChangeKind.SCORED),
        (LATE, DOWN, ChangeKind.CAUSE),
        (PASSED, NONE, ChangeKind.GONE),
        (ASIDE, NONE, ChangeKind.GONE),
        (PASSED, Passed(), None),
        (MISCOUNTED, Failed("wrong_count", "told in other words", {"found": 2}), None),
        (LATE, NotScored("timeout", "another sentence"), None),
    ],
)
def test_a_change_has_its_kind(old: Verdict, new: Verdict, kind: ChangeKind | None) -> None:
    assert classify_change(old, new) is kind


def test_profiles_change_on_their_own() -> None:
    old, new = make_record(PASSED, MISCOUNTED), make_record(PASSED, PASSED)
    (change,) = list_changes([old], {new.item_id: new})
    assert (change.item_id, change.profile, change.kind) == (
        old.item_id,
        Profile.CORRECTED,
        ChangeKind.BETTER,
    )
    assert (change.old, change.new) == (MISCOUNTED, PASSED)


def test_trials_are_kept_apart() -> None:
    old = [make_record(PASSED, trial=1), make_record(MISCOUNTED, trial=2)]
    new = {record.item_id: record for record in [old[0], make_record(PASSED, trial=2)]}
    assert {change.item_id for change in list_changes(old, new)} == {old[1].item_id}


VERDICTS = st.sampled_from([PASSED, MISCOUNTED, OTHER, ASIDE, LATE, NONE])


@given(VERDICTS, VERDICTS)
def test_only_what_is_equal_is_no_change(old: Verdict, new: Verdict) -> None:
    assert (classify_change(old, new) is None) == (old == new)


@given(st.lists(st.tuples(VERDICTS, VERDICTS), min_size=1, max_size=8))
def test_scores_move_only_with_verdicts(pairs: list[tuple[Verdict, Verdict]]) -> None:
    old = [make_record(verdict, number=number) for number, (verdict, _) in enumerate(pairs)]
    new = [make_record(verdict, number=number) for number, (_, verdict) in enumerate(pairs)]
    before, after = (aggregate_scores(records, Profile.OFFICIAL, lambda _: 0) for records in (old, new))
    rows = {name: (was, now) for name, was, now in list_changed_scores(before, after)}
    same = (
        [s.passed for s in (before.overall, after.overall)],
        [s.scored for s in (before.overall, after.overall)],
    )
    if all(len(set(counts)) == 1 for counts in same):
        assert rows == {}
    else:
        assert rows.keys() == {"simple_python", "simple", "non_live", "overall"}
        assert rows["simple_python"] == (
            before.categories["simple_python"],
            after.categories["simple_python"],
        )
