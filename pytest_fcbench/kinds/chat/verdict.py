"""Judge replies in words where there is nothing to call (BFCL v1, category ``chatable``).

No function is offered, so every call names a function that does not exist. The official code had no evaluator
for these entries; the official verdict follows its rule for answers that must not call
(``kinds/relevance``): every answer that does not decode as calls passes, also an empty one.

Corrected: an unreadable attempt to call fails too, and so does an empty answer.

Where a judge was asked, its rating of the reply stands beside the verdicts, which do not depend on it.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.reasoning import drop_reasoning
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, JudgeRating, Passed
from pytest_fcbench.judging import ratings
from pytest_fcbench.judging.questions import JudgeQuestion, recall_answer
from pytest_fcbench.kinds.relevance import verdict as relevance

EMPTY = "chat:empty"


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge the last answer, and add the judge's rating if the transcript has one."""
    judgement = relevance.judge(entry, transcript)
    # Officially an empty answer passes: it calls nothing.
    if isinstance(judgement.corrected, Passed) and not _select_answer(transcript).strip():
        judgement = replace(judgement, corrected=Failed(EMPTY, "the answer is empty"))
    if not transcript.asides:
        return judgement
    rating = recall_answer(build_question(entry, transcript), transcript.asides)
    return replace(judgement, rating=rating)


def build_question(entry: Entry, transcript: Transcript) -> JudgeQuestion[JudgeRating]:
    """Build the question to a judge about the last answer."""
    return ratings.ask_relevance(entry, _select_answer(transcript))


def _select_answer(transcript: Transcript) -> str:
    return drop_reasoning(transcript.last.text or "")
