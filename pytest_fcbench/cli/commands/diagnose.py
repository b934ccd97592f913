"""``fcbench diagnose``: find out why conversations of a scorecard failed, by rules and by a judge."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.cli.judge_options import JUDGE_OPTIONS, ask_judge, load_judge_settings, render_agreement
from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.replay import load_entries_of, open_replay
from pytest_fcbench.cli.run_options import declare_run_options, load_settings, require_at_least
from pytest_fcbench.cli.scorecard_arguments import SCORECARD_OR_LATEST, find_latest_scorecard, find_scorecard
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites import core
from pytest_fcbench.tools.diagnosis.agreement import Agreement
from pytest_fcbench.tools.diagnosis.document import DiagnosedFailure, build_document, read_labels
from pytest_fcbench.tools.diagnosis.failure_classes import FailureClass, classify_failure
from pytest_fcbench.tools.diagnosis.root_causes import Diagnosis, RootCause, build_question

HELP = "explain why the multi-turn conversations of a scorecard failed"
PAGE = "after-a-run"
EXAMPLES = (
    "fcbench diagnose",
    "fcbench diagnose latest --judge=gpt-4o -o diagnoses.json",
)
_NOT_DIAGNOSED = "not diagnosed"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add("scorecard", nargs="?", type=find_scorecard, metavar="SCORECARD", help=SCORECARD_OR_LATEST)
    add("--limit", type=int, metavar="N", help="diagnose only the first N failures")
    add(
        *OUTPUT,
        dest="to",
        type=Path,
        metavar="FILE",
        help="write the diagnoses to this file as JSON",
    )
    two = "compare the root causes in two files of diagnoses"
    add("--audit", nargs=2, type=Path, metavar="FILE", help=two)
    declare_run_options(parser, ("profile", "category", "failures", "config", "judge", *JUDGE_OPTIONS))


def run_command(chosen: argparse.Namespace) -> int:
    if chosen.scorecard and chosen.audit:
        raise UsageError("--audit compares two files of diagnoses; leave the scorecard out, or --audit")
    require_at_least(1, chosen, "limit")
    lines = _compare_diagnoses(*chosen.audit) if chosen.audit else _diagnose(chosen)
    # A judge can take minutes, so each line is shown at once.
    print_lines(lines, flush=True)
    return 0


# A scorecard


def _diagnose(chosen: argparse.Namespace) -> Iterator[str]:
    """Yield the findings about the failed conversations of a scorecard, and write them to ``--to``."""
    card = scorecard_files.load_scorecard(chosen.scorecard or find_latest_scorecard())
    judge = load_judge_settings(chosen)
    # Only options are read here, so the suite that is always there will do.
    settings = load_settings(chosen, core.NAME)
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
        yield f"{kind} failures, not diagnosed because the verdict already says what is wrong: {number}"
    failed = failed[: chosen.limit]
    if not failed:
        return
    notes: Sequence[str] = ()
    # Divergences show in the environments, so the recorded calls are executed again.
    with open_replay(chosen, card, failed) as session:
        replayed = list(_classify_failures(card, session, failed, profile))
        found = [finding for _, _, finding in replayed]
        if judge:
            questions = [
                build_question(entry, transcript, finding.verdict, session.environments(entry))
                for entry, transcript, finding in replayed
            ]
            diagnoses, notes = ask_judge(judge, questions)
            found = [replace(f, diagnosis=diagnosis) for f, diagnosis in zip(found, diagnoses, strict=True)]
    yield from _render_findings(found, settings.failures, with_causes=judge is not None)
    yield from notes
    if chosen.to is not None:
        label = judge.label if judge else None
        file = build_document(found, model=card.facts.model, profile=profile, judge=label)
        write_file(chosen.to, json.dumps(file, indent=1))
        yield f"written to {chosen.to}"


def _is_conversation(record: Record) -> bool:
    return record.category in CATEGORIES and CATEGORIES[record.category].group is Group.MULTI_TURN


def _classify_failures(
    card: Scorecard, session: Session, records: Sequence[Record], profile: Profile
) -> Iterator[tuple[Entry, Transcript, DiagnosedFailure]]:
    """Replay conversations with the recorded answers, and classify how each failed.

    Raises ``UsageError`` if one cannot be replayed.
    """
    entries = load_entries_of(session.context, records)
    for record in records:
        if record.entry not in entries:
            version = session.context.suites[record.suite].version
            raise UsageError(
                f"{card.path}: {record.suite} {version} has no entry {record.entry}; use the suite "
                f"version of the run"
            )
        entry = replace(entries[record.entry], trial=record.trial)
        try:
            transcript = session.transcript(entry)
        except NotScoredError as error:
            raise UsageError(
                f"{card.path}: the conversation about {entry.item_id} takes another course with this "
                f"version: {error.reason}; diagnose it with the version that ran it"
            ) from None
        verdict = record.verdict(profile)
        assert isinstance(verdict, Failed)
        divergence = classify_failure(entry, transcript, verdict, session.environments)
        yield entry, transcript, DiagnosedFailure(record.item_id, record.category, verdict, divergence)


def _render_findings(found: Sequence[DiagnosedFailure], most: int, *, with_causes: bool) -> Iterator[str]:
    """Render the first ``most`` findings, and the counts of classes and root causes in all of them."""
    for finding in found[:most]:
        yield f"  {finding.item_id:<32}  {finding.divergence.failure:<22}  {finding.divergence}"
        match finding.diagnosis:
            case Diagnosis(cause=cause, turn=turn, explanation=explanation):
                yield f"    {cause}, turn {turn}: {' '.join(explanation.split())}"
            case NotScored(cause=why, reason=reason):
                yield f"    {_NOT_DIAGNOSED}: {why}: {reason}"
    if len(found) > most:
        yield f"and {len(found) - most} more; --to=FILE writes all, --failures=N shows N here"
    yield ""
    classes = [(f.divergence.failure, f.category) for f in found]
    yield from _render_counts("class", list(FailureClass), classes)
    if with_causes:
        causes = [
            (f.diagnosis.cause if isinstance(f.diagnosis, Diagnosis) else _NOT_DIAGNOSED, f.category)
            for f in found
        ]
        yield ""
        yield from _render_counts("root cause", [*RootCause, _NOT_DIAGNOSED], causes)


def _render_counts(head: str, rows: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Render the counts of classes by category, classes in the order given, without zero rows."""
    counts = Counter(pairs)
    columns = [name for name in CATEGORIES if any(category == name for _, category in pairs)]
    heads = [column.removeprefix("multi_turn_") for column in columns]
    cells = {row: [counts[row, column] for column in columns] for row in rows}
    cells = {row: numbers for row, numbers in cells.items() if any(numbers)}
    cells["all"] = [sum(column) for column in zip(*cells.values(), strict=True)]
    yield f"{head:<24}{''.join(f'{name:>14}' for name in heads)}{'all':>8}"
    for row, numbers in cells.items():
        yield f"{row:<24}{''.join(f'{number:>14}' for number in numbers)}{sum(numbers):>8}"


# Two judges


def _compare_diagnoses(one: Path, other: Path) -> Iterator[str]:
    """Describe how far the root causes of two files of diagnoses agree."""
    first, second = read_labels(one), read_labels(other)
    if first.model and second.model and first.model != second.model:
        raise UsageError(
            f"{one} is about {first.model}, {other} about {second.model}; give two files about the same run"
        )
    agreement = Agreement(first.by_entry, second.by_entry)
    if agreement.share is None:
        raise UsageError(
            f"{one} and {other} have no entry in common with a root cause in both files; give two "
            f"files about the same entries"
        )
    both = agreement.both
    yield f"{len(both)} conversations have a root cause in both files"
    for labelled in (first, second):
        if alone := len(labelled.by_entry) - len(both):
            yield f"{alone} have one in {labelled.path} only"
    yield from render_agreement(agreement, str(one), str(other), list(RootCause))
    for name in agreement.different:
        yield f"  {name:<32}  {first.by_entry[name]} / {second.by_entry[name]}"
