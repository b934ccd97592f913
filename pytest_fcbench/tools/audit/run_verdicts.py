"""The verdicts of real runs on the entries of a suite, from tables of them and from scorecards."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.scorecard.scorecard_files import Scorecard


@dataclass(frozen=True, slots=True)
class RunVerdicts:
    """The verdicts of one run: whether it passed each entry, by id."""

    name: str
    passed: Mapping[str, bool]


def read_verdict_matrix(path: Path) -> list[RunVerdicts]:
    """Read a table of verdicts as CSV, ``.gz`` or not: a row for each entry, a column for each run.

    The first column, ``entry``, has the ids; a cell is 1 (passed), 0 (failed) or empty (not answered).
    Raises ``UsageError`` with the line of any other cell.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open() as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read as a table of verdicts: {error}; give a CSV file") from None
    if not rows or rows[0][:1] != ["entry"] or len(rows[0]) < 2:
        raise UsageError(f"{path}: the first line must be entry,RUN,… with a name for each run")
    verdicts: list[dict[str, bool]] = [{} for _ in rows[0][1:]]
    for number, (entry, *cells) in enumerate(rows[1:], 2):
        if len(cells) != len(verdicts):
            raise UsageError(
                f"{path}:{number}: {len(cells)} verdicts for {len(verdicts)} runs; write a comma for each run"
            )
        for of, cell in zip(verdicts, cells, strict=True):
            if cell not in ("0", "1", ""):
                raise UsageError(f"{path}:{number}: {cell!r} must be 1, 0 or empty")
            if cell:
                of[entry] = cell == "1"
    return [RunVerdicts(name, of) for name, of in zip(rows[0][1:], verdicts, strict=True)]


def read_scorecard_verdicts(card: Scorecard, suite: str) -> RunVerdicts:
    """Read the official verdicts on the entries of a suite; of several trials the last counts."""
    return RunVerdicts(
        card.facts.model,
        {
            record.entry.partition(":")[2]: verdict.passed
            for record in card.records
            if record.suite == suite and not isinstance(verdict := record.verdicts.official, NotScored)
        },
    )
