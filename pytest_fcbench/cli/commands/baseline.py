"""``fcbench baseline``: what a gate compares with, small enough to be committed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import SET_ASIDE, NotScored
from pytest_fcbench.run.output_files import write
from pytest_fcbench.scorecard import scorecard_files

if TYPE_CHECKING:
    from pytest_fcbench.cli.command import Commands

FILE = "fcbench-baseline.json"


def register(commands: Commands) -> None:
    """Declare the command."""
    baseline = commands.add_parser("baseline", help="what a gate compares with: save one from a scorecard")
    actions = baseline.add_subparsers(required=True, metavar="ACTION")
    save = actions.add_parser("save", help="the verdicts of a scorecard, one line an entry, without answers")
    save.add_argument("scorecard", metavar="SCORECARD", type=Path)
    save.add_argument("--to", metavar="FILE", type=Path, default=Path(FILE), help=f"default: {FILE}")
    save.set_defaults(run=_save)


def _save(chosen: argparse.Namespace) -> int:
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
