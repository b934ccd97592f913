"""Ranks claim no more than the runs show, whatever the order of the files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import OTHER_RULES, Failed, NotScored, Passed, Profile, Verdicts
from pytest_fcbench.present.board_tables import (
    draw_execution,
    draw_releases,
    join_boards,
    tabulate_board,
    tabulate_correlations,
)
from pytest_fcbench.scorecard.aggregate.scores import GROUPS, weigh_categories
from pytest_fcbench.scorecard.compare import comparison
from pytest_fcbench.scorecard.compare.leaderboard import Board, rank_boards
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.record import Usage
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.factories import make_card, make_path_record, make_path_score

TIMEOUT = NotScored("timeout", "600 s")


def _make_card(name: str, passed: int, **facts: object) -> Scorecard:
    """Make a run of 40 entries, of which the first so many passed."""
    return make_card({"parallel": [n < passed for n in range(40)]}, name, (), **facts)


def _rank_one_board(*cards: Scorecard, metric: str = "overall") -> Board:
    (board,) = rank_boards(cards, Profile.OFFICIAL, metric)
    return board


def _list_ranks(board: Board) -> dict[str, tuple[int | None, int]]:
    return {row.name: (row.rank, row.lowest) for row in board.rows}


# Ranks


def test_models_without_a_shown_difference_share_a_rank() -> None:
    board = _rank_one_board(
        _make_card("low", 5), _make_card("high", 38), _make_card("other", 36), _make_card("mid", 20)
    )
    assert _list_ranks(board) == {"high": (1, 2), "other": (1, 2), "mid": (3, 3), "low": (4, 4)}
    assert [row.name for row in board.rows] == ["high", "other", "mid", "low"]
    assert [row[0] for row in tabulate_board(board)[0].rows] == ["1 to 2", "1 to 2", "3", "4"]


def test_one_in_the_middle_may_tie_with_both_neighbours() -> None:
    """Only the ends differ: by 8 entries, their neighbours by 4."""
    board = _rank_one_board(_make_card("a", 30), _make_card("b", 26), _make_card("c", 22))
    assert _list_ranks(board) == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}


def test_a_model_ranks_below_all_that_are_better_through_others() -> None:
    """a and c share entries in which they are alike, and each beats or loses to b in others."""
    half, none = [TIMEOUT] * 20, [False] * 20
    a = make_card({"parallel": [*half, *[True] * 20, True]}, "a")
    b = make_card({"parallel": [*[True] * 20, *none, True]}, "b")
    c = make_card({"parallel": [*none, *half, True]}, "c")
    assert _list_ranks(_rank_one_board(a, b, c)) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}


def test_a_circle_is_a_tie() -> None:
    yes, no, none = [True] * 20, [False] * 20, [TIMEOUT] * 20
    a = make_card({"parallel": [*yes, *no, *none]}, "a")
    b = make_card({"parallel": [*no, *none, *yes]}, "b")
    c = make_card({"parallel": [*none, *yes, *no]}, "c")
    assert _list_ranks(_rank_one_board(a, b, c)) == {"a": (3, 3), "b": (3, 3), "c": (3, 3)}


def test_a_run_without_a_score_is_told_apart_from_none() -> None:
    """Its conversations followed the rules of the other profile, so it has verdicts and no score."""
    elsewhere = NotScored(OTHER_RULES, "the conversation went on after a wrong call")
    one, other = make_card({"hotels": [True, True]}, "one"), make_card({"hotels": [True, elsewhere]}, "other")
    board = _rank_one_board(one, other, metric="hotels")
    first, last = board.rows
    assert (first.name, first.rank, first.lowest, first.alike) == ("one", 1, 1, ())
    assert (last.name, last.rank, last.alike) == ("other", None, ())


def test_ranks_follow_the_metric() -> None:
    one = make_card({"parallel": [True] * 20, "multiple": [False] * 20}, "one")
    two = make_card({"parallel": [False] * 20, "multiple": [True] * 20}, "two")
    assert [row.name for row in _rank_one_board(one, two, metric="parallel").rows] == ["one", "two"]
    assert [row.name for row in _rank_one_board(one, two, metric="multiple").rows] == ["two", "one"]


def test_runs_without_a_common_entry_are_told() -> None:
    one, two = (
        make_card({"parallel": [True, TIMEOUT]}, "one"),
        make_card({"parallel": [TIMEOUT, True]}, "two"),
    )
    assert (
        "not compared, because they have no scored entry in common: one and two"
        in tabulate_board(_rank_one_board(one, two))[0].notes
    )
    assert tabulate_board(_rank_one_board(two, one)) == tabulate_board(_rank_one_board(one, two))


_CARDS = st.lists(st.lists(st.booleans(), min_size=12, max_size=12), min_size=1, max_size=4)


@settings(deadline=None, max_examples=40)
@given(_CARDS, st.sampled_from(["overall", "parallel"]))
@example([[False] * 12, [True] * 12, [False] * 12], "parallel")
# One pair alone would be shown to differ, but not one of six.
@example([*[[False] * 12] * 3, [False, False, *[True] * 6, *[False] * 4]], "parallel")
def test_ranks_are_ordered_and_follow_shown_differences(runs: list[list[bool]], metric: str) -> None:
    cards = [
        make_card({"parallel": verdicts[:8], "simple_python": verdicts[8:]}, f"m{n}")
        for n, verdicts in enumerate(runs)
    ]
    board = _rank_one_board(*cards, metric=metric)
    ranks = _list_ranks(board)
    shuffled = cards[::-1]
    assert _list_ranks(_rank_one_board(*shuffled, metric=metric)) == ranks
    places = [rank for rank, _ in ranks.values() if rank]
    assert places == sorted(places)
    assert places[0] == 1
    # Holm's correction for all pairs is never stricter than to multiply by their number.
    pairs = math.comb(len(cards), 2)
    for one in cards:
        for other in cards:
            difference = pair_runs(one.records, other.records, Profile.OFFICIAL).measure_difference(
                "parallel"
            )
            assert difference is not None
            corrected = difference.chance.p * pairs
            if metric == "parallel" and comparison.decide_direction(difference, corrected) > 0:
                better, worse = ranks[other.facts.model][0], ranks[one.facts.model][0]
                assert better is not None
                assert worse is not None
                assert better < worse
    assert all(rank is not None and rank <= lowest <= len(cards) for rank, lowest in ranks.values())


def test_checks_of_a_server_have_no_column() -> None:
    one, other = (
        make_card({"parallel": [True, passed], "server_must": [not passed]}, name)
        for name, passed in (("one", True), ("other", False))
    )
    (board,) = rank_boards([one, other], Profile.OFFICIAL)
    table = tabulate_board(board)[0]
    assert table.columns == ("rank", "model", "mode", "parallel", "95% interval")
    assert [row[3] for row in table.rows] == ["100.00%", "50.00%"]


# What stands apart


def test_other_data_stand_in_other_tables() -> None:
    newer = {"core": {"version": "2", "pack_hash": "ab" * 32}}
    found = rank_boards(
        [
            _make_card("a", 30),
            _make_card("b", 20),
            _make_card("c", 10, suites=newer),
            make_card({"parallel": [True], "multiple": [TIMEOUT]}, "d"),
            make_card({"parallel": [True], "multiple": [True]}, "e"),
        ],
        Profile.OFFICIAL,
    )
    assert [(board.title, [row.name for row in board.rows]) for board in found] == [
        ("core version 1; parallel", ["d", "a", "b"]),
        ("core version 1; multiple, parallel", ["e"]),
        ("core version 2 (sha256 abababababab); parallel", ["c"]),
    ]


def test_one_table_for_programs_says_of_each_row_what_it_was_put() -> None:
    table = join_boards(
        rank_boards(
            [_make_card("a", 30), _make_card("c", 10, suites={"core": {"version": "2"}})], Profile.OFFICIAL
        )
    )
    assert table.columns[:5] == ("rank", "model", "mode", "parallel", "95% interval")
    assert [(row[1], row[-1]) for row in table.rows] == [
        ("a", "core version 1; parallel"),
        ("c", "core version 2; parallel"),
    ]


def _make_complex_card(name: str, right: int, **facts: object) -> Scorecard:
    """Make a run of 30 entries of three templates in each domain, each with so many right calls of 4."""
    records = [
        make_path_record(
            Passed() if right == 4 else Failed("value_error", ""),
            category=category,
            number=n,
            path=make_path_score(calls=4, right=right),
            cluster=str(n // 10),
        )
        for category in GROUPS["complex"].parts
        for n in range(30)
    ]
    return replace(_make_card(name, 0, **facts), records=tuple(records))


def test_runs_of_complex_entries_are_ranked_by_these() -> None:
    cards = [_make_complex_card("a", 2), _make_complex_card("b", 4, driven=PathSettings(Profile.OFFICIAL))]
    (board,) = rank_boards(cards, Profile.OFFICIAL)
    scores, calls, _ = tabulate_board(board)
    assert board.metric == "complex"
    assert scores.columns == ("rank", "model", "mode", "complex", "95% interval", *GROUPS["complex"].parts)
    assert calls.columns[:5] == ("rank", "model", "mode", "right calls", "call acc.")
    assert [row[1:5] for row in calls.rows] == [
        ("b", "fc", "600 of 600", "100.00%"),
        ("a", "fc", "300 of 600", "50.00%"),
    ]
    assert calls.notes == ()


def test_three_templates_show_no_difference() -> None:
    """Thirty entries that pass together are three chances, not thirty."""
    assert _list_ranks(
        _rank_one_board(_make_complex_card("a", 2), _make_complex_card("b", 4), metric="complex")
    ) == {"b": (1, 2), "a": (1, 2)}


def test_other_rules_of_conversations_are_told() -> None:
    cards = [_make_complex_card(name, 4, driven=PathSettings(name)) for name in Profile]
    (board,) = rank_boards(cards, Profile.OFFICIAL)
    assert (
        tabulate_board(board)[1]
        .notes[0]
        .startswith("conversations were continued in different ways: by the ")
    )


def test_one_table_for_programs_has_the_columns_of_all() -> None:
    table = join_boards(rank_boards([_make_card("a", 30), _make_complex_card("b", 4)], Profile.OFFICIAL))
    assert table.columns[-1] == "data"
    assert {"parallel", "complex", "hotels", "call acc."} <= set(table.columns)
    rows = {row[1]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert (rows["a"]["call acc."], rows["b"]["call acc."]) == ("-", "100.00%")
    assert rows["b"]["parallel"] == "-"


def test_the_same_model_is_told_apart_by_mode_or_file() -> None:
    again = replace(_make_card("a", 3), path=Path("again.json"))
    board = _rank_one_board(_make_card("a", 30), _make_card("a", 10, mode="prompt"), again)
    assert [row[1:3] for row in tabulate_board(board)[0].rows] == [
        ("a (a.json)", "fc"),
        ("a", "prompt"),
        ("a (again.json)", "fc"),
    ]


def test_versions_that_judged_are_told_where_they_differ() -> None:
    board = _rank_one_board(_make_card("a", 30), _make_card("b", 10, fcbench="9.9"))
    assert "judged by different versions of fcbench: 0.1.0, 9.9" in tabulate_board(board)[0].notes


# Columns


def test_a_formula_of_which_parts_were_not_run_is_shown_where_it_is_asked_for() -> None:
    cards = [_make_card("a", 30), _make_card("b", 30)]
    scores, _ = tabulate_board(_rank_one_board(*cards))
    assert scores.columns[3:] == ("overall*", "95% interval", "parallel")
    assert scores.rows[0][3:] == ("1.88%", "1.5-2.1%", "75.00%")
    assert scores.notes[0] == (
        "* asked for, although parts of the formula were not run and count as 0: live, irrelevance_all, "
        "multi_turn, agentic, simple, multiple, parallel_multiple; categories with 2.5% of the weight of "
        "BFCL's overall score were run"
    )
    (board,) = rank_boards(cards, Profile.OFFICIAL)
    scores, _ = tabulate_board(board)
    assert (scores.columns[3:], scores.notes) == (("parallel", "95% interval"), ())


def test_scores_are_those_of_the_formulas() -> None:
    whole = {name: [True] for name in weigh_categories("overall", lambda name: 1.0)}
    (board,) = rank_boards(
        [make_card({**whole, "parallel": [False]}, "a"), make_card(whole, "b")], Profile.OFFICIAL
    )
    scores, _ = tabulate_board(board)
    assert scores.columns[3:] == (
        *("overall", "95% interval", "non_live", "live", "irrelevance_all", "multi_turn", "agentic"),
    )
    told = {row[1]: (row[3], *row[5:]) for row in scores.rows}
    assert told["a"] == ("97.50%", "75.00%", "100.00%", "100.00%", "100.00%", "100.00%")


def test_other_columns_can_be_asked_for() -> None:
    scores, _ = tabulate_board(
        _rank_one_board(_make_card("a", 30), metric="parallel"), ["overall", "core", "parallel"]
    )
    assert scores.columns[3:] == ("parallel", "95% interval", "overall*", "core")
    with pytest.raises(UsageError, match=r"unknown metric 'ovrall'\. Did you mean 'overall'"):
        tabulate_board(_rank_one_board(_make_card("a", 30)), ["ovrall"])


def test_cost_latency_and_release_stand_beside() -> None:
    card = make_card({"parallel": [True, True, False, TIMEOUT]}, "a", steps=[Usage(1.5, 10, 2, 0.25)])
    (board,) = rank_boards([card], Profile.OFFICIAL, released={"a": date(2024, 7, 18)})
    _, rest = tabulate_board(board)
    found = dict(zip(rest.columns, rest.rows[0], strict=True))
    assert found["released"] == "2024-07-18"
    assert (found["scored"], found["not scored"], found["calls"]) == ("3", "25.0%", "4")
    assert (found["$"], found["$/1,000"]) == ("1.00", "250.00")
    assert (found["mean s"], found["p50 s"], found["p95 s"]) == ("1.50", "1.50", "1.50")


def test_a_baseline_knows_no_cost() -> None:
    _, rest = tabulate_board(_rank_one_board(_make_card("a", 3)))
    assert rest.rows[0][3:] == ("-", "40", "0.0%", "-", "-", "-", "-", "-", "-")


# Chart


def _draw_chart(dates: Mapping[str, date], *undated: str) -> str | None:
    cards = [_make_card(name, 30 - 3 * n) for n, name in enumerate([*dates, *undated])]
    (board,) = rank_boards(cards, Profile.OFFICIAL, "parallel", dates)
    return draw_releases(board)


def _read_texts(svg: str) -> set[str | None]:
    return {element.text for element in ElementTree.fromstring(svg).iter("text")}


def test_the_chart_names_every_dated_model() -> None:
    svg = _draw_chart({"old": date(2023, 6, 13), "new": date(2025, 2, 1)}, "undated") or ""
    assert {"old", "new", "release date; line: the best parallel so far"} <= _read_texts(svg)
    assert "undated" not in _read_texts(svg)
    assert 'role="img" aria-label="parallel over release date, core version 1; parallel; the tables' in svg


def test_a_model_that_passes_everything_has_a_place_in_the_chart() -> None:
    """The weights of its categories add up to 0.9999999999999999, those of the groups to 1."""
    whole = {name: [True] * 3 for name in weigh_categories("overall", lambda name: 1.0)}
    cards = [
        make_card(whole, "best", ()),
        make_card({**whole, "irrelevance": [True, False, False]}, "next", ()),
    ]
    (board,) = rank_boards(
        cards, Profile.OFFICIAL, "overall", {"best": date(2025, 2, 1), "next": date(2024, 2, 1)}
    )
    score = board.rows[0].score
    assert score is not None
    assert score.interval is not None
    assert (score.accuracy, score.interval.high) == (1.0, 1.0)
    assert {"best", "next"} <= _read_texts(draw_releases(board) or "")


def test_one_date_makes_no_chart() -> None:
    assert _draw_chart({"old": date(2023, 6, 13)}, "undated") is None


def test_a_hostile_name_is_text_in_the_chart() -> None:
    names = ["<script>alert(1)</script>", "$x^2$\u202e\udc80", "日本" * 40]
    svg = _draw_chart({name: date(2024, 1, 1 + n) for n, name in enumerate(names)}) or ""
    assert "<script" not in svg
    assert {"<script>alert(1)</script>", "$x^2$\\u202e\\udc80", f"{('日本' * 40)[:39]}…"} <= _read_texts(svg)


# Errors


def test_a_metric_nobody_has_is_refused() -> None:
    with pytest.raises(UsageError, match=r"unknown metric 'paralell'\. Did you mean 'parallel'"):
        rank_boards([_make_card("a", 3)], Profile.OFFICIAL, "paralell")
    with pytest.raises(UsageError, match="no scorecard has a scored entry of live"):
        rank_boards([_make_card("a", 3)], Profile.OFFICIAL, "live")


# AST and execution


def _make_executed_card(name: str, written: int, executed: int) -> Scorecard:
    """Make a run of ten entries, of which so many passed as they are written and by what they return."""
    card = make_card({"exec_simple": [n < executed for n in range(10)]}, name)
    records = [
        replace(r, as_written=Verdicts.same_in_both(Passed() if n < written else _WRONG))
        for n, r in enumerate(card.records)
    ]
    return replace(card, records=tuple(records))


_WRONG = Failed("value_error:others", "")


def test_ast_and_execution_of_each_model_and_over_all() -> None:
    (board,) = rank_boards(
        [_make_executed_card("a", 9, 10), _make_executed_card("b", 5, 6), _make_executed_card("c", 1, 4)],
        Profile.OFFICIAL,
    )
    assert board.metric == "exec_simple"
    table = next(table for table in tabulate_board(board) if table.title == "AST and execution")
    assert table.columns[-2:] == ("AST", "execution")
    assert [row[-2:] for row in table.rows] == [
        ("90.00%", "100.00%"),
        ("50.00%", "60.00%"),
        ("10.00%", "40.00%"),
    ]
    (over,) = tabulate_correlations(board)
    assert over.rows == (("the same answers", "3", "0.982", "1.000"),)
    (chart,) = draw_execution(board)
    assert "Execution over AST" in chart
    joined = join_boards([board])
    first = dict(zip(joined.columns, joined.rows[0], strict=True))
    assert (first["model"], first["AST"], first["execution"]) == ("a", "90.00%", "100.00%")


def test_categories_of_the_same_kind_are_compared_too() -> None:
    cards = [
        make_card(
            {"multiple": [n < 4 - k for n in range(4)], "exec_multiple": [n < 4 - k for n in range(5)]},
            f"m{k}",
        )
        for k in range(3)
    ]
    (board,) = rank_boards(cards, Profile.OFFICIAL)
    (over,) = tabulate_correlations(board)
    assert over.rows == (("categories of the same kinds", "3", "1.000", "1.000"),)


def test_two_models_do_not_make_a_correlation() -> None:
    (board,) = rank_boards(
        [_make_executed_card("a", 9, 10), _make_executed_card("b", 5, 6)], Profile.OFFICIAL
    )
    assert list(tabulate_correlations(board)) == []
    assert list(draw_execution(board)) == []
    (plain,) = rank_boards([_make_card("a", 1), _make_card("b", 2), _make_card("c", 3)], Profile.OFFICIAL)
    assert not [table for table in tabulate_board(plain) if table.title == "AST and execution"]
