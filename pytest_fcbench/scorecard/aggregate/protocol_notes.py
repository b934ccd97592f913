"""Counts of answers whose server broke the interface that it speaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytest_fcbench.domain.protocol_notes import FAILURES, describe_note, merge_notes
from pytest_fcbench.scorecard.record import Record


def describe_protocol_notes(records: Iterable[Record]) -> list[str]:
    """Describe for each code of a protocol note how many answers have it; no verdict depends on it."""
    counts = Counter(
        str(code)
        for record in records
        for turn in record.turns
        for answer in turn
        if isinstance(codes := answer.get("protocol"), (list, tuple))
        for code in codes
    )
    notes = []
    for code in merge_notes(counts):
        effect = "failed before it gave" if code in FAILURES else "broke the protocol in"
        answers = f"{counts[code]:,} answer{'s' * (counts[code] > 1)}"
        notes.append(f"the server {effect} {answers} ({code}): {describe_note(code)}")
    return notes
