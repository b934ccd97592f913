"""The pages of ``fcbench view``: the list of runs, reports about one or several, runs that are going on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock

from pytest_fcbench.cli.report_page import write_report
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.present.charts.pages import MOST_SERIES
from pytest_fcbench.present.html.runs_page import KeptRun, render_runs
from pytest_fcbench.run.history import Run, find_run_before, list_runs
from pytest_fcbench.run.progress_file import list_running
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from pytest_fcbench.server.pages import JSON, ServedPage

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
            return ServedPage(
                render_runs([_describe_run(run) for run in list_runs(self._folder)], str(self._folder))
            )
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
                before = find_run_before(paths[0], self._folder) if len(paths) == 1 else None
                write_report(to, paths, self._chosen, before, None)
                self._reports[key] = to
            return self._reports[key]


def _describe_run(run: Run) -> KeptRun:
    limits = None if run.low is None or run.high is None else Interval(run.low, run.high, "")
    return KeptRun(
        name=run.name,
        ended=run.ended,
        model=run.model,
        suites=", ".join(run.suites),
        passed=run.passed,
        failed=run.failed,
        not_scored=run.not_scored,
        overall=run.overall,
        interval=limits,
        gate=run.gate,
        part=run.narrowed_by,
        labels=", ".join(f"{key}={value}" for key, value in run.labels.items()),
    )
