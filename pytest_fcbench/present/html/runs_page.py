"""The page of all runs that were kept: open one, compare several, follow one that is going on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fcbench.present.charts.pages import MOST_SERIES
from pytest_fcbench.present.html.templates import generate_page
from pytest_fcbench.scorecard.aggregate.intervals import Interval


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run as the list shows it."""

    name: str
    ended: str
    model: str
    suites: str
    passed: int
    failed: int
    not_scored: int
    overall: float | None
    interval: Interval | None
    """The limits of ``overall``."""
    gate: str | None
    part: str | None
    """The options that selected a part of the entries; None if all were run."""
    labels: str

    @property
    def share(self) -> float | None:
        """The share of the scored entries that passed."""
        scored_count = self.passed + self.failed
        return self.passed / scored_count if scored_count else None


def render_runs(runs: Sequence[KeptRun], folder: str) -> str:
    """Render the list of runs, the newest first."""
    return "".join(
        generate_page(
            "runs.html",
            {"runs": runs, "folder": folder, "most": MOST_SERIES},
            ("runs.js",),
            sources=("connect-src 'self'",),
            form="'self'",
        )
    )
