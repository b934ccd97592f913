"""Published outputs of real models with their official verdicts, packed as archives in a folder.

``FCBENCH_REAL`` names the folder, else it is ``real`` beside the oracle. An archive holds results in the
official layout, and either ``verdicts.jsonl`` or the score files that were published with the results.
"""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.cli.sessions import load_entries
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session

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


def judge_results(results: Path, names: Collection[str], options: Mapping[str, object]) -> dict[str, Outcome]:
    """Replay results by the entries with these names; return the outcomes in the official profile, by name.

    ``options`` are those of the run beside the model, by key.
    """
    chosen = {"model": f"replay:{results}", "suite": ["bfcl"], "store": "none", **options}
    with closing(Session(RunContext(build_settings(chosen, None)))) as session:
        entries = load_entries(session.context.suites.values())
        return {name: _judge_entry(session, entries[f"bfcl:{name}"]) for name in names}


def _judge_entry(session: Session, entry: Entry) -> Outcome:
    try:
        verdict = session.judge(entry, session.transcript(entry)).official
    except NotScoredError as error:
        return "not_scored", error.cause
    return verdict.status, verdict.cause if isinstance(verdict, NotScored) else verdict.code


def list_differences(official: Mapping[str, Outcome], ours: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Describe the entries whose outcome is not the official one."""
    return tuple(
        f"{name}: ours {ours.get(name)}, official {right}"
        for name, right in official.items()
        if ours.get(name) != right
    )
