"""``fcbench report``: render one scorecard or several as an HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.cli.output import print_lines, require_other_file
from pytest_fcbench.cli.run_options import declare_run_options
from pytest_fcbench.cli.scorecard_arguments import (
    SCORECARD_OR_LATEST,
    find_latest_scorecard,
    find_runs_folder,
    find_scorecard,
)
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.charts.pages import MOST_SERIES
from pytest_fcbench.run.history import find_run_before

HELP = "render one or several scorecards as an HTML page"
PAGE = "after-a-run"
EXAMPLES = (
    "fcbench report",
    "fcbench report previous latest -o compared.html",
    "fcbench report latest --against previous",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "scorecard",
        nargs="*",
        type=find_scorecard,
        metavar="SCORECARD",
        help=f"{SCORECARD_OR_LATEST}; up to {MOST_SERIES}",
    )
    add(
        *OUTPUT,
        dest="to",
        type=Path,
        default=Path("report.html"),
        metavar="FILE",
        help="file to write (default: report.html)",
    )
    add(
        "--against",
        type=find_scorecard,
        metavar="SCORECARD",
        help="run or baseline that a single run is compared with (default: the run of the same model and "
        "suites that was kept before it)",
    )
    add(
        "--profile",
        choices=[*Profile],
        help="whose verdicts charts show (default: the profile of the first run)",
    )
    declare_run_options(parser, ("config",))


def run_command(arguments: argparse.Namespace) -> int:
    paths: Sequence[Path] = arguments.scorecard or [find_latest_scorecard()]
    if len(paths) > MOST_SERIES:
        raise UsageError(
            f"{len(paths)} scorecards: a report shows at most {MOST_SERIES} side by side; give fewer"
        )
    # Imported late: it brings the suites and what executes their calls.
    from pytest_fcbench.cli.report_page import write_report

    against: Path | None = arguments.against
    if against is None and len(paths) == 1 and (folder := find_runs_folder()):
        against = find_run_before(paths[0], folder)
    require_other_file(arguments.to, [*paths, *([against] if against else [])])
    page = write_report(arguments.to, paths, arguments, against, arguments.profile)
    print_lines(f"note: {note}" for note in page.notes)
    entries = f"{page.entries:,} entr{'y' if page.entries == 1 else 'ies'}"
    cards = f"{len(paths)} scorecard{'s' * (len(paths) != 1)}"
    print(f"{arguments.to}: {cards}, {entries}, {page.size / 1e6:.1f} MB")
    return 0
