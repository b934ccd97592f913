"""Replayed outputs of real models get the official verdicts, in many syntaxes and layouts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcbench.models.baselines import replay
from tests.parity.comparison import Comparison
from tests.parity.real.published import (
    find_folder,
    judge_results,
    list_archives,
    list_differences,
    read_official_outcomes,
    unpack,
)

ARCHIVES = list_archives()
NEEDS_REAL = pytest.mark.skipif(not ARCHIVES, reason=f"no archives in {find_folder()} (FCBENCH_REAL)")

OVERRULED: Mapping[str, Mapping[str, str]] = {
    # Its calls have dotted names. Its own handler, which is not in the registry, read them as underscored.
    "pr-glyphh-ada-1.1": {"names": "underscored"},
}
"""Options, as a note of the run names them, where the official verdicts were not made as the data look."""


@NEEDS_REAL
@pytest.mark.few(1)
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_every_verdict_is_the_official_one(
    archive: Path,
    pack_cache: Path,
    tmp_path: Path,
    comparisons: list[Comparison],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each entry is put to the replayed model and judged, as the body of its test does."""
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    name = archive.name.removesuffix(".tar.xz")
    results = unpack(archive, tmp_path)
    official = read_official_outcomes(tmp_path)
    assert len(official) > 300
    different = list_differences(official, judge_results(results, official, OVERRULED.get(name, {})))
    comparisons.append(Comparison(name, len(official), 0, len(official), different))
    assert different == ()


def test_a_flipped_verdict_is_found() -> None:
    right = {"simple_python_0": ("passed", None), "simple_python_1": ("failed", "type_error:simple")}
    assert list_differences(right, right) == ()
    assert list_differences(right, {**right, "simple_python_1": ("passed", None)}) != ()
    assert list_differences(right, {**right, "simple_python_1": ("failed", "value_error:string")}) != ()
    assert list_differences(right, {}) != ()


FORMER = {"simple_python": "simple", "simple_java": "java", "simple_javascript": "javascript"}
"""The names that categories had until version 3 of the leaderboard."""


@NEEDS_REAL
def test_the_layout_of_version_3_is_read_as_todays(tmp_path: Path) -> None:
    """One flat folder of files with other names, whose rows have other ids."""
    archive = next(path for path in ARCHIVES if path.name.startswith("v3-"))
    results = unpack(archive, tmp_path / "today")
    (flat := tmp_path / "version_3").mkdir()
    for path in results.rglob("*_result.json"):
        category = path.name.removeprefix("BFCL_v4_").removesuffix("_result.json")
        former = FORMER.get(category, category)
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        renamed = [{**row, "id": row["id"].replace(category, former, 1)} for row in rows]
        lines = "".join(f"{json.dumps(row)}\n" for row in renamed)
        (flat / f"BFCL_v3_{former}_result.json").write_text(lines, encoding="utf-8")
    today, version_3 = replay.load(results), replay.load(flat)
    assert version_3.answers == today.answers
    assert version_3.recorded == today.recorded
