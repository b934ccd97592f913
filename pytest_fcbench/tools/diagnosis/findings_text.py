"""What was found about failures, as text: each, counts by class, and the agreement of two judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.explanation import AnswerClass, FailureClass
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.tools.diagnosis.root_causes import (
    Agreement,
    DiagnosedFailure,
    Diagnosis,
    Misunderstanding,
    RootCause,
    read_labels,
    render_agreement,
)

_NOT_DIAGNOSED = "not diagnosed"


def render_findings(findings: Sequence[DiagnosedFailure], most: int, *, with_causes: bool) -> Iterator[str]:
    """Render the first ``most`` findings, and the counts of classes and root causes in all of them."""
    for finding in findings[:most]:
        # Of a single answer the reason of the verdict already says all.
        where = finding.verdict.reason if finding.divergence.turn is None else finding.divergence
        yield f"  {finding.item_id:<32}  {finding.divergence.failure:<22}  {make_printable(str(where)):.320}"
        match finding.diagnosis:
            case Diagnosis(cause=cause, misunderstood=subject, turn=turn, explanation=explanation):
                yield f"    {cause}, {subject}, turn {turn}: {' '.join(explanation.split())}"
            case NotScored(cause=why, reason=reason):
                yield f"    {_NOT_DIAGNOSED}: {why}: {reason}"
    if len(findings) > most:
        yield f"and {len(findings) - most} more; --to=FILE writes all, --failures=N shows N here"
    conversations = [f for f in findings if not CATEGORIES[f.category].single_turn]
    answers = [f for f in findings if CATEGORIES[f.category].single_turn]
    for kind, members in (FailureClass, conversations), (AnswerClass, answers):
        if members:
            yield ""
            yield from _render_counts(
                "class", list(kind), [(f.divergence.failure, _name_column(f)) for f in members]
            )
    if with_causes and conversations:
        diagnoses = [f.diagnosis if isinstance(f.diagnosis, Diagnosis) else None for f in conversations]
        for head, member, kinds in (
            ("root cause", "cause", RootCause),
            ("misunderstood", "misunderstood", Misunderstanding),
        ):
            labels = [getattr(each, member, _NOT_DIAGNOSED) for each in diagnoses]
            yield ""
            yield from _render_counts(
                head,
                [*kinds, _NOT_DIAGNOSED],
                list(zip(labels, map(_name_column, conversations), strict=True)),
            )


def _name_column(finding: DiagnosedFailure) -> str:
    """Name the column of a failure: the category of a conversation, the group of an answer."""
    category = CATEGORIES[finding.category]
    return category.group if category.single_turn else category.name.removeprefix("multi_turn_")


def _render_counts(head: str, rows: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Render the counts of classes by column, classes in the order given, without zero rows."""
    counts = Counter(pairs)
    columns = list(dict.fromkeys(column for _, column in pairs))
    cells = {row: [counts[row, column] for column in columns] for row in rows}
    cells = {row: numbers for row, numbers in cells.items() if any(numbers)}
    cells["all"] = [sum(column) for column in zip(*cells.values(), strict=True)]
    yield f"{head:<24}{''.join(f'{name:>14}' for name in columns)}{'all':>8}"
    for row, numbers in cells.items():
        yield f"{row:<24}{''.join(f'{number:>14}' for number in numbers)}{sum(numbers):>8}"


def compare_diagnoses(one: Path, other: Path) -> Iterator[str]:
    """Describe how far the root causes of two files of diagnoses agree."""
    first, second = read_labels(one), read_labels(other)
    if first.model and second.model and first.model != second.model:
        raise UsageError(
            f"{one} is about {first.model}, {other} about {second.model}; give two files about the same run"
        )
    agreement = Agreement(first.by_entry, second.by_entry)
    if agreement.share is None:
        raise UsageError(
            f"{one} and {other} have no entry in common with a root cause in both files; give two "
            f"files about the same entries"
        )
    both = agreement.both
    yield f"{len(both)} conversations have a root cause in both files"
    for labels in (first, second):
        if alone := len(labels.by_entry) - len(both):
            yield f"{alone} have one in {labels.path} only"
    yield from render_agreement(agreement, str(one), str(other), list(RootCause))
    for name in agreement.different:
        yield f"  {name:<32}  {first.by_entry[name]} / {second.by_entry[name]}"
