"""``fcbench leaderboard``: rank scorecards by their scores."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pytest_fcbench.cli import output
from pytest_fcbench.cli.run_options import declare_run_options, find_config
from pytest_fcbench.cli.scorecard_arguments import SCORECARD, find_scorecard
from pytest_fcbench.config.loading import read_release_dates
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.present import board_tables
from pytest_fcbench.scorecard.compare import leaderboard
from pytest_fcbench.scorecard.scorecard_files import load_outlines

HELP = "rank scorecards, with ties where no difference is shown"
PAGE = "after-a-run"
EXAMPLES = (
    "fcbench leaderboard one.json two.json",
    "fcbench leaderboard one.json two.json -o board.html",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add("scorecards", nargs="+", type=find_scorecard, metavar="SCORECARD", help=f"{SCORECARD}, or a baseline")
    output.declare_table_options(parser)
    rank = "metric to rank by (default: overall if complete, else what was run)"
    add("--sort", metavar="METRIC", help=rank)
    columns = "further columns: groups, categories, marks (default: groups, without overall the categories)"
    add("--metrics", action="append", metavar="NAME,…", help=columns)
    declare_run_options(parser, ("config",))


def run_command(arguments: argparse.Namespace) -> int:
    form = output.choose_format(arguments)
    # By resolved path, so that one file under two names is found.
    by_path = {}
    for path in arguments.scorecards:
        if path.resolve() in by_path:
            raise UsageError(f"{path} is given twice; give each scorecard once")
        by_path[path.resolve()] = load_outlines(path)
    cards = list(by_path.values())
    dates = read_release_dates(find_config(arguments.config))
    boards = leaderboard.rank_boards(cards, output.choose_profile(arguments, cards), arguments.sort, dates)
    metrics = output.split_names(arguments.metrics)
    if form == "html":
        # Imported late, because most commands write no page.
        from pytest_fcbench.present.html.board_page import render_boards

        folder = arguments.to.parent if arguments.to else Path()
        reports = {
            str(card.path): Path(os.path.relpath(report, folder)).as_posix()
            for card in cards
            if (report := card.path.with_suffix(".html")).is_file()
        }
        lines = render_boards(boards, metrics, reports)
    # A CSV file holds one table, so the boards are joined.
    elif form == "csv":
        lines = output.render_tables(
            arguments, form, "Leaderboard", [board_tables.join_boards(boards, metrics)]
        )
    else:
        parts = [
            table
            for board in boards
            for table in (
                *board_tables.tabulate_board(board, metrics),
                *board_tables.tabulate_correlations(board),
            )
        ]
        lines = output.render_tables(arguments, form, "Leaderboard", parts)
    output.print_or_write(arguments, lines, cards)
    return 0
