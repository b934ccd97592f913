"""What an import tells: the counts and the first entries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice

from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.tools.importing.importing_log import ImportCounts

MOST_TOLD = 20
"""Lines that cannot be read and are told; the rest is counted."""


_MOST_SHOWN = 5
_LONGEST_SHOWN = 200
"""Entries and masks that --dry-run shows, and the longest text of them."""


def describe_counts(counts: ImportCounts) -> Iterator[str]:
    """Say what was read, kept and left out, and why."""
    if counts.unread > MOST_TOLD:
        yield f"{counts.unread - MOST_TOLD} more lines could not be read"
    for (function, parameter), times in counts.free_texts.items():
        yield f"free text: {parameter} of {function}, {times} values"
    if counts.judged:
        yield (
            f"marked for a judge: {counts.judged} arguments (most values of such a parameter have five words "
            "or more, differ from each other, and do not occur in the conversation)"
        )
    if counts.masked:
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.masked.items()))
        yield f"masked: {kinds}"
    unread = f", {counts.unread} of them unreadable" if counts.unread else ""
    unread += f", {counts.empty} without a conversation" if counts.empty else ""
    if counts.first_empty:
        yield f"without a conversation: {counts.first_empty}"
    if counts.unanswered:
        yield f"without an answer of the assistant: {counts.unanswered} conversations"
    yield (
        f"read: {counts.lines} lines{unread}, {counts.conversations} conversations, "
        f"{counts.answers} answers of the assistant"
    )
    categories = ", ".join(f"{category} {number}" for category, number in sorted(counts.kept.items()))
    yield f"kept: {counts.kept.total()} entries{f' ({categories})' if categories else ''}"
    yield f"left out: {counts.left_out.total()} answers{':' if counts.left_out else ''}"
    for reason, number in counts.left_out.most_common():
        first = f" (first: {counts.flaws[reason]})" if reason in counts.flaws else ""
        yield f"  {number}  {reason}{first}"


def describe_sample(lines: Iterable[str], counts: ImportCounts) -> Iterator[str]:
    """Show the first entries, and what was masked before and after."""
    for line in islice(lines, _MOST_SHOWN):
        entry = read_json_text(line)
        *before, last = entry["messages"]
        message_text = json.dumps(last["content"] if last.get("content") else last, ensure_ascii=False)
        right = json.dumps(entry.get("expect", "no call"), ensure_ascii=False)
        yield f"{entry['id']}, after {len(before)} earlier messages"
        yield f"  {last['role']}: {message_text[:_LONGEST_SHOWN]}"
        yield f"  right: {right[:_LONGEST_SHOWN]}"
    for original, mask in islice(counts.writings.items(), _MOST_SHOWN):
        yield f"mask: {original} -> {mask}"
