"""Replaying published results gives the rows of the official score tables, to the last digit."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import score_metric
from pytest_fcbench.scorecard.scorecard_files import load_outlines
from tests.conftest import ROOT

REPLAY = Path(os.environ.get("FCBENCH_ORACLE", "nowhere")).parent / "replay"
pytestmark = pytest.mark.skipif(not REPLAY.is_dir(), reason="no replay folder beside FCBENCH_ORACLE")

MODELS = {
    "gpt-4o-mini-2024-07-18-FC": "GPT-4o-mini-2024-07-18 (FC)",
    "gpt-4o-mini-2024-07-18": "GPT-4o-mini-2024-07-18 (Prompt)",
}
COLUMNS = {
    "Non-Live Overall Acc": ("groups", "non_live"),
    "Simple AST": ("groups", "simple"),
    "Python Simple AST": ("categories", "simple_python"),
    "Java Simple AST": ("categories", "simple_java"),
    "JavaScript Simple AST": ("categories", "simple_javascript"),
    "Multiple AST": ("categories", "multiple"),
    "Parallel AST": ("categories", "parallel"),
    "Parallel Multiple AST": ("categories", "parallel_multiple"),
    "Irrelevance Detection": ("categories", "irrelevance"),
}


def read_table(name: str) -> dict[str, dict[str, str]]:
    """Return the rows of an official table by the model's display name."""
    with (REPLAY / name).open(encoding="utf-8") as file:
        return {row["Model"]: row for row in csv.DictReader(file)}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("model", "workers"), [*zip(MODELS, [(), ("-n", "2")], strict=True)], ids=["plain", "xdist"]
)
def test_replayed_answers_give_the_official_rows(
    model: str, workers: tuple[str, ...], pack_cache: Path, tmp_path: Path
) -> None:
    scorecard = tmp_path / "scorecard.json"
    command = [sys.executable, "-m", "pytest", "benchmarks", "-q", "-p", "no:cacheprovider", *workers]
    command += [
        "--fcbench-suite=bfcl",
        f"--fcbench-model=replay:{REPLAY / model}",
        f"--fcbench-scorecard={scorecard}",
    ]
    environment = {**os.environ, "FCBENCH_CACHE": str(pack_cache)}
    subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True)
    found = json.loads(scorecard.read_text())["fcbench"]["profiles"]["official"]
    row = read_table("data_non_live.csv")[MODELS[model]]
    ours = {column: f"{found[kind][name]['accuracy']:.2%}" for column, (kind, name) in COLUMNS.items()}
    assert ours == {column: row[column] for column in COLUMNS}
    # The official table counts parts that were not run as 0, which the scorecard itself does not.
    assert found["overall"]["accuracy"] is None
    card = load_outlines(scorecard)
    overall = score_metric("overall", card.records, Profile.OFFICIAL, card.size_of, partial=True)
    assert overall
    assert f"{overall.accuracy:.2%}" == read_table("data_overall.csv")[MODELS[model]]["Overall Acc"]
