"""A session: its conversations, Records and progress."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session


def test_the_time_of_a_run_counts_from_its_start_not_from_that_of_the_machine(tmp_path: Path) -> None:
    """Else a call that waits for the first answer would be told to have days left."""
    with closing(Session(RunContext(build_settings({"model": "oracle"}, None, tmp_path)))) as session:
        session.start([])
        assert 0 <= session.progress().elapsed_s < 60
