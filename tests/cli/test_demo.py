"""``fcbench demo`` tells its story by real runs at a served model."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from tests.cli.conftest import Refusal


def test_the_demo_finds_the_cause_of_the_lost_points_and_repairs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # What the person has set for models of their own does not count, not even in the folder above.
    monkeypatch.setenv("FCBENCH_MODEL", "nonsense")
    (tmp_path / "fcbench.yaml").write_text("model: nonsense\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # it changes the order of what the server prints
    (folder := tmp_path / "below").mkdir()
    monkeypatch.chdir(folder)
    assert main(["demo"]) == 0
    told = capfd.readouterr().out
    before, after = told.split("It is not the model, ")
    assert re.search(r"\nparallel +0 of 9 +0% <- lost\n", before)
    assert re.search(r"\nmultiple +41 of 41 +100% #{25}\n", before)
    assert "62.0% passed: 93 of 150" in before
    assert "the server breaks the right calls: 1 of 2 calls came back" in before
    assert re.search(
        r"in the prompt, .*, 2 times +passed\n  right calls put through, whole +broken\n", before
    )
    assert "3 of these 3 points were lost by the parser" in before
    assert "100.0% passed: 150 of 150" in after
    assert "gate not-worse(95%): held: all changed by +38.00 points" in after
    assert re.search(r"\ncore:parallel_\w+\n  the server breaks", before)
    lines = told.splitlines()
    assert len(lines) <= 50, "it fits two screens"
    assert max(map(len, lines)) <= 80
    card = json.loads((folder / ".fcbench" / "demo" / "scorecard.json").read_text(encoding="utf-8"))
    assert card["summary"]["passed"] == 150


def test_a_folder_that_holds_something_is_refused(tmp_path: Path, run_refused: Refusal) -> None:
    (tmp_path / "note.txt").write_text("mine", encoding="utf-8")
    assert f"{tmp_path}: exists; name a new folder" in run_refused("demo", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]
