"""``fcbench run diagnose`` and ``rejudge``, which replay the answers of a scorecard.

``diagnose`` finds out why conversations failed, by rules and by a judge. ``rejudge`` judges by today's rules;
its exit code is that of ``diff``: 0 if nothing changed, 1 if a verdict (status or code, in either profile) or
the identity of a suite did, 2 on an error. So a CI job that keeps a scorecard shows whether a new release, a
new pack or a matcher of its own moves published scores.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from pytest_fcbench.cli.options import load_settings, resolve_scorecard
from pytest_fcbench.cli.output import find_width, print_lines, require_other_file, write_and_report
from pytest_fcbench.cli.sessions import (
    ask_judge,
    load_entries,
    load_entries_of,
    load_judge_settings,
    open_replay,
    require_entries,
)
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError, UsageError
from pytest_fcbench.domain.explanation import AnswerClass, FailedEntry
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Profile
from pytest_fcbench.kinds.forced.entries import FORCED
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.present import tables
from pytest_fcbench.present.document import write_section
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import format_number
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.aggregate.scores import Score, mark_trained
from pytest_fcbench.scorecard.compare.comparison import (
    NO_ENTRY,
    ChangeKind,
    VerdictChange,
    list_changed_scores,
    list_changes,
)
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record, from_json, to_json
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_scorecard, name_verdict
from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit.fitting_functions import find_fitting_functions
from pytest_fcbench.tools.diagnosis.agreement import compare_diagnoses
from pytest_fcbench.tools.diagnosis.root_causes import (
    DiagnosedFailure,
    build_document,
    build_question,
    render_findings,
)


def run_diagnose(arguments: argparse.Namespace) -> int:
    if arguments.scorecard and arguments.audit:
        raise UsageError("--audit compares two files of diagnoses; leave the scorecard out, or --audit")
    lines = compare_diagnoses(*arguments.audit) if arguments.audit else _diagnose(arguments)
    # A judge can take minutes, so each line is shown at once.
    print_lines(lines, flush=True)
    return 0


def _diagnose(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the findings about the failures of a scorecard, and write them to ``--to``."""
    card = load_scorecard(arguments.scorecard or resolve_scorecard())
    require_other_file(arguments.to, [card.path])
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
    entries = require_entries(session.context, records, card.path)
    # Looking through a suite takes seconds, so each is looked through where an entry needs it, and once.
    doubts: dict[str, Mapping[str, str]] = {}
    for record in records:
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
                answered = load_entries([suite], lambda each: each.single_turn and not each.varies_others)
                doubts[record.suite] = find_fitting_functions(list(answered.values()))
            if doubt := entry.set_aside or doubts[record.suite].get(entry.id):
                # The verdict says that no function fits, and here the entry is doubtful, not the answer.
                function_name = verdict.details.get("found")
                reason = f"{function_name} was called, and the entry is doubtful: {doubt}"
                verdict = replace(verdict, reason=reason)
        yield entry, transcript, DiagnosedFailure(record.item_id, record.category, verdict, divergence)


def run_rejudge(arguments: argparse.Namespace) -> int:
    try:
        old = load_scorecard(arguments.scorecard)
        if any(record.category == FORCED.name for record in old.records):
            fault = "right calls that were put through a server cannot be judged again"
            raise UsageError(f"{old.path}: {fault}; run pytest --fcbench-forced again")
        with open_replay(arguments, old, old.records) as session:
            again = mark_trained(_judge_again(session, old.records), session.context.trained)
            new = {record.item_id: record for record in again}
        changes = list(list_changes(old.records, new))
        suite_changes = [
            f"suite {name}: {what} {str(old_suite.get(key))[:12]} → {str(suite[key])[:12]}"
            for name, suite in session.context.suite_versions.items()
            for key, what in (("version", "version"), ("pack_hash", "content sha256"))
            if (old_suite := old.facts.suites.get(name, {})).get(key) != suite[key]
        ]
        print_lines(_describe_changes(old, new, suite_changes, changes))
        if arguments.to is not None:
            # pytest's outcomes, durations and exit code stay, as do answers, costs and latencies.
            report: dict[str, Any] = read_json_text(old.path.read_text(encoding="utf-8"))
            for test in report["tests"]:
                if section := test.get("metadata", {}).get("fcbench"):
                    new_section = to_json(new[from_json(section).item_id])
                    section |= {key: new_section[key] for key in _JUDGED}
            note = f"judged again by pytest-fcbench {version('pytest-fcbench')}"
            facts = replace(
                old.facts,
                fcbench=version("pytest-fcbench"),
                suites=session.context.suite_versions,
                notes=tuple(dict.fromkeys((*old.facts.notes, note))),
                # They were about the old verdicts.
                against=None,
                noise=None,
            )
            # Outcomes of a gate were about the old scores, so there are none.
            size_of = session.context.selection.size_of
            evidence = Evidence(list(new.values()), facts.profile, size_of, facts.suites)
            report["fcbench"] |= write_section(facts, evidence, [])
            write_and_report(arguments.to, json.dumps(report))
    except FcbenchError as error:
        # An exit code of 1 would mean that something changed.
        raise UsageError(str(error)) from None
    return 1 if changes or suite_changes else 0


