"""Scorecards as arguments of commands: a path, or the name of a run that was kept."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fcbench.cli.run_options import WITHOUT_KEYS, build_project_settings
from pytest_fcbench.config.loading import add_environment
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.history import LATEST, PREVIOUS, find_run

SCORECARD = f"scorecard, or name of a run: {LATEST}, {PREVIOUS}, a label ('fcbench runs' lists them)"
"""The help text of such an argument."""
SCORECARD_OR_LATEST = f"{SCORECARD}; default: {LATEST}"


def declare_scorecard(parser: argparse.ArgumentParser) -> None:
    """Declare the argument ``scorecard``, by default the newest run."""
    parser.add_argument(
        "scorecard",
        nargs="?",
        default=LATEST,
        type=find_scorecard,
        metavar="SCORECARD",
        help=SCORECARD_OR_LATEST,
    )


def find_runs_folder() -> Path | None:
    """Return the folder that keeps the runs of this project, None if none does. Raises ``UsageError``."""
    return build_project_settings({**add_environment({}), **WITHOUT_KEYS}, None).runs


def find_scorecard(text: str) -> Path:
    """Return the scorecard that an argument means, for argparse."""
    try:
        return resolve_scorecard(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def resolve_scorecard(text: str) -> Path:
    """Return the path of a scorecard that is named by it, or by its run. Raises ``UsageError``."""
    # A path needs no configuration, which might be broken.
    return Path(text) if Path(text).exists() else _find_run(text)


def find_latest_scorecard() -> Path:
    """Return the scorecard of the newest run. Raises ``UsageError``."""
    return _find_run(LATEST)


def _find_run(name: str) -> Path:
    folder = find_runs_folder()
    return Path(name) if folder is None else find_run(name, folder)
