"""``fcbench baseline``: what a gate compares with, small enough to be committed."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import SET_ASIDE, NotScored
from pytest_fcbench.run.output_files import write
from pytest_fcbench.scorecard import scorecard_files

FILE = "fcbench-baseline.json"


HELP = "what a gate compares with: save one from a scorecard"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    save = actions.add_parser("save", help="the verdicts of a scorecard, one line an entry, without answers")
    save.add_argument("scorecard", metavar="SCORECARD", type=Path)
    save.add_argument("--to", metavar="FILE", type=Path, default=Path(FILE), help=f"default: {FILE}")


def run_command(chosen: argparse.Namespace) -> int:
    scorecard = scorecard_files.load(chosen.scorecard)
    if not scorecard.records:
        raise UsageError(f"{chosen.scorecard}: has no entry of a benchmark")
    write(chosen.to, scorecard_files.baseline(scorecard))
    facts = scorecard.facts
    print(f"{chosen.to}: {len(scorecard.records)} tests, model {facts.model} ({facts.mode})")
    unscored = [
        record
        for record in scorecard.records
        if isinstance(verdict := record.verdict(facts.profile), NotScored) and verdict.cause != SET_ASIDE
    ]
    if unscored:
        print(f"{len(unscored)} of them were not scored; a gate compares nothing with those")
    print(f"use it with: pytest --fcbench-baseline={chosen.to} --fcbench-gate='not-worse(95%)'")
    return 0
