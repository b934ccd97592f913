"""docs/platforms.md is true as far as it can be shown here: with checks of the platform that see Windows."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import run

WINDOWS = """\
import sys
from types import SimpleNamespace

from pytest_fcbench.dispatch import answer_store as request_locks
from pytest_fcbench.execution.sandbox import pool

pool.sys = request_locks.sys = SimpleNamespace(platform="win32", executable=sys.executable, path=sys.path)
"""


def test_on_windows_only_entries_whose_calls_are_executed_are_not_scored(tmp_path: Path) -> None:
    run("fcbench init --ci none", tmp_path, tmp_path)
    (tmp_path / "conftest.py").write_text(WINDOWS)
    told = run("pytest benchmarks -q --fcbench-model=oracle -m 'parallel or exec_simple'", tmp_path, tmp_path)
    assert "100.0% passed: 23 of 23" in told
    assert "not scored: 13 of 36 (unsupported_system 13)" in told
    assert "calls can be executed on Linux and macOS only" in told
