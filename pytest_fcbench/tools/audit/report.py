"""An audit for people and programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from pytest_fcbench.domain.text import shorten
from pytest_fcbench.scorecard.render import tables
from pytest_fcbench.scorecard.render.tables import Table
from pytest_fcbench.tools.audit import distributions
from pytest_fcbench.tools.audit.checks import CHECKS
from pytest_fcbench.tools.audit.distributions import MEASURES, Spread
from pytest_fcbench.tools.audit.findings import Finding, Severity, on_one_line


@dataclass(frozen=True, slots=True)
class Audit:
    """What was looked at and what was found."""

    suite: str
    version: str
    entries: int
    checks: tuple[str, ...]
    """Those that ran."""
    findings: tuple[Finding, ...]
    spreads: Mapping[str, Spread]

    @property
    def title(self) -> str:
        """Of tables and files."""
        return f"Audit of {self.suite} {self.version}: {self.entries:,} entries, {len(self.checks)} checks"

    def count(self, severity: Severity) -> int:
        """Findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def groups(self) -> Iterator[tuple[str, Severity, Sequence[Finding]]]:
        """Findings by check and severity, the most certain first."""
        order = list(Severity)

        def place(finding: Finding) -> tuple[int, int]:
            return order.index(finding.severity), self.checks.index(finding.check)

        for _, found in groupby(sorted(self.findings, key=place), key=place):
            group = list(found)
            yield group[0].check, group[0].severity, group


def lines(audit: Audit, most: int) -> Iterator[str]:
    """The audit as text, at most so many findings of each check and severity."""
    yield from tables.text(counts(audit))
    for check, severity, group in audit.groups:
        yield ""
        yield f"{severity}: {check} ({len(group)}): {CHECKS[check].says}"
        for finding in group[:most]:
            yield f"  {on_one_line(finding.entry):<24}  {shorten(finding.evidence, _LONGEST)}"
        if len(group) > most:
            yield f"  ... and {len(group) - most} more: --show {len(group)}, or --json FILE for all"
        for advice in dict.fromkeys(finding.advice for finding in group[:most]):
            yield f"  to do: {advice}"


_LONGEST = 320


def counts(audit: Audit) -> Table:
    """How often each check found something."""
    found = Counter((finding.check, finding.severity) for finding in audit.findings)
    rows = [
        (
            name,
            *(_number(found[name, severity]) for severity in Severity),
            _number(len({finding.entry for finding in audit.findings if finding.check == name})),
            CHECKS[name].says,
        )
        for name in audit.checks
    ]
    total = ("all", *(f"{audit.count(severity)}" for severity in Severity))
    entries = len({finding.entry for finding in audit.findings})
    columns = ("check", *Severity, "entries", "what it finds")
    return Table(audit.title, columns, (*rows, (*total, f"{entries}", "")), left=frozenset({"what it finds"}))


def _number(count: int) -> str:
    return str(count) if count else "-"


def spread_tables(spreads: Mapping[str, Spread]) -> Sequence[Table]:
    """How the suite is spread: sizes by category, types of parameters and languages of questions."""
    sizes = [
        (name, f"{spread.entries}", *(distributions.summary(spread.of(measure)) for measure in MEASURES))
        for name, spread in spreads.items()
    ]
    columns = ("category", "entries", *(_MEANING[measure] for measure in MEASURES))
    note = "The mean, and least to most in brackets; one number where all are alike."
    total: Counter[str] = sum((spread.types for spread in spreads.values()), Counter())
    spoken: Counter[str] = sum((spread.languages for spread in spreads.values()), Counter())
    return (
        Table("Sizes", columns, tuple(sizes), (note,)),
        _shares("Declared types of parameters", "type", total),
        _shares("Languages of questions, guessed from script and common words", "language", spoken),
    )


_MEANING = {
    "functions": "functions/entry",
    "parameters": "parameters/function",
    "calls": "calls/answer",
    "turns": "turns",
}
_ROWS = 30


def _shares(title: str, column: str, total: Counter[str]) -> Table:
    rows = [(name, f"{count:,}", f"{count / total.total():.1%}") for name, count in total.most_common(_ROWS)]
    return Table(title, (column, "number", "share"), tuple(rows))


def page(audit: Audit) -> str:
    """The audit as a page of its own, with every finding and a drawing for each measure."""
    found = [
        Table(
            f"{severity}: {check} ({len(group)})",
            ("entry", "evidence"),
            tuple((finding.entry, finding.evidence) for finding in group),
            (f"To do: {'; '.join(dict.fromkeys(finding.advice for finding in group))}.",),
            frozenset({"evidence"}),
        )
        for check, severity, group in audit.groups
    ]
    shown = [counts(audit), *found, *spread_tables(audit.spreads)]
    return "\n".join(tables.page(audit.title, shown, list(_charts(audit.spreads))))


_BUCKETS = ((0, 0), (1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, None))


def _charts(spreads: Mapping[str, Spread]) -> Iterator[str]:
    from pytest_fcbench.scorecard.render.charts.plots import bars, letter

    names = [
        f"{low}" if low == high else f"{low}-{high}" if high else f"{low} or more" for low, high in _BUCKETS
    ]
    legend = ", ".join(f"{letter(part)} {name}" for part, name in enumerate(names))
    for measure in MEASURES if spreads else ():
        says = f"{_MEANING[measure]} by category, as shares: {legend}"
        rows = [(name, _bucketed(spread.of(measure))) for name, spread in spreads.items()]
        yield f"<figcaption>{says}</figcaption>{bars(rows, says, shares=True)}"


def _bucketed(counts: Counter[int]) -> Sequence[int]:
    return [
        sum(number for value, number in counts.items() if low <= value <= (value if high is None else high))
        for low, high in _BUCKETS
    ]


def document(audit: Audit) -> str:
    """The audit as JSON."""
    spreads = {
        name: {
            "entries": spread.entries,
            **{measure: _counted(spread.of(measure)) for measure in MEASURES},
            "types": dict(spread.types.most_common()),
            "languages": dict(spread.languages.most_common()),
        }
        for name, spread in audit.spreads.items()
    }
    return json.dumps(
        {
            "schema": "fcbench-audit/1",
            "suite": audit.suite,
            "version": audit.version,
            "entries": audit.entries,
            "checks": list(audit.checks),
            "counts": {severity.value: audit.count(severity) for severity in Severity},
            "findings": [asdict(finding) for finding in audit.findings],
            "distributions": spreads,
        },
        indent=1,
    )


def _counted(counts: Counter[int]) -> Mapping[str, int]:
    return {str(value): counts[value] for value in sorted(counts)}
