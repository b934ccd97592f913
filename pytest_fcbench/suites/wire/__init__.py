"""The embedded suite ``wire``: checks of any endpoint that speaks OpenAI's interface with tools."""

from __future__ import annotations

from pathlib import Path

from pytest_fcbench.suites.custom import open_own
from pytest_fcbench.suites.suite import Suite

NAME = "wire"


def open_suite(cache: Path) -> Suite:
    """Open the suite; its version is the beginning of the hash of its files."""
    return open_own(NAME, Path(__file__).parent)