_JUDGED = ("verdicts", "paths", "as_written", "rating", "marks")
"""The members of a Record that may change."""


def _judge_again(session: Session, records: Sequence[Record]) -> Iterator[Record]:
    """Yield the Records with today's verdicts; one without an answer, or with a test's, stays as it is."""
    suites, entries = session.context.suites, load_entries_of(session.context, records)
    for record in records:
        entry = entries.get(record.entry)
        if entry is None:
            reason = f"{record.suite} {suites[record.suite].version} has no entry {record.entry}"
            yield record.replace_judgement(Judgement.same_in_both(NotScored(NO_ENTRY, reason)))
        elif record.turns and not record.is_judged_by_test:
            entry = replace(entry, trial=record.trial)
            # As in a run, an entry that fails to be judged is not scored, and the others are judged.
            try:
                judgement = session.judge(entry, session.transcript(entry))
            except NotScoredError as error:
                judgement = Judgement.same_in_both(NotScored(error.cause, error.reason))
            except Exception as error:  # noqa: BLE001 - any error of a matcher
                reason = redact_secrets(f"{type(error).__name__}: {error}")
                judgement = Judgement.same_in_both(NotScored("internal_error", reason))
            yield record.replace_judgement(judgement)
        else:
            yield record


def _describe_changes(
    card: Scorecard, new: Mapping[str, Record], suite_changes: Sequence[str], changes: Sequence[VerdictChange]
) -> Iterator[str]:
    """Describe what was judged again, and each change of a suite, a verdict or a score."""
    facts = card.facts
    unanswered_count = sum(record == new[record.item_id] and not record.turns for record in card.records)
    by_test = sum(record.is_judged_by_test for record in card.records)
    yield f"{card.path}: {facts.model} ({facts.mode}, {facts.names} names), judged by {facts.fcbench}"
    parts = [f"{len(card.records) - unanswered_count - by_test} judged again by {version('pytest-fcbench')}"]
    if unanswered_count:
        parts.append(f"{unanswered_count} without an answer stay not scored")
    if by_test:
        parts.append(f"{by_test} failed by an assertion of a test; run the test to judge them again")
    yield "; ".join(parts)
    yield from suite_changes
    for kind in ChangeKind:
        own = [change for change in changes if change.kind is kind]
        if own:
            yield ""
            yield f"{kind} ({len({change.item_id for change in own})})"
        # One line for each entry and pair of old and new verdict, with the profiles in which it holds.
        profiles: dict[tuple[str, str], list[str]] = {}
        for change in own:
            way = f"{name_verdict(change.old)} → {name_verdict(change.new)}"
            profiles.setdefault((change.item_id, way), []).append(change.profile)
        for (item_id, way), names in profiles.items():
            yield f"  {item_id:<32}  {'both' if len(names) == len(Profile) else names[0]:<9}  {way}"
    again = replace(card, records=tuple(new.values()))
    rows = [
        (name, profile.value, _render_score(before), _render_score(after))
        for profile in Profile
        for name, before, after in list_changed_scores(card.scores(profile), again.scores(profile))
    ]
    if rows:
        yield ""
        yield from tables.render_text(
            Table("", ("scores that changed", "profile", "old", "new"), tuple(rows)), find_width()
        )
    if not changes:
        yield "no verdict changed"


def _render_score(score: Score) -> str:
    return f"{score.passed} of {score.scored}  {format_number(score.accuracy, '.2%'):>7}"
