"""People's decisions about findings, and the ledger of a suite that follows from them.

A review is a YAML file:

    suite: bfcl
    version: 2026.3.23
    package: bfcl-eval                 # what the heading of the ledger calls it
    decisions:
      - finding: uncallable            # the check that found it
        entries: [live_multiple_862-181-3]
        confirmed: How somebody made sure that it is so.
        decision: set_aside            # or keep
        reason: Why, as the ledger says it.
        source: Where it was told first.   # may be left out

The finding ``read`` stands for what no check sees and somebody found by reading the entry. The ledger lists,
in the order of the review, each entry that is set aside and that the check still finds, or that was read.
Several decisions may concern an entry through different checks, but only one may set it aside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pytest_fcbench.domain.explanation import Severity
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import Given, OneOf, Row, read_row
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.tools.audit.checks import CHECKS
from pytest_fcbench.tools.audit.findings import Finding

READ = "read"
"""The finding of somebody who read an entry; no check has this name."""

_SHOWN = 5
"""The findings and decisions without a counterpart that are named, of each."""
_REVIEWS = Path(__file__).with_name("reviews")

_PLAIN_SCALAR = re.compile(r"[A-Za-z][\w ,.;()/-]*")
_YAML_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")


class Decision(StrEnum):
    """The decision about a finding."""

    SET_ASIDE = "set_aside"
    """The corrected profile does not count the entry."""
    KEEP = "keep"
    """The entry counts: the finding does not make it unanswerable."""


class ReviewedFinding(Row):
    """A decision about some entries."""

    finding: Annotated[str, OneOf("finding", (*CHECKS, READ))]
    entries: list[str]
    confirmed: str
    decision: Annotated[str, OneOf("decision", tuple(Decision))]
    reason: str
    source: Given[str] = None
    """The place where others told it first, such as an issue."""

    @property
    def keys(self) -> Sequence[tuple[str, str]]:
        """Check and entry of each finding that the decision concerns."""
        return [(self.finding, entry) for entry in self.entries]


class Review(Row):
    """The decisions about a suite."""

    suite: str
    version: str
    package: str
    decisions: list[ReviewedFinding]


def find_packaged_review(suite: str) -> Path | None:
    """Return the path of the review of a suite that comes with the package, if there is one."""
    return next((path for path in _REVIEWS.glob("*.yaml") if path.stem == suite), None)


def read_review(path: Path) -> Review:
    """Read a review. Raises ``SuiteError`` with file, line and field."""
    top = Field(read_yaml(path), path)
    review = read_row(top, Review)
    aside: set[str] = set()
    for number, item in enumerate(review.decisions):
        if item.decision == Decision.SET_ASIDE:
            # The ledger gives one reason for each entry.
            if twice := aside.intersection(item.entries):
                fault = f"{min(twice)} is already set aside by a decision above"
                raise top.at("decisions", number).error(fault)
            aside.update(item.entries)
    return review


def build_ledger(review: Review, findings: Sequence[Finding]) -> Mapping[str, str]:
    """Map each entry to set aside to its reason: decided by the review, and found by the named check."""
    finding_keys = {(finding.check, finding.entry) for finding in findings}
    return {
        key[1]: item.reason
        for item in review.decisions
        if item.decision == Decision.SET_ASIDE
        for key in item.keys
        if key in finding_keys or item.finding == READ
    }


def find_vanished(review: Review, findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Find decisions, by check and entry, about findings that do not occur (any more)."""
    finding_keys = {(finding.check, finding.entry) for finding in findings}
    decision_keys = (key for item in review.decisions if item.finding != READ for key in item.keys)
    return (key for key in decision_keys if key not in finding_keys)


def find_undecided(review: Review, findings: Sequence[Finding]) -> Sequence[Finding]:
    """List certain findings about entries without a decision in the review."""
    decided_entries = {entry for item in review.decisions for entry in item.entries}
    return [f for f in findings if f.severity is Severity.CERTAIN and f.entry not in decided_entries]


def write_ledger(review: Review, findings: Sequence[Finding]) -> str:
    """Write the ledger as YAML."""
    title = f"Entries of {review.package} {review.version} that the corrected profile sets aside, and why."
    entries = build_ledger(review, findings).items()
    return "".join([f"# {title}\n", *(f"{_quote(entry)}: {_quote(reason)}\n" for entry, reason in entries)])


def _quote(text: str) -> str:
    """Write a text as YAML reads it back, without quotes where none are needed."""
    is_plain = _PLAIN_SCALAR.fullmatch(text) and text.strip() == text and text.lower() not in _YAML_WORDS
    return text if is_plain else json.dumps(text)


def describe_review(review: Review, findings: Sequence[Finding], checks: Collection[str]) -> Iterator[str]:
    """Describe what a review sets aside, and the first findings and decisions that have no counterpart."""
    aside, backlog = len(build_ledger(review, findings)), find_undecided(review, findings)
    yield f"review: {aside} entries set aside; {len(backlog)} certain findings without a decision"
    for finding in backlog[:_SHOWN]:
        yield f"  no decision: {finding.check} {finding.entry}"
    # A check that was not run found nothing, which says nothing about decisions on its findings.
    stale_decisions = [item for item in find_vanished(review, findings) if item[0] in checks]
    for check, entry in stale_decisions[:_SHOWN]:
        yield f"  decision without a finding: {check} {entry}"
