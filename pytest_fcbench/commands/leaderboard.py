"""``fcbench leaderboard``: scorecards in the order of their scores."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcbench import extras
from pytest_fcbench.commands import tables
from pytest_fcbench.commands.settings import declare, without_prefix
from pytest_fcbench.config import config_file, released
from pytest_fcbench.errors import UsageError
from pytest_fcbench.scorecard import leaderboard
from pytest_fcbench.scorecard.files import Scorecard, load
from pytest_fcbench.scorecard.tables import FORMATS, page

if TYPE_CHECKING:
    from pytest_fcbench.cli import Commands


def register(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "leaderboard", help="scorecards ranked, with ties where no difference is shown"
    )
    parser.add_argument(
        "scorecards", nargs="+", type=Path, metavar="SCORECARD", help="of a run, or a baseline"
    )
    tables.declare(parser)
    parser.add_argument(
        "--sort",
        metavar="METRIC",
        help="rank by this (default: overall; complex or executable where only that was run)",
    )
    parser.add_argument(
        "--metrics",
        action="append",
        metavar="NAME,…",
        help="columns beside it: groups, categories, marks (default: the official groups)",
    )
    declare(parser, ("config",))
    parser.set_defaults(run=_leaderboard)


def _leaderboard(chosen: argparse.Namespace) -> int:
    form = tables.format_of(chosen)
    if form == "html":
        extras.need("report", "a leaderboard in HTML")
    cards = _loaded(chosen.scorecards)
    try:
        dates = released(config_file(Path(), chosen.config))
    except UsageError as error:
        raise without_prefix(error) from None
    boards = leaderboard.boards(cards, tables.profile_of(chosen, cards), chosen.sort, dates)
    metrics = tables.split(chosen.metrics)
    if form == "csv":
        parts = [leaderboard.joined(boards, metrics)]
    else:
        parts = [
            table
            for board in boards
            for table in (*leaderboard.tables(board, metrics), *leaderboard.correlations(board))
        ]
    if form == "html":
        charts = [chart for board in boards if (chart := leaderboard.release_chart(board))]
        charts += [chart for board in boards for chart in leaderboard.execution_charts(board)]
        lines = page("Leaderboard", parts, charts)
    else:
        lines = FORMATS[form]("Leaderboard", parts)
    tables.show(chosen, lines, cards)
    return 0


def _loaded(paths: Sequence[Path]) -> list[Scorecard]:
    cards = {}
    for path in paths:
        if path.resolve() in cards:
            raise UsageError(f"{path} is given twice")
        cards[path.resolve()] = load(path)
    return list(cards.values())
