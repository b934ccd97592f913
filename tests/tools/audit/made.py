"""Facts about a few entries, as checks take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import RecordedCall
from pytest_fcbench.environments.world import Embed
from pytest_fcbench.execution.outcomes import Outcome, Response
from pytest_fcbench.suites import core
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.audit.findings import Finding, SuiteFacts


def make_suite(*entries: Entry) -> Suite:
    """Make a suite of these entries, with the sentences and the world of core."""
    opened = core.open_suite(Path())
    return Suite(
        name="mine",
        version="1",
        pack_sha256=None,
        categories=tuple(dict.fromkeys(entry.category for entry in entries)),
        wording=opened.wording,
        world=opened.world,
        load=lambda category: tuple(entry for entry in entries if entry.category == category),
    )


def make_facts(
    *entries: Entry,
    against: Sequence[Entry] = (),
    threshold: float = 0.8,
    training: Path | None = None,
    unread: dict[str, str] | None = None,
    embed: Embed | None = None,
) -> SuiteFacts:
    """Make what checks look at."""
    suite = make_suite(*entries)
    return SuiteFacts(
        *(suite, entries, _refuse_calls, _refuse_request, None, unread or {}, against, training),
        threshold=threshold,
        embed=embed,
    )


def _refuse_calls(
    calls: Sequence[str], recorded: Sequence[RecordedCall], own: Sequence[str]
) -> tuple[Outcome, ...]:
    raise AssertionError(f"nothing is to be carried out, but {calls} were")


def _refuse_request(call: str) -> Response:
    raise AssertionError(f"nothing is to be asked, but {call} was")


def list_findings(
    check: Callable[[SuiteFacts], Iterable[Finding]], facts: SuiteFacts
) -> list[tuple[str, str, str]]:
    """Return what a check finds: entry, severity and evidence."""
    return [(finding.entry, finding.severity.value, finding.evidence) for finding in check(facts)]
