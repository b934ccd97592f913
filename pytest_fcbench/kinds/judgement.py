"""Judge the transcript of an entry."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Ending, Transcript, describe_ending
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.kinds.own_check.verdict import add_own_checks
from pytest_fcbench.kinds.table import find_kind


def judge(entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
    """Judge a transcript in both profiles by the kind of its entry. Raises ``UsageError`` without one."""
    judgement = find_kind(entry).judge(entry, transcript, resources)
    return add_own_checks(entry, transcript, judge_ending(entry, transcript, judgement))


def judge_ending(entry: Entry, transcript: Transcript, judgement: Judgement) -> Judgement:
    """Return the judgement with a corrected verdict that knows how the answers ended.

    The official code never looks at why an answer ended, so one that a filter kept back passes irrelevance.
    Corrected it passes nothing by its silence, and a failure names the ending, which is a matter of settings.
    """
    failed_in = judgement.corrected.details.get("turn") if isinstance(judgement.corrected, Failed) else None
    # An answer after the turn that failed is not the cause.
    last = failed_in if isinstance(failed_in, int) else len(transcript.answers)
    ended_answers = [
        (number, completion)
        for number, turn in enumerate(transcript.answers[:last], 1)
        for completion in turn
        # What calls the server could not read are judged as unreadable calls.
        if completion.ending not in (None, Ending.MALFORMED)
    ]
    if not ended_answers:
        return judgement
    number, completion = ended_answers[0]
    turn = f"turn {number}: " if len(transcript.turns) > 1 else ""
    code, description = f"answer:{completion.ending}", f"{turn}{describe_ending(completion)}"
    verdict = judgement.corrected
    match verdict:
        case Failed():
            failure = replace(verdict, code=code, reason=f"{description}; {verdict.reason}")
            return replace(judgement, corrected=failure)
        # A refusal abstains from calling, as it should; who knows what the rest of another answer would be.
        case Passed() if entry.expectation.forbids_calls and completion.ending is not Ending.REFUSED:
            failure = Failed(code, f"{description}, so that it calls nothing says nothing")
            return replace(judgement, corrected=failure)
    return judgement
