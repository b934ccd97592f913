"""``fcbench diagnose``: why the conversations of a scorecard failed, by rules and by a judge."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.cli.held_conversations import entries_of, replayed
from pytest_fcbench.cli.judge_options import ENDPOINT, LIMITS, agreed, asked, judge_of
from pytest_fcbench.cli.run_options import declare, require_at_least, settings_of
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.text import printable
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.run.output_files import write
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites import core
from pytest_fcbench.tools.diagnosis.agreement import Agreement
from pytest_fcbench.tools.diagnosis.document import Finding, document, labels
from pytest_fcbench.tools.diagnosis.failure_classes import FailureClass, classify
from pytest_fcbench.tools.diagnosis.root_causes import Diagnosis, RootCause, question

HELP = "why the multi-turn conversations of a scorecard failed"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "scorecard", nargs="?", type=Path, metavar="SCORECARD", help="scorecard.json of a run"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="look at the first N failures only")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write what was found as JSON")
    parser.add_argument(
        "--audit", nargs=2, type=Path, metavar="FILE", help="how far the root causes of two such files agree"
    )
    declare(parser, ("profile", "category", "failures", "config", "judge", *ENDPOINT, *LIMITS))


def run_command(chosen: argparse.Namespace) -> int:
    if (chosen.scorecard is None) == (chosen.audit is None):
        raise UsageError("give a scorecard, or two files of diagnoses with --audit")
    require_at_least(1, chosen, "limit")
    for line in _audit(*chosen.audit) if chosen.audit else _looked_at(chosen):
        print(printable(line), flush=True)
    return 0


# A scorecard


def _looked_at(chosen: argparse.Namespace) -> Iterator[str]:
    card = scorecard_files.load(chosen.scorecard)
    judge = judge_of(chosen)
    settings = settings_of(chosen, core.NAME)
    profile = settings.profile if chosen.profile else card.facts.profile
    wanted = {category.name for category in settings.categories} if chosen.category else set(CATEGORIES)
    held = [r for r in card.records if r.category in wanted and _is_conversation(r)]
    failed = [record for record in held if isinstance(record.verdict(profile), Failed)]
    yield (
        f"{card.path}: {card.facts.model}, {profile} profile: "
        f"{len(failed)} of {len(held)} multi-turn conversations failed"
    )
    others = Counter(
        "single-turn" if CATEGORIES[r.category].single_turn else r.group
        for r in card.records
        if r.category in CATEGORIES and not _is_conversation(r) and isinstance(r.verdict(profile), Failed)
    )
    for kind, number in others.items():
        yield f"{number} {kind} failures are not looked at: the code of a verdict says what is wrong"
    failed = failed[: chosen.limit]
    if not failed:
        return
    session = replayed(chosen, card, failed)
    talks = list(_talks(card, session, failed))
    found = [_finding(session, record, talk, profile) for record, talk in zip(failed, talks, strict=True)]
    notes: Sequence[str] = ()
    if judge:
        found, notes = _judged(judge, session, talks, found)
    for finding in found[: settings.failures]:
        yield from _told(finding)
    if len(found) > settings.failures:
        yield f"and {len(found) - settings.failures} more; --to FILE has all, --failures=N shows N here"
    yield ""
    yield from _table("class", list(FailureClass), [(f.divergence.failure, f.category) for f in found])
    if judge:
        yield ""
        rows = [*RootCause, _NOT_DIAGNOSED]
        yield from _table("root cause", rows, [(_root_cause(f), f.category) for f in found])
        yield from notes
    if chosen.to is not None:
        name = judge.label if judge else None
        told = document(found, model=card.facts.model, profile=profile, judge=name)
        write(chosen.to, json.dumps(told, indent=1))
        yield f"written to {chosen.to}"


def _is_conversation(record: Record) -> bool:
    return record.category in CATEGORIES and CATEGORIES[record.category].group is Group.MULTI_TURN


_Talk: TypeAlias = tuple[Entry, Transcript]


def _talks(card: Scorecard, session: Session, records: Sequence[Record]) -> Iterator[_Talk]:
    """The conversations, held again with the recorded answers."""
    entries = entries_of(session.context, records)
    for record in records:
        if record.entry not in entries:
            version = session.context.suites[record.suite].version
            raise UsageError(f"{card.path}: {record.suite} {version} has no entry {record.entry}")
        entry = replace(entries[record.entry], trial=record.trial)
        try:
            yield entry, session.transcript(entry)
        except NotScoredError as error:
            raise UsageError(
                f"{card.path}: the conversation about {entry.item_id} goes another way today: {error.reason}"
            ) from None


def _finding(session: Session, record: Record, talk: _Talk, profile: Profile) -> Finding:
    verdict = record.verdict(profile)
    assert isinstance(verdict, Failed)
    return Finding(record.item_id, record.category, verdict, classify(*talk, verdict, session.environments))


def _judged(
    judge: Settings, session: Session, talks: Sequence[_Talk], found: Sequence[Finding]
) -> tuple[list[Finding], Sequence[str]]:
    """The findings with what the judge says, and what is to be known of its answers."""
    diagnoses, notes = asked(
        judge,
        [
            question(entry, transcript, finding.verdict, session.environments(entry))
            for (entry, transcript), finding in zip(talks, found, strict=True)
        ],
    )
    return [replace(f, diagnosis=d) for f, d in zip(found, diagnoses, strict=True)], notes


_NOT_DIAGNOSED = "not diagnosed"


def _root_cause(finding: Finding) -> str:
    return finding.diagnosis.cause if isinstance(finding.diagnosis, Diagnosis) else _NOT_DIAGNOSED


def _told(finding: Finding) -> Iterator[str]:
    yield f"  {finding.item_id:<32}  {finding.divergence.failure:<22}  {finding.divergence}"
    match finding.diagnosis:
        case Diagnosis(cause=cause, turn=turn, explanation=explanation):
            yield f"    {cause}, turn {turn}: {' '.join(explanation.split())}"
        case NotScored(cause=why, reason=reason):
            yield f"    {_NOT_DIAGNOSED}: {why}: {reason}"


def _table(head: str, rows: Sequence[str], counted: Sequence[tuple[str, str]]) -> Iterator[str]:
    """How often each class occurs in each category, classes in the order given, none that never occurs."""
    counts = Counter(counted)
    columns = [name for name in CATEGORIES if any(category == name for _, category in counted)]
    heads = [column.removeprefix("multi_turn_") for column in columns]
    cells = [
        (row, [counts[row, column] for column in columns])
        for row in rows
        if any(counts[row, column] for column in columns)
    ]
    yield f"{head:<24}{''.join(f'{name:>14}' for name in heads)}{'all':>8}"
    for name, numbers in cells:
        yield f"{name:<24}{''.join(f'{number:>14}' for number in numbers)}{sum(numbers):>8}"
    sums = [sum(column) for column in zip(*(numbers for _, numbers in cells), strict=True)]
    yield f"{'all':<24}{''.join(f'{number:>14}' for number in sums)}{sum(sums):>8}"


# Two judges


def _audit(one: Path, other: Path) -> Iterator[str]:
    first, second = labels(one), labels(other)
    if first.model and second.model and first.model != second.model:
        raise UsageError(f"{one} is about {first.model}, {other} about {second.model}; compare the same run")
    agreement = Agreement(first.by_entry, second.by_entry)
    if agreement.share is None:
        raise UsageError(f"{one} and {other} have no entry in common that has a root cause in both")
    both = agreement.both
    yield f"{len(both)} conversations have a root cause in both files"
    for labelled in (first, second):
        if alone := len(labelled.by_entry) - len(both):
            yield f"{alone} have one in {labelled.path} only"
    yield from agreed(agreement, str(one), str(other), list(RootCause))
    for name in agreement.different:
        yield f"  {name:<32}  {first.by_entry[name]} / {second.by_entry[name]}"
