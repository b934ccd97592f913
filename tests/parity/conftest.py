"""Where the recorded official verdicts are, and the table that a parity run prints."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from tests.parity.comparison import Comparison

COMPARISONS = pytest.StashKey[list[Comparison]]()


def find_oracle_files(pattern: str) -> list[Path]:
    """Return the files in the oracle folder that ``FCBENCH_ORACLE`` names; none where it is not set."""
    folder = os.environ.get("FCBENCH_ORACLE")
    return sorted(Path(folder).glob(pattern)) if folder else []


@pytest.fixture(scope="session")
def bfcl(pack_cache: Path) -> Suite:
    return open_suite("bfcl", pack_cache)


@pytest.fixture
def comparisons(pytestconfig: pytest.Config) -> list[Comparison]:
    """Return the comparisons to show at the end."""
    return pytestconfig.stash.setdefault(COMPARISONS, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how many records are equal and different, for each file."""
    comparisons = config.stash.get(COMPARISONS, [])
    if not comparisons:
        return
    terminalreporter.section("parity with recorded official verdicts")
    head = f"{'file':<36}{'records':>8}{'equal':>8}{'different':>10}{'no verdict':>11}{'read from raw':>14}"
    terminalreporter.write_line(head)
    for c in comparisons:
        terminalreporter.write_line(
            f"{c.name:<36}{c.records:>8}{c.equal:>8}{len(c.different):>10}{c.without_verdict:>11}{c.read_from_raw:>14}"
        )
    total = f"{sum(c.records for c in comparisons):>8}{sum(c.equal for c in comparisons):>8}"
    terminalreporter.write_line(f"{'all':<36}{total}{sum(len(c.different) for c in comparisons):>10}")
