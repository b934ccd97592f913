"""``fcbench compare``: two runs side by side, entry by entry.

The exit code says only whether it could be done: what a difference means for a CI job, a gate decides.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcbench.commands import tables
from pytest_fcbench.errors import UsageError
from pytest_fcbench.scorecard import compare
from pytest_fcbench.scorecard.files import load
from pytest_fcbench.scorecard.tables import FORMATS

if TYPE_CHECKING:
    from pytest_fcbench.cli import Commands

_FLIPS = 20


def register(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser("compare", help="two scorecards side by side: what changed, and how sure")
    parser.add_argument("before", type=Path, metavar="BEFORE", help="a scorecard or a baseline")
    parser.add_argument("after", type=Path, metavar="AFTER", help="the one to compare with it")
    tables.declare(parser)
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
    parser.set_defaults(run=_compare)


def _compare(chosen: argparse.Namespace) -> int:
    if chosen.flips is not None and chosen.flips < 0:
        raise UsageError(f"--flips {chosen.flips}: must be 0 or more")
    cards = before, after = load(chosen.before), load(chosen.after)
    found = compare.compare(before, after, tables.profile_of(chosen, cards), tables.split(chosen.metric))
    form = tables.format_of(chosen)
    if form == "csv":
        parts = [compare.scores(found), compare.joined_flips(found, chosen.flips)]
    else:
        parts = compare.tables(found, _FLIPS if chosen.flips is None else chosen.flips)
    tables.show(chosen, FORMATS[form](" → ".join(found.names), parts), cards)
    return 0
