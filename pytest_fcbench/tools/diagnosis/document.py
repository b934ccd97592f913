"""Diagnoses as JSON, and the labels in such a file, given by a judge or a person.

    {"schema": "fcbench-diagnosis/1", "model": "gpt-4o", "profile": "official", "judge": "openai/x",
     "entries": [{"entry": "core:multi_turn_base_0", ...,
                  "root_cause": {"class": "current_state", "misunderstood": "environment_state",
                                 "turn": 2, "explanation": "..."}}, ...]}

In a file with a person's labels each entry needs only its name and the class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.failure import Divergence
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.scorecard.scorecard_files import parse_file
from pytest_fcbench.tools.diagnosis.root_causes import Diagnosis, RootCause

SCHEMA = "fcbench-diagnosis/1"


@dataclass(frozen=True, slots=True)
class DiagnosedFailure:
    """A failed conversation or answer. ``diagnosis`` is None where no judge was asked."""

    item_id: str
    category: str
    verdict: Failed
    divergence: Divergence
    diagnosis: Diagnosis | NotScored | None = None


def build_document(
    findings: Sequence[DiagnosedFailure], *, model: str, profile: Profile, judge: str | None
) -> dict[str, object]:
    """Convert all findings to JSON values."""
    entries: list[dict[str, object]] = []
    for finding in findings:
        divergence = asdict(finding.divergence)
        entry: dict[str, object] = {
            "entry": finding.item_id,
            "category": finding.category,
            "code": finding.verdict.code,
            "reason": finding.verdict.reason,
            "class": divergence.pop("failure"),
            "divergence": divergence,
        }
        match finding.diagnosis:
            case Diagnosis(cause=cause, misunderstood=subject, turn=turn, explanation=explanation):
                entry["root_cause"] = {
                    "class": cause.value,
                    "misunderstood": subject.value,
                    "turn": turn,
                    "explanation": explanation,
                }
            case NotScored(cause=why, reason=reason):
                entry["not_diagnosed"] = {"cause": str(why), "reason": reason}
        entries.append(entry)
    return {"schema": SCHEMA, "model": model, "profile": profile, "judge": judge, "entries": entries}


@dataclass(frozen=True, slots=True)
class Labels:
    """The root causes in a file, by item id."""

    path: Path
    model: str | None
    by_entry: Mapping[str, str]


def read_labels(path: Path) -> Labels:
    """Read the labels of a file; entries without a root cause are skipped. Raises ``UsageError``."""
    document = parse_file(path)
    if (
        not isinstance(document, dict)
        or document.get("schema") != SCHEMA
        or not isinstance(document.get("entries"), list)
    ):
        raise UsageError(
            f"{path}: not a file of diagnoses: it must have 'schema': {SCHEMA!r} and a list 'entries'"
        )
    by_entry: dict[str, str] = {}
    for number, row in enumerate(document["entries"], 1):
        name, cause = (row.get("entry"), row.get("root_cause")) if isinstance(row, dict) else (None, None)
        if not isinstance(name, str) or name in by_entry:
            raise UsageError(f"{path}: entry {number} must have a name under 'entry' that no other entry has")
        if cause is None:
            continue
        label = cause.get("class") if isinstance(cause, dict) else None
        if label not in list(RootCause):
            raise UsageError(f"{path}: {name}: {describe_unknown_name('class', str(label), RootCause)}")
        by_entry[name] = str(label)
    if not by_entry:
        raise UsageError(f"{path}: no entry has a root cause; add the diagnoses of a judge or a person")
    model = document.get("model")
    return Labels(path, model if isinstance(model, str) else None, by_entry)
