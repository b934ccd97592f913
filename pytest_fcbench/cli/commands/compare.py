"""``fcbench compare``: two runs side by side, entry by entry.

The exit code says only whether it could be done: what a difference means for a CI job, a gate decides.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fcbench.cli import table_output
from pytest_fcbench.cli.run_options import require_at_least
from pytest_fcbench.scorecard.compare import comparison
from pytest_fcbench.scorecard.render.tables import FORMATS
from pytest_fcbench.scorecard.scorecard_files import load

_FLIPS = 20


HELP = "two scorecards side by side: what changed, and how sure"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("before", type=Path, metavar="BEFORE", help="a scorecard or a baseline")
    parser.add_argument("after", type=Path, metavar="AFTER", help="the one to compare with it")
    table_output.declare(parser)
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME,…",
        help="overall, a group, a category or a mark (default: all)",
    )
    parser.add_argument(
        "--flips",
        type=int,
        metavar="N",
        help=f"flips to show in each direction (default: {_FLIPS}; csv: all)",
    )


def run_command(chosen: argparse.Namespace) -> int:
    require_at_least(0, chosen, "flips")
    cards = before, after = load(chosen.before), load(chosen.after)
    found = comparison.compare(
        before, after, table_output.profile_of(chosen, cards), table_output.split(chosen.metric)
    )
    form = table_output.format_of(chosen)
    if form == "csv":
        parts = [comparison.scores(found), comparison.joined_flips(found, chosen.flips)]
    else:
        parts = comparison.tables(found, _FLIPS if chosen.flips is None else chosen.flips)
    table_output.show(chosen, FORMATS[form](" → ".join(found.names), parts), cards)
    return 0
