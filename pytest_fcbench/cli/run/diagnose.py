"""``fcbench run diagnose``: find out why conversations of a scorecard failed, by rules and by a judge."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.cli.options import (
    find_latest_scorecard,
    load_settings,
    require_at_least,
)
from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.sessions import (
    ask_judge,
    load_entries_of,
    load_judge_settings,
    open_replay,
)
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.explanation import AnswerClass, FailedEntry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit.fitting_functions import find_fitting_functions
from pytest_fcbench.tools.diagnosis.findings_text import compare_diagnoses, render_findings
from pytest_fcbench.tools.diagnosis.root_causes import (
    DiagnosedFailure,
    build_document,
    build_question,
)


def run_diagnose(arguments: argparse.Namespace) -> int:
    if arguments.scorecard and arguments.audit:
        raise UsageError("--audit compares two files of diagnoses; leave the scorecard out, or --audit")
    require_at_least(1, arguments, "limit")
    lines = compare_diagnoses(*arguments.audit) if arguments.audit else _diagnose(arguments)
    # A judge can take minutes, so each line is shown at once.
    print_lines(lines, flush=True)
    return 0


def _diagnose(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the findings about the failures of a scorecard, and write them to ``--to``."""
    card = scorecard_files.load_scorecard(arguments.scorecard or find_latest_scorecard())
    judge = load_judge_settings(arguments)
    # Only options are read here, so the suite that is always there will do.
    settings = load_settings(arguments, core.NAME)
    profile = settings.profile if arguments.profile else card.facts.profile
    categories = (
        {category.name for category in settings.categories} if arguments.category else set(CATEGORIES)
    )
    selection = [record for record in card.records if record.category in categories & CATEGORIES.keys()]
    failures = [record for record in selection if isinstance(record.verdict(profile), Failed)]
    numbers, numbers_failed = (Counter(map(_name_kind, records)) for records in (selection, failures))
    shares = [f"{numbers_failed[kind]} of {numbers[kind]} {kind} failed" for kind in _KINDS if numbers[kind]]
    found_none = "no multi-turn conversation and no single-turn answer"
    yield f"{card.path}: {card.facts.model}, {profile} profile: {', '.join(shares) or found_none}"
    for kind, number in numbers_failed.items():
        if kind not in _KINDS:
            yield f"{kind} failures, not diagnosed because the verdict already says what is wrong: {number}"
    # Conversations first: one of them says more than an answer.
    diagnosed_records = [record for kind in _KINDS for record in failures if _name_kind(record) == kind][
        : arguments.limit
    ]
    if not diagnosed_records:
        return
    notes: Sequence[str] = ()
    # Divergences show in the environments, so the recorded calls are executed again.
    with open_replay(arguments, card, diagnosed_records) as session:
        replays = list(_classify_failures(card, session, diagnosed_records, profile))
        findings = [finding for _, _, finding in replays]
        if judge:
            questions = [
                build_question(entry, transcript, finding.verdict, session.environments(entry))
                for entry, transcript, finding in replays
                if not entry.category.single_turn
            ]
            # Conversations come first, and only these have a root cause.
            diagnoses, notes = ask_judge(judge, questions) if questions else ((), ())
            asked_about, others = findings[: len(questions)], findings[len(questions) :]
            findings = [replace(f, diagnosis=each) for f, each in zip(asked_about, diagnoses, strict=True)]
            findings += others
    yield from render_findings(findings, settings.failures, with_causes=judge is not None)
    yield from notes
    if arguments.to is not None:
        label = judge.label if judge else None
        file = build_document(findings, model=card.facts.model, profile=profile, judge=label)
        write_file(arguments.to, json.dumps(file, indent=1))
        yield f"written to {arguments.to}"


_KINDS = (_CONVERSATIONS, _ANSWERS) = "multi-turn conversations", "single-turn answers"


def _name_kind(record: Record) -> str:
    """Name the kind of failure that a record can have: one that is diagnosed, or its group."""
    category = CATEGORIES[record.category]
    if category.group is Group.MULTI_TURN or category.group is Group.MCP:
        return _CONVERSATIONS
    return _ANSWERS if category.single_turn else category.group


def _classify_failures(
    card: Scorecard, session: Session, records: Sequence[Record], profile: Profile
) -> Iterator[tuple[Entry, Transcript, DiagnosedFailure]]:
    """Replay entries with the recorded answers, and classify how each failed.

    Raises ``UsageError`` if one cannot be replayed.
    """
    entries = load_entries_of(session.context, records)
    # Looking through a suite takes seconds, so each is looked through where an entry needs it, and once.
    doubts: dict[str, Mapping[str, str]] = {}
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
        failure = FailedEntry(entry, transcript, verdict, profile)
        divergence = find_kind(entry).classify_failure(failure, session.resources)
        if divergence.failure is AnswerClass.UNWANTED_CALL:
            if record.suite not in doubts:
                suite = session.context.suites[record.suite]
                doubts[record.suite] = find_fitting_functions(
                    [
                        each
                        for category in suite.categories
                        if category.single_turn and not category.varies_others
                        for each in suite.load(category)
                    ]
                )
            if doubt := entry.set_aside or doubts[record.suite].get(entry.id):
                # The verdict says that no function fits, and here the entry is doubtful, not the answer.
                function_name = verdict.details.get("found")
                reason = f"{function_name} was called, and the entry is doubtful: {doubt}"
                verdict = replace(verdict, reason=reason)
        yield entry, transcript, DiagnosedFailure(record.item_id, record.category, verdict, divergence)
