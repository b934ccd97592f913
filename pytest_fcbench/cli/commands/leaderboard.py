"""``fcbench leaderboard``: scorecards in the order of their scores."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_fcbench.cli import table_output
from pytest_fcbench.cli.run_options import declare
from pytest_fcbench.config.loading import config_file, released
from pytest_fcbench.domain import extras
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.scorecard.compare import leaderboard
from pytest_fcbench.scorecard.render.tables import FORMATS, page
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load

HELP = "scorecards ranked, with ties where no difference is shown"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "scorecards", nargs="+", type=Path, metavar="SCORECARD", help="of a run, or a baseline"
    )
    table_output.declare(parser)
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


def run_command(chosen: argparse.Namespace) -> int:
    form = table_output.format_of(chosen)
    if form == "html":
        extras.need("report", "a leaderboard in HTML")
    cards = _loaded(chosen.scorecards)
    dates = released(config_file(Path(), chosen.config))
    boards = leaderboard.boards(cards, table_output.profile_of(chosen, cards), chosen.sort, dates)
    metrics = table_output.split(chosen.metrics)
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
    table_output.show(chosen, lines, cards)
    return 0


def _loaded(paths: Sequence[Path]) -> list[Scorecard]:
    cards = {}
    for path in paths:
        if path.resolve() in cards:
            raise UsageError(f"{path} is given twice")
        cards[path.resolve()] = load(path)
    return list(cards.values())
