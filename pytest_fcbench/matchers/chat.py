"""Whether words were answered where there is nothing to call (BFCL v1, category ``chatable``).

No function is offered, so any call is one of a function that does not exist. The official code had no
evaluator for these entries; officially judged is what it has for answers that must not call
(``matchers/relevance``): whatever does not decode as calls passes, also an empty answer.

Corrected: an unreadable attempt to call fails too, and so does an answer that says nothing.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.answers import Transcript
from pytest_fcbench.entries import Entry
from pytest_fcbench.matchers import relevance
from pytest_fcbench.verdicts import Failed, Judgement, Passed

EMPTY = "chat:empty"


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Both verdicts on the last answer."""
    judgement = relevance.judge(entry, transcript)
    if isinstance(judgement.corrected, Passed) and not (transcript.last.text or "").strip():
        return replace(judgement, corrected=Failed(EMPTY, "the answer is empty"))
    return judgement
