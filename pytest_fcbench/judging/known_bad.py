"""The check that the verdicts of all kinds make first: entries and answers that are not scored."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import MOST_CALLS, Completion, Fault, Transcript
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored

_OWN_FAULTS = {
    Fault.OVERFLOW: Failed(Fault.OVERFLOW, "the request did not fit into the model's context"),
    Fault.TOO_LARGE: Failed(
        Fault.TOO_LARGE,
        "the answer is longer than --fcbench-max-answer allows, or its conversation has more than "
        f"{MOST_CALLS:,} calls",
    ),
    Fault.UNREADABLE_CALL: Failed(
        Fault.UNREADABLE_CALL, "the server could not read a call that the model wrote"
    ),
}
"""The verdicts on faults that are the model's own."""


def judge_fault(completion: Completion) -> Failed | None:
    """Return the corrected verdict on an answer whose fault is the model's own, None for any other."""
    return _OWN_FAULTS.get(completion.fault) if completion.fault else None


def find_unscored_cause(entry: Entry, transcript: Transcript) -> NotScored | None:
    """Return why the corrected profile does not score this answer, or None.

    The official code judges the text of an error, an overflow of the context included, like any answer, so it
    passes irrelevance.
    """
    # A known-bad entry is set aside whatever was answered.
    if entry.set_aside:
        return NotScored(SET_ASIDE, entry.set_aside)
    if transcript.last.fault is Fault.INFERENCE_ERROR:
        return NotScored(Fault.INFERENCE_ERROR, f"the result is an error: {transcript.last.text}")
    return None
