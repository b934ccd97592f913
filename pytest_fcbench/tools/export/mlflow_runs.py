"""Scorecards as runs of MLflow, in a database of SQLite with a folder of files beside it."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.tools.export.order import ExportRequest, find_end
from pytest_fcbench.tools.export.tracked_values import collect_numbers, collect_settings

DATABASE = "mlflow.db"
_PARTS = 900
"""Numbers that a request takes at most, rounded down."""
_LONGEST = 500
"""Characters of a setting that every version takes."""


def write_path(order: ExportRequest, path: Path) -> list[str]:
    """Add a run for each scorecard, with its file, and return how to look at them."""
    # Before the import, at which MLflow starts to report its use.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    logging.getLogger("mlflow").setLevel(logging.WARNING)
    folder = path.resolve()
    address = f"sqlite:///{folder / DATABASE}"
    client = MlflowClient(tracking_uri=address)
    name = put_on_one_line(order.name or "fcbench")
    existing_experiment = client.get_experiment_by_name(name)
    experiment = (
        existing_experiment.experiment_id
        if existing_experiment
        else client.create_experiment(name, artifact_location=(folder / "artifacts").as_uri())
    )
    for card in order.cards:
        # A baseline has no time; MLflow takes that of the export then.
        end = find_end(card)
        end_ms = int(1000 * end.timestamp()) if end else None
        run = client.create_run(experiment, start_time=end_ms, run_name=card.path.stem)
        settings = [Param(key, value[:_LONGEST]) for key, value in collect_settings(card).items()]
        numbers = [Metric(key, value, end_ms or 0, 0) for key, value in collect_numbers(card).items()]
        # A request takes 100 settings and 1,000 numbers at most.
        client.log_batch(run.info.run_id, params=settings[:100])
        for start in range(0, len(numbers), _PARTS):
            client.log_batch(run.info.run_id, metrics=numbers[start : start + _PARTS])
        client.log_artifact(run.info.run_id, str(card.path))
        client.set_terminated(run.info.run_id, end_time=end_ms)
    number = len(order.cards)
    runs = f"{number} run{'s' * (number != 1)} written to {path}"
    return [f"{runs}; 'MLFLOW_TRACKING_URI={address} mlflow ui' shows the experiment {name}"]
