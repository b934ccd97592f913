"""Lines of an official score file (``BFCL_v4_<category>_score.json``).

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

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcbench.kinds.answered_entry import AnsweredEntry
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.scorecard.aggregate.format_sensitivity import Spread, measure_spread


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
    def spread(self) -> Spread | None:
        """The spread of the prompt formats; None without any."""
        return measure_spread([header.accuracy for header in self.formats.values()]) if self.formats else None

    @property
    def row(self) -> Mapping[str, object]:
        """The fields of the line."""
        row = {"accuracy": self.accuracy, "correct_count": self.correct, "total_count": self.total}
        if apart := self.spread:
            row |= {f"accuracy_{name}": getattr(apart, name) for name in ("max_delta", "variance", "std")}
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
