"""Calls that act on an MCP server; entries come from a team's own suites.

Servers are started only with ``--fcbench-mcp``.

The rules in full: ``pytest_fcbench/kinds/server_turns/kind.py``.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.run import Ask, Judge, Score


@pytest.mark.fcbench("mcp")
def test_mcp(entry: Entry, ask: Ask, judge: Judge, score: Score) -> None:
    """The model must leave the server in the state of the truth's, and get what the truth's calls return."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
