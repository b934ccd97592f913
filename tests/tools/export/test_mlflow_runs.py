"""Runs of MLflow, read by its client from the database that was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.scorecard.scorecard_files import load_outlines
from tests.factories import FACTS, write_scorecard
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_records

pytest.importorskip("mlflow", reason="the extra mlflow is not installed")

# SQLAlchemy warns of what MLflow does.
pytestmark = pytest.mark.filterwarnings("ignore")
# A run takes half a second; ``test_trackers`` takes all texts.
SOME = list(HOSTILE_TEXTS.values())[::10]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the runs of a harmless scorecard and of some that hold hostile texts."""
    from pytest_fcbench.tools.export.trackers import write_mlflow_runs

    folder = tmp_path_factory.mktemp("mlflow")
    cards = [load_outlines(write_scorecard(folder / "plain.json", make_records()))]
    for number, text in enumerate(SOME):
        facts = replace(FACTS, model=text, labels={text: text})
        path = write_scorecard(folder / f"hostile-{number}.json", make_records(text), facts)
        cards.append(load_outlines(path))
    (told,) = write_mlflow_runs(make_order(*cards, name="compared"), folder / "runs")
    assert told.endswith(
        f"'MLFLOW_TRACKING_URI=sqlite:///{folder}/runs/mlflow.db mlflow ui' shows the experiment compared"
    )
    return folder / "runs"


def find_runs(folder: Path, name: str) -> Any:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{folder}/mlflow.db")
    experiment = client.get_experiment_by_name(name)
    assert experiment is not None
    return client.search_runs([experiment.experiment_id])


def test_a_run_has_the_scores_as_metrics(folder: Path) -> None:
    (run,) = (run for run in find_runs(folder, "compared") if run.info.run_name == "plain")
    metrics = run.data.metrics
    assert metrics["official/category/simple_python/accuracy"] == 0.5
    assert metrics["corrected/category/simple_python/accuracy"] == 1.0
    assert metrics["official/category/simple_python/not_scored"] == 1
    assert metrics["usage/input_tokens"] == 220
    assert run.data.params["model"] == "test"
    assert run.info.status == "FINISHED"


def test_a_run_has_the_scorecard_as_an_artifact(folder: Path) -> None:
    (run,) = (run for run in find_runs(folder, "compared") if run.info.run_name == "plain")
    files = list((folder / "artifacts" / run.info.run_id).rglob("plain.json"))
    assert [file.stat().st_size > 1000 for file in files] == [True]


def test_every_scorecard_is_a_run(folder: Path) -> None:
    assert len(find_runs(folder, "compared")) == 1 + len(SOME)
