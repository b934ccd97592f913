"""Explanations of failures, made from Records."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import Explanation, FailedEntry
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import Step, Transcript
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.explanation import explain_failure
from pytest_fcbench.scorecard.record import Record, read_answer


def explain_record(entry: Entry, record: Record, profile: Profile) -> Explanation | None:
    """Explain why an entry failed in a profile; None where it did not fail."""
    verdict = record.verdict(profile)
    if not isinstance(verdict, Failed):
        return None
    failure = FailedEntry(entry, restore_transcript(entry, record), verdict, profile)
    return explain_failure(failure, record.path(profile))


def restore_transcript(entry: Entry, record: Record) -> Transcript:
    """Restore what a Record keeps of a conversation: the answers, without the results of calls."""
    prompting = Prompting(Mode(record.mode), Names(record.names), record.syntax)
    if entry.variation:
        prompting = prompting.use_format(entry.variation.format)
    turns = tuple(tuple(Step(read_answer(step)) for step in turn) for turn in record.turns)
    return Transcript(record.item_id, record.model, prompting, turns, record.asides)
