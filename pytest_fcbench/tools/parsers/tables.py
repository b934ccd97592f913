"""Show examinations: how many calls came back, what became of the others, and the smallest failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_fcbench.present.tables import Table
from pytest_fcbench.tools.parsers.judging import Outcome
from pytest_fcbench.tools.parsers.matrix import Examination, Way

_LEGEND = {
    "answers": "right answers that the syntax can hold",
    "CPU": "milliseconds of processor time for a KB, by token",
    "growth": "exponent of the time of an answer by its length: 1 in proportion, 2 with its square",
}


def tabulate_examinations(
    engine: str, examinations: Sequence[Examination], untested: Mapping[str, str]
) -> Iterator[Table]:
    """Make the tables of an engine."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in untested.items():
        by_reason.setdefault(reason, []).append(name)
    yield Table(
        f"{engine}: right answers that come back exact",
        ("parser", "syntax", "answers", *Way, "CPU", "growth"),
        tuple(map(write_row, examinations)),
        tuple(f"not examined: {', '.join(names)} ({reason})" for reason, names in by_reason.items()),
        left=frozenset({"syntax"}),
        legend=_LEGEND,
    )
    differing_rows = tuple(
        (each.parser, each.examiner.syntax.name, way, *(str(counts.get(outcome, 0)) for outcome in Outcome))
        for each in examinations
        for way, counts in each.outcomes.items()
        if not counts.keys() <= {Outcome.EXACT}
    )
    failure_rows = tuple(
        (
            each.parser,
            each.examiner.syntax.name,
            ", ".join(failure.ways),
            failure.outcome,
            # A row of a table has no room for line ends.
            failure.text.replace("\n", r"\n"),
            failure.reason,
        )
        for each in examinations
        for failure in each.failures
    )
    if differing_rows:
        left_columns = ("parser", "syntax", "way")
        yield Table(
            "what became of the answers",
            (*left_columns, *Outcome),
            differing_rows,
            left=frozenset(left_columns),
        )
        columns = ("parser", "syntax", "way", "outcome", "text", "what came")
        yield Table("the smallest failures", columns, failure_rows, left=frozenset(columns), whole=True)


def write_row(examination: Examination) -> tuple[str, ...]:
    counts = (examination.outcomes.get(way) for way in Way)
    return (
        examination.parser,
        examination.examiner.syntax.name,
        str(examination.count),
        *("-" if each is None else str(each.get(Outcome.EXACT, 0)) for each in counts),
        f"{examination.cpu_s * 1000 / max(examination.size / 1024, 1e-9):.1f}",
        "-" if examination.growth is None else f"{examination.growth:.1f}",
    )
