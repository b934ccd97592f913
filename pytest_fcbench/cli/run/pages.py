"""``fcbench run report`` and ``view``: scorecards as HTML pages, in a file or in the browser."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from threading import Lock

from pytest_fcbench.cli.options import (
    describe_unknown_suite,
    find_openers,
    find_runs_folder,
    load_settings,
    resolve_scorecard,
)
from pytest_fcbench.cli.output import print_lines, require_other_file
from pytest_fcbench.domain.errors import FcbenchError, SuiteError, UsageError, describe_unknown_name
from pytest_fcbench.present.charts.drawing import MOST_SERIES
from pytest_fcbench.present.html.board_page import render_runs
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.history import find_run_before, find_second_file, list_runs
from pytest_fcbench.run.progress_file import list_running
from pytest_fcbench.run.report_page import write_report
from pytest_fcbench.server.pages import JSON, PageServer, ServedPage


def run_report(arguments: argparse.Namespace) -> int:
    paths: Sequence[Path] = add_second_model(arguments.scorecard or [resolve_scorecard()])
    if len(paths) > MOST_SERIES:
        raise UsageError(
            f"{len(paths)} scorecards: a report shows at most {MOST_SERIES} side by side; give fewer"
        )
    against: Path | None = arguments.against
    if against is None and len(paths) == 1 and (folder := find_runs_folder()):
        against = find_run_before(paths[0], folder)
    require_other_file(arguments.to, [*paths, *([against] if against else [])])
    page = write_report(arguments.to, paths, partial(open_context, arguments), against, arguments.profile)
    print_lines(f"note: {note}" for note in page.notes)
    entries = f"{page.entries:,} entr{'y' if page.entries == 1 else 'ies'}"
    cards = f"{len(paths)} scorecard{'s' * (len(paths) != 1)}"
    print(f"{arguments.to}: {cards}, {entries}, {page.size / 1e6:.1f} MB")
    return 0


def add_second_model(paths: Sequence[Path]) -> Sequence[Path]:
    """Put the scorecard of the second model of a run, if it had one, in front of that of the run alone."""
    second_file = find_second_file(paths[0]) if len(paths) == 1 else None
    return [second_file, *paths] if second_file else paths


def open_context(arguments: argparse.Namespace, suite: str) -> RunContext:
    """Open a suite of the project for a report. Raises ``SuiteError`` if there is none of that name."""
    openers = find_openers(arguments)
    if suite not in openers:
        raise SuiteError(describe_unknown_suite(suite, openers))
    return RunContext(load_settings(arguments, suite))


def run_view(arguments: argparse.Namespace) -> int:
    folder = arguments.folder or find_runs_folder()
    if folder is None:
        raise UsageError("no runs are kept; name a folder with 'runs' in fcbench.yaml, or give one")
    if arguments.folder and not folder.is_dir():
        raise UsageError(f"{folder}: not a folder; give one that holds scorecards")
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


_RUN = "/run/"


class RunPages:
    """Finds the page of each address; a report is written into a folder when it is asked for first."""

    def __init__(self, folder: Path, rendered: Path, chosen: argparse.Namespace) -> None:
        self._folder = folder
        self._rendered = rendered
        self._chosen = chosen
        self._reports: dict[tuple[Path, ...], Path] = {}
        # Reports are written one after the other, because suites are read while they are.
        self._writing = Lock()

    def find_page(self, path: str, query: Mapping[str, Sequence[str]]) -> ServedPage | None:
        """Return the page of an address, None where there is none. Raises ``FcbenchError``."""
        if path == "/":
            return ServedPage(render_runs(list_runs(self._folder), str(self._folder)))
        # Asked for by the list again and again; the page itself is not loaded anew.
        if path == "/running.json":
            return ServedPage(json.dumps([asdict(running) for running in list_running(self._folder)]), JSON)
        if path == "/compare":
            return ServedPage(self._write_report(self._find_runs(query.get("run", ()))))
        if path.startswith(_RUN):
            return ServedPage(self._write_report(self._find_runs([path.removeprefix(_RUN)])))
        return None

    def _find_runs(self, names: Sequence[str]) -> Sequence[Path]:
        """Find runs by name, the oldest first. Raises ``UsageError``."""
        if not 1 <= len(names) <= MOST_SERIES:
            raise UsageError(f"{len(names)} runs: choose 1 to {MOST_SERIES}")
        # By the names that there are, so that no other file can be asked for.
        paths_by_name = {run.name: run.path for run in reversed(list_runs(self._folder))}
        if unknown := [name for name in names if name not in paths_by_name]:
            raise UsageError(describe_unknown_name("run", unknown[0], paths_by_name))
        return [path for name, path in paths_by_name.items() if name in names]

    def _write_report(self, paths: Sequence[Path]) -> Path:
        """Return the report about runs, which do not change once they are kept."""
        key = tuple(paths)
        with self._writing:
            if key not in self._reports:
                to = self._rendered / f"{len(self._reports)}.html"
                paths = add_second_model(paths)
                before = find_run_before(paths[0], self._folder) if len(paths) == 1 else None
                write_report(to, paths, partial(open_context, self._chosen), before, None)
                self._reports[key] = to
            return self._reports[key]
