"""Published outputs of real models with their official verdicts, packed as archives in a folder.

``FCBENCH_REAL`` names the folder, else it is ``real`` beside the oracle. An archive holds results in the
official layout, and either ``verdicts.jsonl`` or the score files that were published with the results.
"""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

Outcome: TypeAlias = "tuple[str, str | None]"
"""``passed`` or ``failed``, and the official code of a failure."""


def find_folder() -> Path:
    """Return the folder of archives; it may not exist."""
    beside = Path(os.environ.get("FCBENCH_ORACLE", "nowhere")).parent / "real"
    return Path(os.environ.get("FCBENCH_REAL", beside))


def list_archives() -> list[Path]:
    return sorted(find_folder().glob("*.tar.xz"))


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive; return the folder of the results."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    results = [path.parent for path in folder.rglob("*_result.json")]
    return Path(os.path.commonpath(results))


def read_official_outcomes(folder: Path) -> Mapping[str, Outcome]:
    """Return the official outcomes by id; entries on which the official evaluator crashed are left out."""
    if (verdicts := folder / "verdicts.jsonl").exists():
        rows = [json.loads(line) for line in verdicts.read_text("utf-8").splitlines()]
        return {
            row["id"]: ("passed", None) if row["valid"] else ("failed", row["error_type"])
            for row in rows
            if row["valid"] is not None
        }
    return dict(_read_score_files(folder))


def _read_score_files(folder: Path) -> Iterator[tuple[str, Outcome]]:
    """Yield the outcomes of published score files, which list failures only."""
    for path in folder.rglob("*_score.json"):
        head, *rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        failed = {row["id"]: ("failed", row["error"]["error_type"]) for row in rows}
        name = path.name.replace("_score.json", "_result.json")
        (results,) = (each for each in folder.rglob(name) if "score" not in each.parent.parts)
        named = [str(json.loads(line)["id"]) for line in results.read_text("utf-8").splitlines()]
        assert len(named) - len(failed) == head["correct_count"]
        for entry_id in named:
            yield entry_id, failed.get(entry_id, ("passed", None))


def read_our_outcomes(scorecard: Path) -> Mapping[str, Outcome]:
    """Return the outcomes of a scorecard in the official profile, by id."""
    tests = json.loads(scorecard.read_text(encoding="utf-8"))["tests"]
    records = [test["metadata"]["fcbench"] for test in tests]
    verdicts = {record["entry"].partition(":")[2]: record["verdicts"]["official"] for record in records}
    return {name: (verdict["status"], verdict.get("code")) for name, verdict in verdicts.items()}


def list_differences(official: Mapping[str, Outcome], ours: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Describe the entries whose outcome is not the official one."""
    return tuple(
        f"{name}: ours {ours.get(name)}, official {right}"
        for name, right in official.items()
        if ours.get(name) != right
    )
