"""The official tables (``data_overall.csv`` and its parts): a row for each model, the best first.

A share is written as ``12.50%``; ``N/A`` stands for a category that was not run, and in most columns for a
mean that lacks a category. In the leading column of a table such a category counts as 0. Cost and
latency follow ``answer_statistics``, with two digits. Shares are added up in the official order, so that
halves are rounded to the same side (bfcl-eval, ``eval_runner_helper``).

Lines of an official score file (``BFCL_v4_<category>_score.json``).

The first line holds ``{accuracy, correct_count, total_count}``, for format sensitivity also the spread of the
formats and the three numbers of each; a line for each wrong answer follows, by entry. Their fields, in order,
are those that bfcl-eval's ``eval_runner`` writes:

- of a single-turn entry ``id, model_name, test_category, valid, error, error_type, prompt, model_result_raw,
  model_result_decoded, possible_answer`` (nothing decoded where that failed; texts of both where it gave
  no calls), in irrelevance and relevance ``..., valid, prompt, model_result, decoded_result, error,
  error_type``;
- of an executable entry (officially until April 2025) the same, with calls as text where they are decoded; an
  entry that asks for SQL is like any single-turn one;
- of a multi-turn entry the same with an object as ``error``, which holds the type, and what the calls
  returned or how the states differ; and ``inference_log``, which is empty, as the result files have none;
- of an agentic entry the same, with ``last_non_fc_message`` in the place of what was decoded, and the texts
  as they were compared among the details.

All values are the official ones, except sentences: in ``error``, ``error_message`` and ``sub_error``, and the
texts of errors that calls in an environment return, wherever those are shown.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.domain.prompting import FORMATS
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.kinds.answered_entry import AnsweredEntry
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.scorecard.aggregate.answer_statistics import CostLatency
from pytest_fcbench.scorecard.aggregate.format_sensitivity import measure_spread
from pytest_fcbench.scorecard.aggregate.scores import GROUPS, OVERALL

NA = "N/A"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model with its scores, as the tables show it."""

    name: str
    scores: Mapping[str, Header]
    """Scores by category, of those that were run."""
    usage: CostLatency
    link: str = NA
    organization: str = NA
    license: str = NA


SizeOf: TypeAlias = Callable[[str], int]
"""Returns the number of entries of a category, which is the weight of one that was not run."""


@dataclass(frozen=True, slots=True)
class _Share:
    value: float
    count: int
    whole: bool
    """True where every category in it was run."""


def _compute_share(name: str, model: ModelRow, size_of: SizeOf) -> _Share:
    """Compute the score of a category or a group."""
    if header := model.scores.get(name):
        return _Share(header.accuracy, header.total, whole=True)
    if name not in GROUPS:
        return _Share(0.0, size_of(name), whole=False)
    by_count = GROUPS[name].by_count
    parts = [_compute_share(part, model, size_of) for part in GROUPS[name].parts]
    count = sum(part.count for part in parts)
    total = add_in_order(part.value * part.count if by_count else part.value for part in parts)
    divisor = max(1, count) if by_count else len(parts)
    return _Share(total / divisor, count, all(part.whole for part in parts))


class Raw(float):
    """A number that is written as it is, not as a share."""


_Value: TypeAlias = Callable[[ModelRow, SizeOf], float | str | None]
"""A cell: a share, a number as it is, a text, or None for N/A."""


def _make_cell(kind: str, name: str) -> _Value:
    """Make the cell of a column by its words in the file of columns."""

    def find_value(model: ModelRow, size_of: SizeOf) -> float | str | None:
        formats = model.scores.get("format_sensitivity")
        match kind:
            case "complete":
                share = _compute_share(name, model, size_of)
                return share.value if share.whole else None
            case "partial":  # what was not run counts as 0
                return _compute_share(name, model, size_of).value
            case "overall":
                return add_in_order(
                    _compute_share(part, model, size_of).value * weight for part, weight in OVERALL.items()
                )
            case "usage":  # dollars or seconds
                amount: float | None = getattr(model.usage, name)
                return None if amount is None else str(round(amount, 2))
            case "spread":  # of prompt formats, in points
                return Raw(formats.spread[name]) if formats and formats.spread else None
            case "format":
                header = formats.formats.get(name) if formats else None
                return None if header is None else header.accuracy
        return str(getattr(model, name))

    return find_value


