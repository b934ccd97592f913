"""The leaderboard as a page: ranks with their intervals, ties, links to reports, cost and latency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from pytest_fcbench.present import board_tables
from pytest_fcbench.present.charts import marks
from pytest_fcbench.present.charts.drawing import MOST_SERIES
from pytest_fcbench.present.html import sections
from pytest_fcbench.present.html.templates import TABLES, generate_page
from pytest_fcbench.present.tables import Table
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_bill
from pytest_fcbench.scorecard.compare.leaderboard import Board, BoardRow
from pytest_fcbench.scorecard.scorecard_files import KeptRun

_BESIDE = ("not scored", "$/1,000", "p50 s")
"""Columns of cost and latency that stand beside the scores, where anything is known."""


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A run with what its row shows beside the score."""

    row: BoardRow
    rank: str
    swatch: str
    plot: str
    cells: tuple[str, ...]
    report: str
    """The address of its report relative to the page; empty where there is none."""


@dataclass(frozen=True, slots=True)
class ShownBoard:
    """A board with its rows, notes, further tables and charts."""

    board: Board
    main: str
    scale: str
    columns: tuple[str, ...]
    lines: Sequence[BoardLine]
    notes: tuple[str, ...]
    tables: Sequence[Table]
    costs: Sequence[str]
    figures: Sequence[str]

    @property
    def has_ties(self) -> bool:
        """True where two runs are not told apart."""
        return any(row.alike for row in self.board.rows)


def render_boards(
    boards: Sequence[Board], metrics: Sequence[str] = (), reports: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Render boards as lines of a page; ``reports`` are relative paths by that of the scorecard."""
    page_boards = [_prepare_board(board, metrics, reports or {}) for board in boards]
    values = {
        "boards": page_boards,
        "runs": sum(len(board.rows) for board in boards),
        "modes": sorted({row.card.facts.mode for board in boards for row in board.rows}),
        "has_report": any(line.report for each in page_boards for line in each.lines),
    }
    yield from "".join(generate_page("board.html", values, (TABLES,))).split("\n")


def _prepare_board(board: Board, metrics: Sequence[str], reports: Mapping[str, str]) -> ShownBoard:
    scores, *others, rest = board_tables.tabulate_board(board, metrics)
    who = len(board_tables.WHO)
    known_columns = [n for n in range(who + 2, len(scores.columns)) if _is_known(scores, n)]
    beside = [n for n, name in enumerate(rest.columns) if name in _BESIDE and _is_known(rest, n, "0.0%")]
    is_marked = len(board.rows) <= MOST_SERIES
    intervals = [row.score.interval for row in board.rows if row.score and row.score.interval]
    axis = marks.choose_axis(limit for each in intervals for limit in (each.low, each.high))
    lines = []
    for series, (row, score_cells, more) in enumerate(zip(board.rows, scores.rows, rest.rows, strict=True)):
        series = series if is_marked else 0
        score = row.score
        limits = (score.interval.low, score.interval.high) if score and score.interval else (None, None)
        is_scored = score is not None and score.accuracy is not None
        plot = [marks.Range(series, score.accuracy, *limits)] if score and score.accuracy is not None else []
        lines.append(
            BoardLine(
                row=row,
                rank=score_cells[0].replace(" to ", "–"),
                swatch=marks.draw_swatch(series) if is_marked and is_scored else "",
                plot=marks.draw_ranges(plot, axis=axis),
                cells=(*(score_cells[n] for n in known_columns), *(more[n] for n in beside)),
                report=quote(reports.get(str(row.card.path), ""), errors="replace"),
            )
        )
    tables = []
    for table in (*others, rest):
        # One column with the name of the run replaces rank, model and mode.
        told_of = [n for n in range(who, len(table.columns)) if _is_known(table, n)]
        rows = zip(board.rows, table.rows, strict=True)
        tables.append(
            replace(
                table,
                columns=("model", *(table.columns[n] for n in told_of)),
                rows=tuple((row.name, *(cells[n] for n in told_of)) for row, cells in rows),
            )
        )
    bills = [measure_bill(row.card.records, row.card.facts.earlier) for row in board.rows]
    bill_rows = [(n, row.score, bill) for n, (row, bill) in enumerate(zip(board.rows, bills, strict=True))]
    release = board_tables.draw_releases(board)
    return ShownBoard(
        board=board,
        main=scores.columns[who],
        scale=marks.draw_scale(axis),
        columns=(*(scores.columns[n] for n in known_columns), *(rest.columns[n] for n in beside)),
        lines=lines,
        notes=tuple(scores.list_notes()),
        tables=[*tables, *board_tables.tabulate_correlations(board)],
        costs=list(sections.draw_costs(bill_rows, board.metric, board.profile)) if is_marked else [],
        figures=[*([release] if release else []), *board_tables.draw_execution(board)],
    )


def _is_known(table: Table, column: int, zero: str = "-") -> bool:
    return any(row[column] not in ("-", zero) for row in table.rows)


def render_runs(runs: Sequence[KeptRun], folder: str) -> str:
    """Render the list of runs, the newest first."""
    return "".join(
        generate_page(
            "runs.html",
            {"runs": runs, "folder": folder, "most": MOST_SERIES},
            (TABLES, "runs.js"),
            sources=("connect-src 'self'",),
            form="'self'",
        )
    )
