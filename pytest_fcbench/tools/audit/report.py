"""An audit as text, as a page and as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from textwrap import wrap

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.explanation import Severity
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.present import tables
from pytest_fcbench.present.charts import marks
from pytest_fcbench.present.html.templates import TABLES, generate_page
from pytest_fcbench.present.tables import Table
from pytest_fcbench.scorecard.aggregate.scores import SUITES
from pytest_fcbench.tools.audit.checks import CHECKS
from pytest_fcbench.tools.audit.duplicates import ALIKE
from pytest_fcbench.tools.audit.findings import Check, Finding, format_on_one_line
from pytest_fcbench.tools.audit.strata import MEASURES, Distribution, summarize_counts

_LONGEST_EVIDENCE = 320
_MOST_SHARES = 30


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
    uncounted: frozenset[str] = frozenset()
    """The entries, and the unreadable categories, that no score counts."""
    tasks: int | None = None
    """Distinct tasks; None where nobody counted them."""

    @property
    def title(self) -> str:
        """The title of tables and files, which says first how much of what is certain can change a score."""
        title = f"Audit of {self.suite} {self.version}: {self.entries:,} entries, {len(self.checks)} checks"
        if not self.has_uncounted:
            return title
        certain, scoring_count = self.count(Severity.CERTAIN), self.count(Severity.CERTAIN, is_counted=True)
        return f"{title}; {scoring_count} of {certain} certain findings can change a score"

    def count(self, severity: Severity, *, is_counted: bool | None = None) -> int:
        """Count the findings of a severity: all, or those of entries that a score counts or does not."""
        return sum(
            finding.severity is severity and is_counted in (None, self.is_counted(finding))
            for finding in self.findings
        )

    def is_counted(self, finding: Finding) -> bool:
        """Tell whether a score counts the entry of a finding, so that it can change one."""
        return finding.entry not in self.uncounted

    @property
    def has_uncounted(self) -> bool:
        """True where a finding is about an entry that no score counts."""
        return not all(map(self.is_counted, self.findings))

    @property
    def trained(self) -> Sequence[str] | None:
        """The entries that are in the training data; None where they were not compared with any."""
        training_checks = [name for name in self.checks if CHECKS[name].needs == "training"]
        trained_entries = {finding.entry for finding in self.findings if finding.check in training_checks}
        return sorted(trained_entries) if training_checks else None

    @property
    def groups(self) -> Iterator[tuple[str, Severity, Sequence[Finding]]]:
        """Findings by check and severity: first those that can change a score, the most certain first."""
        order = list(Severity)

        def rank(finding: Finding) -> tuple[bool, int, int]:
            place = order.index(finding.severity), self.checks.index(finding.check)
            return not self.is_counted(finding), *place

        for _, ranked_findings in groupby(sorted(self.findings, key=rank), key=rank):
            group = list(ranked_findings)
            yield group[0].check, group[0].severity, group


def find_uncounted(suite: str, entries: Iterable[Entry], unread: Iterable[str]) -> frozenset[str]:
    """Find the entries and unreadable categories that no score counts; in a team's own suite all count."""
    if suite not in SUITES:
        return frozenset()
    left_out = {name for name in unread if not CATEGORIES[name].scored}
    return frozenset({entry.id for entry in entries if not entry.category.scored} | left_out)


def render_lines(audit: Audit, most: int, width: int = tables.WIDTH) -> Iterator[str]:
    """Render the audit as text, with at most ``most`` findings of each check and severity."""
    table = _tabulate_counts(audit)
    yield from tables.render_text(table, width) if table.rows else (table.title, *table.notes)
    part = None
    for check, severity, group in audit.groups:
        is_counted = audit.is_counted(group[0])
        if audit.has_uncounted and is_counted is not part:
            counts = ", ".join(f"{audit.count(each, is_counted=is_counted)} {each}" for each in Severity)
            what = "that a score counts" if is_counted else "that no score counts"
            yield from ("", f"Findings in entries {what}: {counts}")
            part = is_counted
        yield ""
        yield f"{severity}: {check} ({len(group)}): {CHECKS[check].says}"
        for finding in group[:most]:
            evidence = format_on_one_line(shorten_text(finding.evidence, _LONGEST_EVIDENCE))
            line = f"  {format_on_one_line(finding.entry):<24}  {evidence}"
            yield from wrap(
                line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
            )
        if len(group) > most:
            yield f"  ... and {len(group) - most} more: --show {len(group)}, or use -o FILE.json for all"
        for advice in dict.fromkeys(finding.advice for finding in group[:most]):
            yield from wrap(f"  to do: {advice}", width, subsequent_indent="    ")


def _tabulate_counts(audit: Audit) -> Table:
    """Tabulate the number of findings of each check that has any; the others are named below."""
    counted_checks = [count_findings(audit, name) for name in audit.checks]
    rows = [
        (
            each.check.name,
            *(str(number or "-") for number in (*each.by_severity, each.entries)),
            each.check.says,
        )
        for each in counted_checks
        if each.entries
    ]
    if rows:
        entries = {finding.entry for finding in audit.findings}
        rows.append(("all", *(f"{audit.count(severity)}" for severity in Severity), f"{len(entries)}", ""))
    clean = [each.check.name for each in counted_checks if not each.entries]
    notes = (f"nothing found by {', '.join(clean)}",) if clean else ()
    columns = ("check", *Severity, "entries", "what it finds")
    return Table(audit.title, columns, tuple(rows), notes, frozenset({"what it finds"}))


