"""What commands that end in tables have in common: how they are written, and where to."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.run.output_files import write
from pytest_fcbench.scorecard.render.tables import FORMATS
from pytest_fcbench.scorecard.scorecard_files import Scorecard

_ENDINGS = {".md": "markdown", ".csv": "csv", ".html": "html", ".json": "json"}


def declare(parser: argparse.ArgumentParser) -> None:
    """Options of every such command."""
    parser.add_argument(
        "--profile", choices=list(Profile), help="whose verdicts (default: that of the runs, else official)"
    )
    parser.add_argument(
        "--format", choices=list(FORMATS), help="default: what the name of the file says, else text"
    )
    parser.add_argument("--to", type=Path, metavar="FILE", help="write it there instead of printing it")


def format_of(chosen: argparse.Namespace) -> str:
    """The format that was asked for, or that the name of the file asks for."""
    ending = chosen.to.suffix.lower() if chosen.to else ""
    return str(chosen.format or _ENDINGS.get(ending, "text"))


def profile_of(chosen: argparse.Namespace, cards: Sequence[Scorecard]) -> Profile:
    """The profile that was asked for, or that of the runs where they agree."""
    if chosen.profile:
        return Profile(chosen.profile)
    profiles = {card.facts.profile for card in cards}
    return profiles.pop() if len(profiles) == 1 else Profile.OFFICIAL


def split(values: Sequence[str] | None) -> list[str]:
    """Names given one by one or with commas."""
    return [name.strip() for value in values or () for name in value.split(",")]


def show(chosen: argparse.Namespace, lines: Iterable[str], cards: Sequence[Scorecard]) -> None:
    """Print the lines or write them to the file that was named, which must not be one that was read."""
    if chosen.to is None:
        for line in lines:
            print(line)
        return
    if chosen.to.resolve() in {card.path.resolve() for card in cards}:
        raise UsageError(f"--to {chosen.to}: is one of the scorecards; name another file")
    write(chosen.to, "".join(f"{line}\n" for line in lines))
    print(f"written to {chosen.to}")
