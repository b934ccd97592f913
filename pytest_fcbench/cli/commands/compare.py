"""``fcbench compare``: compare two runs, entry by entry.

The exit code says only whether the comparison was possible; in CI a gate decides what a difference means.
"""

from __future__ import annotations

import argparse

from pytest_fcbench.cli import output
from pytest_fcbench.cli.run_options import require_at_least
from pytest_fcbench.cli.scorecard_arguments import SCORECARD, find_scorecard
from pytest_fcbench.present import comparison_tables
from pytest_fcbench.run.history import LATEST, PREVIOUS
from pytest_fcbench.scorecard.compare import comparison
from pytest_fcbench.scorecard.scorecard_files import load_outlines

HELP = "compare two scorecards: what changed, and how certain it is"
PAGE = "after-a-run"
EXAMPLES = (
    "fcbench compare",
    "fcbench compare previous latest -o changes.md",
)
_FLIPS = 20


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    before = f"{SCORECARD}, or a baseline; default: {PREVIOUS}"
    add("before", nargs="?", default=PREVIOUS, type=find_scorecard, metavar="BEFORE", help=before)
    after = f"the scorecard, run or baseline to compare with it; default: {LATEST}"
    add("after", nargs="?", default=LATEST, type=find_scorecard, metavar="AFTER", help=after)
    output.declare_table_options(parser)
    metrics = "compare only this: overall, a group, a category or a mark (repeatable; default: all)"
    add("--metric", action="append", metavar="NAME,…", help=metrics)
    flips = f"number of changed verdicts to show in each direction (default: {_FLIPS}; csv: all)"
    add("--flips", type=int, metavar="N", help=flips)


def run_command(arguments: argparse.Namespace) -> int:
    require_at_least(0, arguments, "flips")
    cards = before, after = load_outlines(arguments.before), load_outlines(arguments.after)
    profile, metrics = output.choose_profile(arguments, cards), output.split_names(arguments.metric)
    card_comparison = comparison.compare_scorecards(before, after, profile, metrics)
    form = output.choose_format(arguments)
    # Programs read CSV, so flips stand in one table, and all of them unless --flips says otherwise.
    if form == "csv":
        parts = [
            comparison_tables.tabulate_scores(card_comparison),
            comparison_tables.join_flips(card_comparison, arguments.flips),
        ]
    else:
        parts = comparison_tables.tabulate_comparison(
            card_comparison, _FLIPS if arguments.flips is None else arguments.flips
        )
    lines = output.render_tables(arguments, form, " → ".join(card_comparison.names), parts)
    output.print_or_write(arguments, lines, cards)
    return 0
