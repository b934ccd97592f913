"""The models of a run are opened together, with this process's share of the limits, and closed together."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.pipeline import RateLimit
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.run_models import RunModels


def make_context(tmp_path: Path, **options: object) -> RunContext:
    given = {"model": "openai/x", "store": str(tmp_path / "answers.sqlite"), **options}
    return RunContext(build_settings(given, None, tmp_path))


@pytest.fixture
def closed_stores(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Collect the paths of the stores that are closed."""
    paths: list[Path] = []
    close = AnswerStore.close

    def note_and_close(store: AnswerStore) -> None:
        paths.append(store.path)
        close(store)

    monkeypatch.setattr(AnswerStore, "close", note_and_close)
    return paths


def test_a_share_of_the_limits(tmp_path: Path) -> None:
    models = RunModels(make_context(tmp_path, rpm=100.0, tpm=1000.0, concurrency=8), 0.25)
    assert models.pipeline is not None
    (limits,) = (step.limits for step in models.pipeline.steps if isinstance(step, RateLimit))
    assert (limits.rpm, limits.tpm, limits.concurrency, models.concurrency) == (25.0, 250.0, 2, 2)
    models.close()


def test_closing_closes_the_store(tmp_path: Path, closed_stores: list[Path]) -> None:
    models = RunModels(make_context(tmp_path))
    assert closed_stores == []
    models.close()
    assert closed_stores == [tmp_path / "answers.sqlite"]


def test_what_was_opened_before_an_error_is_closed(tmp_path: Path, closed_stores: list[Path]) -> None:
    """Here the store is open when the recording of the web cannot be."""
    wrong = make_context(tmp_path, category=["web_search"], search="duckduckgo", search_record=str(tmp_path))
    with pytest.raises(UsageError, match="--fcbench-search-record"):
        RunModels(wrong)
    assert closed_stores == [tmp_path / "answers.sqlite"]


def test_a_model_without_a_network_opens_no_store(tmp_path: Path) -> None:
    models = RunModels(make_context(tmp_path, model="oracle"))
    assert models.pipeline is None
    models.close()
    assert not (tmp_path / "answers.sqlite").exists()
