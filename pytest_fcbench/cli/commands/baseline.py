"""``fcbench baseline``: save the verdicts that a gate compares with, small enough to be committed."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.cli.scorecard_arguments import declare_scorecard
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import SET_ASIDE, NotScored
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard import scorecard_files

HELP = "save the verdicts of a scorecard as a baseline for gates"
PAGE = "gates"
EXAMPLES = (
    "fcbench baseline save",
    "fcbench baseline save previous -o baseline.json",
)
_FILE = "fcbench-baseline.json"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    save = actions.add_parser(
        "save", help="save the verdicts of a scorecard, one line per entry, without answers"
    )
    declare_scorecard(save)
    save.add_argument(
        *OUTPUT,
        dest="to",
        metavar="FILE",
        type=Path,
        default=Path(_FILE),
        help=f"file to write (default: {_FILE})",
    )


def run_command(arguments: argparse.Namespace) -> int:
    card = scorecard_files.load_outlines(arguments.scorecard)
    if not card.records:
        raise UsageError(
            f"{arguments.scorecard}: contains no benchmark entries; give the scorecard of a benchmark run"
        )
    write_file(arguments.to, scorecard_files.write_baseline(card))
    facts = card.facts
    print(f"{arguments.to}: {len(card.records)} tests, model {facts.model} ({facts.mode})")
    verdicts = [record.verdict(facts.profile) for record in card.records]
    not_scored = sum(isinstance(verdict, NotScored) and verdict.cause != SET_ASIDE for verdict in verdicts)
    if not_scored:
        print(f"{not_scored} of them were not scored, so gates ignore them")
    print(f"use it with: pytest --fcbench-baseline={arguments.to} --fcbench-gate='not-worse(95%)'")
    return 0
