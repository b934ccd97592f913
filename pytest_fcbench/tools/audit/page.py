"""An audit as a page: what changes a score first, every finding with an address of its own, sizes as bars."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.domain.flaw import Severity
from pytest_fcbench.present.charts import marks
from pytest_fcbench.present.html.templates import TABLES, generate_page
from pytest_fcbench.tools.audit.checks import CHECKS
from pytest_fcbench.tools.audit.distributions import MEASURES
from pytest_fcbench.tools.audit.findings import Check, Finding
from pytest_fcbench.tools.audit.report import Audit, tabulate_distributions

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


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The findings of a check and severity, about entries that a score counts or about others."""

    check: Check
    severity: Severity
    is_counted: bool
    findings: Sequence[tuple[str, Finding]]
    """Each with the id of its place in the page."""

    @property
    def advice(self) -> str:
        """The advice of all findings, each once, in one line."""
        return "; ".join(dict.fromkeys(finding.advice for _, finding in self.findings))


@dataclass(frozen=True, slots=True)
class SizeMeasure:
    """A size with its distribution in each category, as a bar."""

    name: str
    bars: Sequence[tuple[str, str]]


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
        "groups": list(address_groups(audit)),
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


def address_groups(audit: Audit) -> Iterator[FindingGroup]:
    """Yield the groups of findings; the id of a place has the check and the entry, and a number if needed."""
    counts: Counter[str] = Counter()
    for check, severity, findings in audit.groups:
        addressed_findings = []
        for finding in findings:
            # Ids of entries come from files, and an address holds few signs as they are.
            place = re.sub(r"[^\w.:-]", "_", f"{check}:{finding.entry}", flags=re.ASCII)
            counts[place] += 1
            addressed_findings.append((f"{place}-{counts[place]}" if counts[place] > 1 else place, finding))
        yield FindingGroup(CHECKS[check], severity, audit.is_counted(findings[0]), addressed_findings)


def _draw_measures(audit: Audit) -> Iterator[SizeMeasure]:
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
        yield SizeMeasure(heading, bars)
