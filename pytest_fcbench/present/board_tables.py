"""A leaderboard in tables and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from types import MappingProxyType

from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.present import score_tables
from pytest_fcbench.present.charts import plots
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import (
    describe_path_settings,
    describe_weight,
    format_limits,
    format_number,
    select_outermost,
)
from pytest_fcbench.scorecard.aggregate import golden_paths, secondary_scores
from pytest_fcbench.scorecard.aggregate.answer_statistics import CostLatency, measure_bill
from pytest_fcbench.scorecard.aggregate.intervals import LEAST, Correlation, correlate_pairs
from pytest_fcbench.scorecard.aggregate.scores import OVERALL, Score, choose_main_score, score_metric
from pytest_fcbench.scorecard.compare.comparison import check_metrics
from pytest_fcbench.scorecard.compare.leaderboard import Board, BoardRow, list_scored

_NAME = 40
"""The longest name of a model in a chart, in characters."""


WHO: Mapping[str, Callable[[BoardRow], str]] = {
    "rank": lambda row: (
        format_number(row.rank) + (f" to {row.lowest}" if row.rank and row.rank < row.lowest else "")
    ),
    "model": lambda row: row.model,
    "mode": lambda row: row.card.facts.mode,
}
"""The columns that say which run a row is about."""
_TOOK: Mapping[str, Callable[[CostLatency], str]] = {
    "calls": lambda took: format_number(took.steps or None),
    **{name: score_tables.USAGE[name] for name in ("$", "$/1,000", "mean s", "p50 s", "p95 s")},
}
_LEFT = frozenset({"model", "mode"})


def _tabulate_rows(
    title: str,
    board: Board,
    columns: Iterable[str],
    cells: Iterable[Iterable[str]],
    notes: Iterable[str] = (),
    legend: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Tabulate cells about each run behind those that say which run it is."""
    rows = tuple(
        (*(cell(row) for cell in WHO.values()), *others)
        for row, others in zip(board.rows, cells, strict=True)
    )
    return Table(title, (*WHO, *columns), rows, tuple(notes), left=_LEFT, legend=legend)


def tabulate_board(board: Board, metrics: Sequence[str] = ()) -> tuple[Table, ...]:
    """Tabulate the scores in these metrics, calls along golden paths, executed calls, and cost and latency.

    Raises ``UsageError`` for an unknown metric.
    """
    cards = [row.card for row in board.rows]
    main = choose_main_score(card.scores(board.profile) for card in cards)
    # A board without overall has no official groups, so its categories stand in their place.
    usual = ("overall", *OVERALL) if main == "overall" else (main, *list_scored(cards[0], board.profile))
    beside = [name for name in metrics or usual if name != board.metric]
    check_metrics(beside, cards)
    return (
        _tabulate_scores(board, beside),
        *_tabulate_complex(board),
        *_tabulate_executed(board),
        _tabulate_rest(board),
    )


def describe_ranks(board: Board) -> Iterator[tuple[str, ...]]:
    """Yield rank, model, mode, score and its interval of each row."""
    for row in board.rows:
        limits = format_limits(row.score.interval if row.score else None)
        yield (*(cell(row) for cell in WHO.values()), _format_accuracy(row.score), limits)


def join_boards(boards: Sequence[Board], metrics: Sequence[str] = ()) -> Table:
    """Join all boards in one wide table, for programs."""
    rows: list[dict[str, str]] = []
    for board in boards:
        board_rows: list[dict[str, str]] = [{} for _ in board.rows]
        for table in tabulate_board(board, metrics):
            # The star of a missing part differs between boards, and would make two columns of one metric.
            names = [column.rstrip("*") for column in table.columns]
            for board_row, cells in zip(board_rows, table.rows, strict=True):
                board_row |= zip(names, cells, strict=True)
        rows += ({**board_row, "data": board.title} for board_row in board_rows)
    # A stable sort that moves only "data" to the end.
    columns = sorted(dict.fromkeys(name for row in rows for name in row), key="data".__eq__)
    found_rows = tuple(tuple(row.get(name, "-") for name in columns) for row in rows)
    return Table("Leaderboard", tuple(columns), found_rows, left=_LEFT)


def _tabulate_scores(board: Board, beside: Sequence[str]) -> Table:
    scores_by_metric = {
        metric: [
            score_metric(metric, row.card.records, board.profile, row.card.size_of, partial=True)
            for row in board.rows
        ]
        for metric in (board.metric, *beside)
    }
    missing = {
        metric: [part for score in column if score for part in score.missing]
        for metric, column in scores_by_metric.items()
    }
    first, *others = (metric + ("*" if missing[metric] else "") for metric in scores_by_metric)
    own = scores_by_metric.pop(board.metric)
    notes = []
    rank = (
        f"a range where differences in {board.metric} are not significant; a difference is significant if "
        "p <= 0.05 (after Holm's correction) and its 95% confidence interval excludes 0, on the entries that "
        "both models have scored"
    )
    if not_run := select_outermost(part for parts in missing.values() for part in parts):
        notes.append(
            f"* asked for, although parts of the formula were not run and count as 0: {', '.join(not_run)}; "
            + describe_weight(board.rows[0].card.scores(board.profile))
        )
    notes += [
        f"not compared, because they have no scored entry in common: {one} and {other}"
        for one, other in board.apart
    ]
    versions = dict.fromkeys(row.card.facts.fcbench for row in board.rows)
    if len(versions) > 1:
        notes.append(f"judged by different versions of fcbench: {', '.join(versions)}")
    limits = [format_limits(score.interval if score else None) for score in own]
    accuracies = [list(map(_format_accuracy, column)) for column in (own, *scores_by_metric.values())]
    return _tabulate_rows(
        f"{board.title} ({board.profile} profile)",
        board,
        (first, "95% interval", *others),
        zip(accuracies[0], limits, *accuracies[1:], strict=True),
        notes,
        {"rank": rank} if len(board.rows) > 1 else {},
    )


