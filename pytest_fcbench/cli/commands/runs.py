"""``fcbench runs``: list the runs that were kept."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from pytest_fcbench.cli.output import declare_json, find_width, print_json, print_lines
from pytest_fcbench.cli.run_options import require_at_least
from pytest_fcbench.cli.scorecard_arguments import find_runs_folder
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.present.tables import Table, render_text
from pytest_fcbench.run.history import list_runs

HELP = "list the runs that were kept, the newest first"
PAGE = "after-a-run"
EXAMPLES = (
    "fcbench runs",
    "fcbench runs --json",
)
_SHOWN = 20


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--limit", type=int, default=_SHOWN, metavar="N", help=f"list at most N runs (default: {_SHOWN})"
    )
    declare_json(parser)


def run_command(arguments: argparse.Namespace) -> int:
    require_at_least(1, arguments, "limit")
    folder = find_runs_folder()
    if folder is None:
        raise UsageError("runs: none: no runs are kept; name a folder with 'runs' in fcbench.yaml")
    runs = list_runs(folder)
    if arguments.json:
        print_json([asdict(run) for run in runs[: arguments.limit]])
        return 0
    if not runs:
        print(f"{folder} has no runs; run pytest first")
        return 0
    columns = ("run", "ended (UTC)", "passed", "failed", "not scored", "entries", "labels", "commit")
    rows = []
    for run in runs[: arguments.limit]:
        counts = (f"{number:,}" for number in (run.passed, run.failed, run.not_scored))
        labels = ", ".join(f"{key}={value}" for key, value in run.labels.items())
        part = "all" if run.narrowed_by is None else f"part ({run.narrowed_by})"
        rows.append((run.name, run.ended, *counts, part, labels, (run.commit or "")[:8]))
    print_lines(render_text(Table("", columns, tuple(rows)), find_width()))
    if len(runs) > arguments.limit:
        print(f"and {len(runs) - arguments.limit} more: --limit={len(runs)}")
    return 0
