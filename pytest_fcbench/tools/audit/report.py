"""An audit as text, as a page and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.scorecard.render import tables
from pytest_fcbench.scorecard.render.tables import Table
from pytest_fcbench.tools.audit.checks import CHECKS
from pytest_fcbench.tools.audit.distributions import MEASURES, Distribution, summarize_counts
from pytest_fcbench.tools.audit.findings import Finding, Severity, format_on_one_line

_LONGEST_EVIDENCE = 320
_MOST_SHARES = 30
# Each bucket is wider than the last, because a few entries are many times as large as most.
_BUCKETS = ((0, 0), (1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, None))


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit."""

    suite: str
    version: str
    entries: int
    checks: tuple[str, ...]
    """The checks that ran."""
    findings: tuple[Finding, ...]
    spreads: Mapping[str, Distribution]
    """Distributions by category."""

    @property
    def title(self) -> str:
        """The title of tables and files."""
        return f"Audit of {self.suite} {self.version}: {self.entries:,} entries, {len(self.checks)} checks"

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def groups(self) -> Iterator[tuple[str, Severity, Sequence[Finding]]]:
        """Findings by check and severity, the most certain first."""
        order = list(Severity)

        def rank(finding: Finding) -> tuple[int, int]:
            return order.index(finding.severity), self.checks.index(finding.check)

        for _, found in groupby(sorted(self.findings, key=rank), key=rank):
            group = list(found)
            yield group[0].check, group[0].severity, group


def render_lines(audit: Audit, most: int) -> Iterator[str]:
    """Render the audit as text, with at most ``most`` findings of each check and severity."""
    yield from tables.render_text(_tabulate_counts(audit))
    for check, severity, group in audit.groups:
        yield ""
        yield f"{severity}: {check} ({len(group)}): {CHECKS[check].says}"
        for finding in group[:most]:
            evidence = shorten_text(finding.evidence, _LONGEST_EVIDENCE)
            yield f"  {format_on_one_line(finding.entry):<24}  {evidence}"
        if len(group) > most:
            yield f"  ... and {len(group) - most} more: --show {len(group)}, or use -o FILE.json for all"
        for advice in dict.fromkeys(finding.advice for finding in group[:most]):
            yield f"  to do: {advice}"


def _tabulate_counts(audit: Audit) -> Table:
    """Tabulate the number of findings of each check."""
    found = Counter((finding.check, finding.severity) for finding in audit.findings)
    rows = []
    for name in audit.checks:
        entries = {finding.entry for finding in audit.findings if finding.check == name}
        numbers = (*(found[name, severity] for severity in Severity), len(entries))
        rows.append((name, *(str(number or "-") for number in numbers), CHECKS[name].says))
    entries = {finding.entry for finding in audit.findings}
    total = ("all", *(f"{audit.count(severity)}" for severity in Severity), f"{len(entries)}", "")
    columns = ("check", *Severity, "entries", "what it finds")
    return Table(audit.title, columns, (*rows, total), left=frozenset({"what it finds"}))


def tabulate_distributions(spreads: Mapping[str, Distribution]) -> Sequence[Table]:
    """Tabulate sizes by category, declared types of parameters and languages of questions."""
    sizes = tuple(
        (name, f"{each.entries}", *(summarize_counts(each.measures[measure]) for measure in MEASURES))
        for name, each in spreads.items()
    )
    note = "The mean, with the minimum and the maximum in brackets; one number if all are equal."
    types: Counter[str] = sum((each.types for each in spreads.values()), Counter())
    languages: Counter[str] = sum((each.languages for each in spreads.values()), Counter())
    strata: Counter[str] = sum((each.strata for each in spreads.values()), Counter())
    return (
        Table("Sizes", ("category", "entries", *MEASURES.values()), sizes, (note,)),
        _tabulate_shares("Declared types of parameters", "type", types),
        _tabulate_shares(
            "Languages of questions, guessed from script and common words", "language", languages
        ),
        _tabulate_shares("Strata, by the number of features that make an entry hard", "stratum", strata),
    )


def _tabulate_shares(title: str, column: str, counts: Counter[str]) -> Table:
    rows = [
        (name, f"{count:,}", f"{count / counts.total():.1%}")
        for name, count in counts.most_common(_MOST_SHARES)
    ]
    return Table(title, (column, "number", "share"), tuple(rows))


def render_page(audit: Audit) -> str:
    """Render the audit as an HTML page, with every finding and a chart for each measure."""
    # Imported late, because matplotlib is an extra that a report as text does without.
    from pytest_fcbench.scorecard.render.charts.plots import draw_bars, name_part

    findings = [
        Table(
            f"{severity}: {check} ({len(group)})",
            ("entry", "evidence"),
            tuple((finding.entry, finding.evidence) for finding in group),
            (f"To do: {'; '.join(dict.fromkeys(finding.advice for finding in group))}.",),
            frozenset({"evidence"}),
        )
        for check, severity, group in audit.groups
    ]
    names = [
        f"{low}" if low == high else f"{low}-{high}" if high else f"{low} or more" for low, high in _BUCKETS
    ]
    legend = ", ".join(f"{name_part(part)} {name}" for part, name in enumerate(names))
    charts = []
    for measure, heading in MEASURES.items() if audit.spreads else ():
        caption = f"{heading} by category, as shares: {legend}"
        rows = []
        for name, each in audit.spreads.items():
            counts = each.measures[measure].items()
            parts = [
                sum(number for value, number in counts if low <= value and (high is None or value <= high))
                for low, high in _BUCKETS
            ]
            rows.append((name, parts))
        charts.append(f"<figcaption>{caption}</figcaption>{draw_bars(rows, caption, shares=True)}")
    shown = [_tabulate_counts(audit), *findings, *tabulate_distributions(audit.spreads)]
    return "\n".join(tables.render_page(audit.title, shown, charts))


def render_json(audit: Audit) -> str:
    """Render the audit as JSON."""
    distributions = {
        name: {
            "entries": each.entries,
            **{measure: dict(sorted(each.measures[measure].items())) for measure in MEASURES},
            "types": dict(each.types.most_common()),
            "languages": dict(each.languages.most_common()),
            "strata": dict(each.strata.most_common()),
        }
        for name, each in audit.spreads.items()
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
            "distributions": distributions,
        },
        indent=1,
    )
