"""The kind of entries that offer no function: replies in words (BFCL v1, category ``chatable``).

No function is offered, so every call names a function that does not exist. The official code had no evaluator
for these entries; the official verdict follows its rule for answers that must not call
(``kinds/relevance``): every answer that does not decode as calls passes, also an empty one.

Corrected: an unreadable attempt to call fails too, and so does an empty answer.

Where a judge was asked, its rating of the reply stands beside the verdicts, which do not depend on it.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.transcript import BUILTIN, Conversation, Transcript, drop_reasoning
from pytest_fcbench.domain.verdict import Failed, Judgement, JudgeRating, Passed
from pytest_fcbench.judging import questions
from pytest_fcbench.judging.questions import JudgeQuestion, recall_answer
from pytest_fcbench.kinds import kind as turns
from pytest_fcbench.kinds import relevance
from pytest_fcbench.kinds.kind import ConversationContext, Kind, Resources


class ChatKind(Kind):
    """Words are the answer, which a judge may rate."""

    file_format = "question_entries:ChatFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model; a judge, if one is named, rates the reply.

        No rating is bought for an empty reply or an attempted call.
        """
        transcript = yield from turns.converse(entry, context)
        judge_label = context.driven.judge
        if judge_label == BUILTIN or not isinstance(judge(entry, transcript).corrected, Passed):
            return transcript
        asides = yield from questions.ask_aside(build_question(entry, transcript), judge_label)
        return replace(transcript, asides=asides)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer."""
        return judge(entry, transcript)

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Say that no call is right."""
        return ShownTruth(rule="no call")


CHAT = ChatKind()


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
    return questions.ask_relevance(entry, _select_answer(transcript))


def _select_answer(transcript: Transcript) -> str:
    return drop_reasoning(transcript.last.text or "")
