"""The runs of a project: every scorecard is kept, one file each, and found by a name.

A file is called after the end of its run (UTC) and its model: ``20261123-123005-gpt-4o.json``. Its section
comes first, so that a list of runs reads the beginning of each file and no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard.run_facts import SCHEMA

LATEST, PREVIOUS = "latest", "previous"
_LONGEST_NAME = 60
_SEARCHED = 20
"""The most runs in which an entry is looked for."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was kept, as far as its list shows it."""

    path: Path
    model: str
    profile: str
    suites: tuple[str, ...]
    labels: Mapping[str, str]
    commit: str | None
    narrowed_by: str | None
    """What selected a part of the entries; None for a whole run."""
    passed: int
    failed: int
    not_scored: int

    @property
    def name(self) -> str:
        """The name of its file without the ending."""
        return self.path.stem

    @property
    def ended(self) -> str:
        """Date and time (UTC) of its end, as people write them."""
        day, time = self.name[:8], self.name[9:15]
        return f"{day[:4]}-{day[4:6]}-{day[6:]} {time[:2]}:{time[2:4]}:{time[4:]}"


def write_scorecard(report: Mapping[str, object], indent: int | None) -> str:
    """Write a report as text with its section first."""
    return json.dumps({"fcbench": report["fcbench"], **report}, default=str, indent=indent)


def keep_run(folder: Path, text: str, model: str, ended_s: float) -> Path:
    """Keep the text of a scorecard and return its path. Raises ``FcbenchError``."""
    path = _name_run(folder, model, ended_s)
    write_file(path, text)
    return path


def keep_former_scorecard(folder: Path, scorecard: Path) -> None:
    """Keep the scorecard that a run is about to replace, unless it is kept already.

    It may be of a version that kept no runs, or of a folder that was deleted. What is no scorecard stays out.
    """
    if not scorecard.is_file():
        # Reading a device such as /dev/full never ends.
        return
    try:
        data = scorecard.read_bytes()
        same_size = (path for path in folder.glob("*.json") if path.stat().st_size == len(data))
        if any(path.read_bytes() == data for path in same_size):
            return
        found = json.loads(data)
        section, created = found["fcbench"], float(found["created"])
        if section["schema"] == SCHEMA:
            keep_run(folder, write_scorecard(found, None), str(section["model"]), created)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return


def _name_run(folder: Path, model: str, ended_s: float) -> Path:
    ended = datetime.fromtimestamp(ended_s, UTC).strftime("%Y%m%d-%H%M%S")
    slug = re.sub(r"[^\w.-]+", "-", model)[:_LONGEST_NAME].strip("-.") or "model"
    path, number = folder / f"{ended}-{slug}.json", 1
    while path.exists():
        number += 1
        path = folder / f"{ended}-{slug}-{number}.json"
    return path


def list_runs(folder: Path) -> list[Run]:
    """List the runs of a folder, the newest first; files that are no scorecards are left out."""
    found = (_read_run(path) for path in folder.glob("*.json"))
    # Of two runs that ended within a second the later has a number.
    return sorted(
        (run for run in found if run),
        key=lambda run: (run.name[:15], len(run.name), run.name),
        reverse=True,
    )


def _read_run(path: Path) -> Run | None:
    try:
        text = path.read_text(encoding="utf-8")
        start = re.match(r'\{\s*"fcbench":\s*', text)
        # The tests of a run can take megabytes, which nothing here needs.
        section = (
            json.JSONDecoder().raw_decode(text, start.end())[0] if start else json.loads(text)["fcbench"]
        )
        overall = section["profiles"][section["profile"]]["overall"]
        return Run(
            path,
            str(section["model"]),
            str(section["profile"]),
            tuple(section["suites"]),
            {str(key): str(value) for key, value in section.get("labels", {}).items()},
            section.get("commit"),
            section.get("narrowed_by") or (f"shard {shard}" if (shard := section.get("shard")) else None),
            overall["passed"],
            overall["failed"],
            overall["not_scored"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def find_run(name: str, folder: Path) -> Path:
    """Return the scorecard that a path or the name of a run means. Raises ``UsageError``.

    A name is ``latest``, ``previous``, the beginning of a run's name, a label ``KEY=VALUE`` or the value of
    one; where several runs fit, the newest is meant.
    """
    if Path(name).exists():
        return Path(name)
    runs = list_runs(folder)
    if name in (LATEST, PREVIOUS):
        place = (LATEST, PREVIOUS).index(name)
        if len(runs) > place:
            return runs[place].path
        raise UsageError(
            f"{name}: {folder} has {len(runs)} run{'s' * (len(runs) != 1)}; run pytest first, or give the "
            "path of a scorecard"
        )
    # A label first: a short one may also be the beginning of a run's name.
    if found := [run for run in runs if name in _list_labels(run)] or [
        run for run in runs if run.name.startswith(name)
    ]:
        return found[0].path
    if name.endswith(".json") or "/" in name or not runs:
        raise UsageError(
            f"{name}: cannot be read: No such file or directory; give the path of a readable file"
        )
    names = [text for run in runs for text in (run.name, *_list_labels(run))]
    known = dict.fromkeys([LATEST, PREVIOUS, *names])
    raise UsageError(f"{describe_unknown_name('run', name, known)} 'fcbench runs' lists them.")


def find_run_with(item_id: str, folder: Path) -> Path | None:
    """Return the newest run that has an entry or a trial, among the newest few; None if none has it."""
    # As a node id ends; in a run with trials an entry alone has none.
    needle = json.dumps(f"[{item_id}]")[1:-1]
    for run in list_runs(folder)[:_SEARCHED]:
        if needle in run.path.read_text(encoding="utf-8"):
            return run.path
    return None


def _list_labels(run: Run) -> list[str]:
    return [text for key, value in run.labels.items() for text in (value, f"{key}={value}")]
