"""A session: its conversations, Records and progress."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session


def test_the_time_of_a_run_counts_from_its_start_not_from_that_of_the_machine(tmp_path: Path) -> None:
    """Else a call that waits for the first answer would be told to have days left."""
    with closing(Session(RunContext(build_settings({"model": "oracle"}, None, tmp_path)))) as session:
        session.start([])
        assert 0 <= session.progress().elapsed_s < 60


def test_a_store_that_cannot_be_written_ends_the_run_before_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_write(store: AnswerStore) -> None:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(AnswerStore, "require_writable", refuse_write)
    # Nobody listens there, so a call would be told as the reason.
    options = {"model": "openai/x", "api_base": "http://127.0.0.1:1/v1", "store": str(tmp_path / "a.sqlite")}
    with closing(Session(RunContext(build_settings(options, None, tmp_path)))) as session:
        entries = session.context.selection.entries("simple_python")[:2]
        with pytest.raises(UsageError, match=r"no call was made, because .* readonly database; move it away"):
            session.start(entries)
