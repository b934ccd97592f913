"""Attributions of lost points as a table with their evidence, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.tables import Table, render_text, wrap_text
from pytest_fcbench.tools.diagnosis.blame import MEANINGS, Attribution, Culprit

_NAMED = 3
"""Entries that a row of the table names."""


@dataclass(frozen=True, slots=True)
class BlamedLoss:
    """A lost point, and who lost it."""

    item_id: str
    category: str
    attribution: Attribution


def tabulate_losses(losses: Sequence[BlamedLoss]) -> Table:
    """Make the table of who lost how many points."""
    rows = []
    for culprit, group in group_losses(losses).items():
        names = ", ".join(each.item_id for each in group[:_NAMED])
        more = ", …" if len(group) > _NAMED else ""
        rows.append((str(culprit), f"{len(group):,}", f"{len(group) / len(losses):.0%}", f"{names}{more}"))
    return Table("", ("lost by", "points", "share", "entries"), tuple(rows), left=frozenset({"entries"}))


def group_losses(losses: Sequence[BlamedLoss]) -> dict[Culprit, list[BlamedLoss]]:
    """Group lost points by who lost them, the most first."""
    groups: dict[Culprit, list[BlamedLoss]] = {}
    for culprit, _ in Counter(each.attribution.culprit for each in losses).most_common():
        groups[culprit] = [each for each in losses if each.attribution.culprit is culprit]
    return groups


def render_losses(
    losses: Sequence[BlamedLoss], lost: int, most: int, width: int, more: str = "--failures=N"
) -> Iterator[str]:
    """Render the table, and below it the evidence of at most so many entries of each row.

    ``more`` are the words by which N of them are shown.
    """
    yield ""
    yield from render_text(tabulate_losses(losses), width)
    if len(losses) < lost:
        yield f"a sample of {len(losses):,} of {lost:,} lost points"
    for culprit, group in group_losses(losses).items():
        yield ""
        yield from wrap_text(f"{culprit}: {MEANINGS[culprit]}", width)
        for loss in group[:most]:
            yield from wrap_text(f"  {loss.item_id}: {loss.attribution.reason}", width, "    ")
            for line in loss.attribution.evidence:
                yield from wrap_text(f"    {line}", width, "      ")
        if len(group) > most:
            yield f"  … and {len(group) - most:,} more; {more} shows N"


def build_document(
    model: str, profile: Profile, lost: int, losses: Sequence[BlamedLoss]
) -> dict[str, object]:
    """Convert attributions to JSON values."""
    counts = Counter(each.attribution.culprit for each in losses)
    return {
        "schema": "fcbench-blame/1",
        "model": model,
        "profile": profile,
        "lost": lost,
        "asked": len(losses),
        "points": {culprit.value: counts[culprit] for culprit in Culprit},
        "entries": [
            {
                "entry": each.item_id,
                "category": each.category,
                "lost_by": each.attribution.culprit,
                "reason": each.attribution.reason,
                "evidence": list(each.attribution.evidence),
            }
            for each in losses
        ],
    }
