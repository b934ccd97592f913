"""Scorecards as runs of experiment trackers, written to a folder; nothing is sent.

MLflow keeps runs in a database of SQLite with a folder of files beside it, Weights & Biases as offline runs,
which ``wandb sync`` sends.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.wording import format_time
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_bill
from pytest_fcbench.scorecard.rows import list_scores
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.tools.export.formats import ExportRequest, describe_conditions, find_end


def collect_settings(card: Scorecard) -> Mapping[str, str]:
    """Collect the settings of a run as texts."""
    facts = card.facts
    settings = {
        "model": facts.model,
        "mode": facts.mode,
        "names": facts.names,
        "syntax": facts.syntax,
        "profile": facts.profile,
        "fcbench": facts.fcbench,
        "commit": facts.commit or "",
        "conditions": "; ".join(describe_conditions(card)),
        "ended": "" if card.created_s is None else format_time(card.created_s),
        **{f"suite.{name}": str(about.get("version")) for name, about in facts.suites.items()},
        **{f"label.{name}": value for name, value in facts.labels.items()},
    }
    return {name_value(name): put_on_one_line(value) for name, value in settings.items()}


def collect_numbers(card: Scorecard) -> Mapping[str, float]:
    """Collect the scores of both profiles with intervals and counts, and cost and latency."""
    numbers: dict[str, float | None] = {}
    for profile in Profile:
        for kind, name, score in list_scores(card.scores(profile)):
            limits = score.interval
            # Both trackers draw names with a common first part beside each other.
            at = "/".join(map(name_value, (profile, *((kind,) if kind != "overall" else ()), name)))
            numbers[f"{at}/accuracy"] = score.accuracy
            numbers[f"{at}/low"] = limits.low if limits else None
            numbers[f"{at}/high"] = limits.high if limits else None
            numbers[f"{at}/scored"] = score.scored
            numbers[f"{at}/not_scored"] = score.not_scored
    usage = asdict(measure_bill(card.records, card.facts.earlier))
    numbers |= {f"usage/{name}": value for name, value in usage.items()}
    return {name: float(value) for name, value in numbers.items() if value is not None}


def name_value(name: str) -> str:
    """Name a value as every tracker takes it: by letters, digits and ``._-``, and by no two names alike."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:100]
    # A dot alone would be a folder.
    if plain == name and plain.strip("."):
        return plain
    return f"{plain.strip('.')}_{hashlib.sha256(name.encode(errors='backslashreplace')).hexdigest()[:8]}"


DATABASE = "mlflow.db"
_PARTS = 900
"""Numbers that a request takes at most, rounded down."""
_LONGEST = 500
"""Characters of a setting that every version takes."""


def write_mlflow_runs(order: ExportRequest, path: Path) -> list[str]:
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


def write_wandb_runs(order: ExportRequest, path: Path) -> list[str]:
    """Write a run for each scorecard and return how to send them."""
    # Before the import, at which wandb starts to report its errors.
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    import wandb

    # Neither the output of this process nor facts of this machine and its repository belong to the run.
    settings = wandb.Settings(
        console="off",
        silent=True,
        disable_git=True,
        save_code=False,
        x_disable_meta=True,
        x_disable_stats=True,
    )
    sentences = []
    for card in order.cards:
        run = wandb.init(
            mode="offline",
            dir=path,
            project=put_on_one_line(order.name or "fcbench"),
            name=put_on_one_line(card.path.stem),
            config=dict(collect_settings(card)),
            settings=settings,
            reinit="create_new",
        )
        run.summary.update(dict(collect_numbers(card)))
        folder = Path(run.dir).parent
        run.finish()
        sentences.append(f"written to {folder}; 'wandb sync {folder}' sends it")
    # The process that writes the files may still have them in memory; this waits for its end.
    wandb.teardown()
    return sentences