def _format_accuracy(score: Score | None) -> str:
    return format_number(score.accuracy if score else None, ".2%")


def _tabulate_complex(board: Board) -> Iterator[Table]:
    """Tabulate calls along golden paths."""
    path_scores = [
        golden_paths.score_paths(golden_paths.select_golden_paths(row.card.records), board.profile)
        for row in board.rows
    ]
    if not any(scores.calls for scores in path_scores):
        return
    settings = [row.card.facts.driven for row in board.rows]
    means = dict.fromkeys(describe_path_settings(each) for each in settings if each)
    apart = (f"conversations were continued in different ways: {'; '.join(means)}",) if len(means) > 1 else ()
    cells = [[cell(scores) for cell in score_tables.CALLS.values()] for scores in path_scores]
    yield _tabulate_rows("Complex calls", board, score_tables.CALLS, cells, apart, score_tables.LEGEND)


@dataclass(frozen=True, slots=True)
class _Beside:
    """Accuracies of calls as written and as executed, of each model in the order of the board."""

    what: str
    columns: tuple[str, str]
    shares: Sequence[tuple[float, float] | None]
    """Both accuracies of each model; None where a model lacks them."""

    @property
    def together(self) -> Correlation:
        """The correlation of both over the models."""
        return correlate_pairs([pair for pair in self.shares if pair])


def _collect_besides(board: Board) -> list[_Beside]:
    """Collect both accuracies, in categories of the same kinds and on the same answers, if any."""
    scores = (row.card.scores(board.profile) for row in board.rows)
    sides = (secondary_scores.count_sides(row.card.records, board.profile) for row in board.rows)
    kinds = [secondary_scores.average_by_kind(found) for found in scores]
    found = (
        _Beside("categories of the same kinds", ("AST categories", "exec. categories"), kinds),
        _Beside("the same answers", ("AST", "execution"), [of.shares for of in sides]),
    )
    return [beside for beside in found if any(beside.shares)]


def _tabulate_executed(board: Board) -> Iterator[Table]:
    if besides := _collect_besides(board):
        columns = [column for beside in besides for column in beside.columns]
        cells = (
            [format_number(share, ".2%") for pair in pairs for share in pair or (None, None)]
            for pairs in zip(*(beside.shares for beside in besides), strict=True)
        )
        yield _tabulate_rows("AST and execution", board, columns, cells)


def tabulate_correlations(board: Board) -> Iterator[Table]:
    """Tabulate the correlation of AST and execution over three models or more (BFCL's paper, Figure 3)."""
    rows = tuple(
        (beside.what, f"{of.n}", format_number(of.pearson, ".3f"), format_number(of.spearman, ".3f"))
        for beside in _collect_besides(board)
        if (of := beside.together).n >= LEAST
    )
    if rows:
        yield Table("AST and execution over models", ("", "models", "Pearson's r", "Spearman's rho"), rows)


def draw_execution(board: Board) -> Iterator[str]:
    """Draw execution over AST as SVG, where three models or more have both."""
    for beside in _collect_besides(board):
        if beside.together.n >= LEAST:
            points = [
                plots.Point(0, *shares, name=shorten_text(row.name, _NAME))
                for row, shares in zip(board.rows, beside.shares, strict=True)
                if shares
            ]
            says = f"Execution over AST: {beside.what}; the table has the numbers."
            yield plots.draw_pairs(points, *beside.columns, says)


def _tabulate_rest(board: Board) -> Table:
    rows = []
    for row in board.rows:
        overall = row.card.scores(board.profile).overall
        took = measure_bill(row.card.records, row.card.facts.earlier)
        lost = (overall.not_scored - overall.set_aside) / overall.n if overall.n else None
        day = row.released.isoformat() if row.released else "-"
        counts = (format_number(overall.scored), format_number(lost, ".1%"))
        rows.append((day, *counts, *(cell(took) for cell in _TOOK.values())))
    return _tabulate_rows(
        "Cost and latency",
        board,
        ("released", "scored", "not scored", *_TOOK),
        rows,
        legend={
            "scored": "entries times trials",
            **dict.fromkeys(("calls", "$"), "of the run, judges and earlier conversations too"),
            "$/1,000": "for 1,000 calls of the model",
            **dict.fromkeys(("mean s", "p50 s", "p95 s"), "seconds of a call of the model"),
        },
    )


def draw_releases(board: Board) -> str | None:
    """Draw accuracy over release date as SVG; None where fewer than two models have a date."""
    releases = [
        plots.Point(
            *(0, datetime.combine(row.released, time(), UTC).timestamp(), score.accuracy),
            *(score.interval.low, score.interval.high, shorten_text(row.name, _NAME)),
        )
        for row in board.rows
        if row.released and (score := row.score) and score.accuracy is not None and score.interval
    ]
    if len(releases) < 2:
        return None
    says = f"{board.metric} over release date, {board.title}; the tables have the numbers."
    return plots.draw_releases(releases, board.metric, says)