def _read_columns() -> dict[str, dict[str, _Value]]:
    columns: dict[str, dict[str, _Value]] = {}
    for file, cells in read_table(dict[str, dict[str, str]], __file__, "official_columns.toml").items():
        columns[file] = {}
        for column, cell in cells.items():
            kind, _, name = cell.partition(" ")
            if kind == "formats":
                columns[file] |= {f"Config {each.name}": _make_cell("format", each.name) for each in FORMATS}
            else:
                columns[file][column] = _make_cell(kind, name)
    return columns


TABLES = _read_columns()
"""Columns after the rank, by file; the first number decides the rank."""
EXECUTABLE = TABLES.pop("executable")
"""Columns that no official file has today."""


def write_table(columns: Mapping[str, _Value], models: Sequence[ModelRow], size_of: SizeOf) -> str:
    """Write a file as text; there is no new line at its end, as officially."""
    rows = [[value(model, size_of) for value in columns.values()] for model in models]
    # The first number is the score. A row without one goes last, because 1 is above all negated shares.
    rows.sort(key=lambda row: next((-cell for cell in row if isinstance(cell, float)), 1.0))
    text = io.StringIO()
    # Official code joins by commas and quotes nothing; a name with a comma would shift its columns there.
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["Rank", *columns])
    for rank, row in enumerate(rows, 1):
        texts = (
            cell if isinstance(cell, (str, Raw)) else NA if cell is None else f"{cell * 100:.2f}%"
            for cell in row
        )
        writer.writerow([rank, *texts])
    return text.getvalue().removesuffix("\n")


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a score file: the numbers of answers and of right answers in a category."""

    correct: int
    total: int
    formats: Mapping[str, Header] = field(default_factory=dict)
    """The headers of prompt formats by official name, in a category that has prompt formats."""

    @property
    def accuracy(self) -> float:
        """The share of right answers; there must be an answer."""
        return self.correct / self.total

    @property
    def spread(self) -> Mapping[str, float] | None:
        """The spread of the prompt formats; None without any."""
        return measure_spread([header.accuracy for header in self.formats.values()]) if self.formats else None

    @property
    def row(self) -> Mapping[str, object]:
        """The fields of the line."""
        row = {"accuracy": self.accuracy, "correct_count": self.correct, "total_count": self.total}
        if apart := self.spread:
            row |= {f"accuracy_{name}": apart[name] for name in ("max_delta", "variance", "std")}
        return row | {name: header.row for name, header in self.formats.items()}


def build_score_row(answer: AnsweredEntry, model: str, resources: Resources) -> dict[str, object] | None:
    """Build the line on an answer that is officially wrong; None for a right one.

    Its kind must have score files. The content of the result file is judged, in which the error of a call is
    a text like any other.
    """
    entry = answer.entry
    failure = find_kind(entry).describe_official_failure(answer, resources)
    head = {"id": entry.id, "model_name": model, "test_category": entry.category.name, "valid": False}
    return None if failure is None else {**head, **failure}


def write_line(row: Mapping[str, object]) -> str:
    """Write a line of the file in ASCII; values that JSON lacks are written as their text, as officially."""
    json_row: dict[str, object] = {}
    # Field by field, so that one that is nested too deeply does not lose the others.
    for name, value in row.items():
        try:
            json_row[name] = _convert_to_json(value)
        except RecursionError:
            json_row[name] = "(nested too deeply)"
    return json.dumps(json_row)


def _convert_to_json(value: object) -> object:
    if isinstance(value, dict):
        return {
            key if isinstance(key, str | int | float | None) else str(key): _convert_to_json(member)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [_convert_to_json(member) for member in value]
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return str(value)
    return value