def tabulate_distributions(audit: Audit) -> Sequence[Table]:
    """Tabulate sizes by category, declared types of parameters, languages of questions and strata."""
    spreads = audit.spreads
    sizes = tuple(
        (name, f"{each.entries}", *(summarize_counts(each.measures[measure]) for measure in MEASURES))
        for name, each in spreads.items()
    )
    notes = ["The mean, with the minimum and the maximum in brackets; one number if all are equal."]
    if audit.tasks is not None:
        notes.append(
            f"{audit.tasks:,} distinct task{'s' * (audit.tasks != 1)}: questions with a ROUGE-L of "
            f"{ALIKE} or more, or made from one another, count once."
        )
    all_tables = [Table("Sizes", ("category", "entries", *MEASURES.values()), sizes, tuple(notes))]
    for member, column, title in (
        ("types", "type", "Declared types of parameters"),
        ("languages", "language", "Languages of questions, guessed from script and common words"),
        ("strata", "stratum", "Strata, by the number of features that make an entry hard"),
    ):
        counts: Counter[str] = sum((getattr(each, member) for each in spreads.values()), Counter())
        shares = [
            (name, f"{count:,}", f"{count / counts.total():.1%}")
            for name, count in counts.most_common(_MOST_SHARES)
        ]
        all_tables.append(Table(title, (column, "number", "share"), tuple(shares)))
    return [table for table in all_tables if table.rows]


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
            "distinct_tasks": audit.tasks,
            "checks": list(audit.checks),
            "counts": {severity.value: audit.count(severity) for severity in Severity},
            "counts_in_scores": {
                severity.value: audit.count(severity, is_counted=True) for severity in Severity
            },
            "trained": audit.trained,
            "findings": [
                {**asdict(finding), "counts_in_scores": audit.is_counted(finding)}
                for _, _, group in audit.groups
                for finding in group
            ],
            "distributions": distributions,
        },
        indent=1,
    )


# Each bucket is wider than the last, because a few entries are many times as large as most.
_BUCKETS = ((0, 0), (1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, None))
_BUCKET_NAMES = [
    f"{low}" if low == high else f"{low}–{high}" if high else f"{low} or more" for low, high in _BUCKETS
]


@dataclass(frozen=True, slots=True)
class Counted:
    """A check with the number of its findings."""

    check: Check
    by_severity: Sequence[int]
    entries: int
    changing: int
    """The findings that can change a score."""


def render_page(audit: Audit) -> str:
    """Render the audit as an HTML page, with every finding and a bar of each measure and category."""
    checks = [count_findings(audit, name) for name in audit.checks]
    reporting_checks = [each for each in checks if each.entries]
    # A stable sort: checks stay in their order where they change as much.
    reporting_checks.sort(key=lambda each: (each.changing == 0, [-number for number in each.by_severity]))
    values = {
        "audit": audit,
        "severities": list(Severity),
        "found": reporting_checks,
        "silent": [each.check for each in checks if not each.entries],
        "groups": list(_address_groups(audit)),
        "tables": tabulate_distributions(audit) if audit.spreads else (),
        "legend": [(marks.draw_shade(part, len(_BUCKETS)), name) for part, name in enumerate(_BUCKET_NAMES)],
        "measures": list(_draw_measures(audit)) if audit.spreads else [],
    }
    return "".join(generate_page(Path(__file__).with_name("audit.html"), values, (TABLES,)))


def count_findings(audit: Audit, name: str) -> Counted:
    findings = [finding for finding in audit.findings if finding.check == name]
    severities = Counter(finding.severity for finding in findings)
    return Counted(
        CHECKS[name],
        [severities[severity] for severity in Severity],
        len({finding.entry for finding in findings}),
        sum(map(audit.is_counted, findings)),
    )


def _address_groups(audit: Audit) -> Iterator[tuple[Check, Severity, bool, Sequence[tuple[str, Finding]]]]:
    """Yield the groups with whether a score counts their entries, and each finding with an address.

    An address has the check and the entry, and a number if needed.
    """
    counts: Counter[str] = Counter()
    for check, severity, findings in audit.groups:
        addressed_findings = []
        for finding in findings:
            # Ids of entries come from files, and an address holds few signs as they are.
            place = re.sub(r"[^\w.:-]", "_", f"{check}:{finding.entry}", flags=re.ASCII)
            counts[place] += 1
            addressed_findings.append((f"{place}-{counts[place]}" if counts[place] > 1 else place, finding))
        yield CHECKS[check], severity, audit.is_counted(findings[0]), addressed_findings


def _draw_measures(audit: Audit) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """Yield each size with its distribution in each category, as a bar."""
    for measure, heading in MEASURES.items():
        bars = []
        for category, spread in audit.spreads.items():
            counts = spread.measures[measure].items()
            parts = [
                sum(number for value, number in counts if low <= value and (high is None or value <= high))
                for low, high in _BUCKETS
            ]
            shares = (
                f"{name}: {count / sum(parts):.0%}"
                for name, count in zip(_BUCKET_NAMES, parts, strict=True)
                if count
            )
            bars.append((category, marks.draw_parts(parts, ", ".join(shares) or "none")))
        yield heading, bars
