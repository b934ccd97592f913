"""``fcbench view``: show the runs of a project in the browser, and follow one that is going on."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import suppress
from pathlib import Path

from pytest_fcbench.cli.run_options import declare_run_options
from pytest_fcbench.cli.scorecard_arguments import find_runs_folder
from pytest_fcbench.domain.errors import FcbenchError, UsageError

HELP = "show the runs that were kept in the browser, compare them, follow one that is going on"
PAGE = "after-a-run"
EXAMPLES = (
    "fcbench view",
    "fcbench view .fcbench/runs --port 0",
)
_PORT = 8070


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "folder",
        nargs="?",
        type=Path,
        metavar="FOLDER",
        help="folder of scorecards (default: the one in which the project keeps its runs)",
    )
    add(
        "--port",
        type=int,
        default=_PORT,
        help=f"port of 127.0.0.1; 0 picks a free one (default: {_PORT})",
    )
    declare_run_options(parser, ("config",))


def run_command(arguments: argparse.Namespace) -> int:
    folder = arguments.folder or find_runs_folder()
    if folder is None:
        raise UsageError("no runs are kept; name a folder with 'runs' in fcbench.yaml, or give one")
    if arguments.folder and not folder.is_dir():
        raise UsageError(f"{folder}: not a folder; give one that holds scorecards")

    # Imported late: they bring the suites and what executes their calls.
    from pytest_fcbench.cli.run_pages import RunPages
    from pytest_fcbench.server.pages import PageServer

    with tempfile.TemporaryDirectory(prefix="fcbench-") as report_folder:
        try:
            server = PageServer(arguments.port, RunPages(folder, Path(report_folder), arguments).find_page)
        except (OSError, OverflowError) as error:
            raise FcbenchError(
                f"--port={arguments.port}: {error}; give another port, or 0 for any free one"
            ) from None
        with server:
            print(f"runs of {folder} at {server.address}\nend it with Ctrl-C", flush=True)
            with suppress(KeyboardInterrupt):
                server.serve_forever()
    return 0
