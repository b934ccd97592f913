"""Notes for a user before entries are asked: what will not be scored, and what is not as officially."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import BUILTIN
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.models.official_models import list_dated_ids
from pytest_fcbench.run.context import RunContext


def list_early_notes(context: RunContext, entries: Sequence[Entry]) -> list[str]:
    """List the notes on these entries."""
    without_search = Counter(entry.suite for entry in entries if context.lacks_search(entry))
    notes = [
        f"{count:,} {suite} {'entry' if count == 1 else 'entries'} will not be scored (no_search): each "
        "needs a web search; choose an engine with --fcbench-search=duckduckgo, serpapi or recorded:FILE"
        for suite, count in without_search.items()
    ]
    settings, manner = context.settings, context.manner
    has_official_form = any(entry.judged_category.on_leaderboard for entry in entries)
    if has_official_form and not (settings.read_as or manner.member or context.model.immediate):
        notes += [
            f"{settings.model} is asked in the chat form of any server; the leaderboard asks {name} in a "
            f"form of its own, as --fcbench-as={name} does (--fcbench-as=chat leaves this note out)"
            for name in list_dated_ids(settings.model, manner.prompting.mode)[-1:]
        ]
    notes += describe_free_texts(context, entries)
    searching = {entry.suite for entry in entries if entry.category.name == "memory_vector"}
    return notes + [note for note in describe_vectors(context, searching) if "; officially " in note]


def describe_free_texts(context: RunContext, entries: Iterable[Entry]) -> list[str]:
    """Say how many entries have free text, and in which profile a judge compares it."""
    count = sum(entry.expectation.has_free_text for entry in entries)
    is_judged = context.driven.judge != BUILTIN
    if not count or (is_judged and context.settings.profile is Profile.CORRECTED):
        return []
    of = f"{count:,} {'entry has' if count == 1 else 'entries have'} free text among the arguments"
    if is_judged:
        return [
            f"{of}: the judge counts in the corrected profile; in the official one only the same words pass"
        ]
    return [
        f"{of}, of which only the same words pass; --fcbench-judge=MODEL with --fcbench-profile=corrected "
        "lets others with the same meaning pass"
    ]


def describe_vectors(context: RunContext, names: Iterable[str]) -> list[str]:
    """Describe by what ``memory_vector`` of these suites finds texts."""
    names_by_description: dict[str, list[str]] = {}
    for name in sorted(names):
        names_by_description.setdefault(context.describe_vectors(context.suites[name]), []).append(name)
    of = {
        by: f" of {' and '.join(suites)}" if len(names_by_description) > 1 else ""
        for by, suites in names_by_description.items()
    }
    return [f"memory_vector{suites} finds texts by {by}" for by, suites in of.items()]
