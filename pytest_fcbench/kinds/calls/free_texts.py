"""Questions to a judge about free texts among the arguments of calls.

Only entries of a team's own suites mark parameters as free text (``ExpectedCall.judged``). The judge is asked
where the corrected verdict depends on it: all else in the calls is right, and a text is none of the accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_fcbench.codecs.decoders.outcome import Reading
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.text import cut_counting
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed
from pytest_fcbench.judging.opinions import Equivalence, read_equivalence
from pytest_fcbench.judging.prompts import read_prompt
from pytest_fcbench.judging.questions import JudgeQuestion, recall_answer
from pytest_fcbench.judging.ratings import LONGEST
from pytest_fcbench.kinds.calls import corrected
from pytest_fcbench.kinds.calls.truth import ExpectedCall
from pytest_fcbench.kinds.calls.value_comparison import list_options

_FREE_TEXT = read_prompt("free_text")
_MOST_SAID = 20
"""The last messages of a conversation that a judge is shown."""


def ask_same_text(
    entry: Entry, expected_call: ExpectedCall, parameter: str, text: str
) -> JudgeQuestion[Equivalence]:
    """Ask whether a text says the same as an accepted one."""
    doc = entry.find_function(expected_call.name)
    last_messages = [message for turn in entry.turns for message in turn][-_MOST_SAID:]
    material = {
        "function": {"name": expected_call.name, "description": doc.description if doc else ""},
        "parameter": {"name": parameter, "doc": dict(doc.properties[parameter]) if doc else {}},
        "conversation": [
            {"role": each.role, "text": cut_counting(each.shown_text, LONGEST)} for each in last_messages
        ],
        "text that was given": cut_counting(text, LONGEST),
        "texts that are right": [
            cut_counting(str(each), LONGEST)
            for each in list_options(expected_call.accepted[parameter])
            if each
        ],
    }
    return JudgeQuestion(entry, _FREE_TEXT, material, read_equivalence)


def find_open_questions(entry: Entry, reading: Reading) -> Sequence[JudgeQuestion[Equivalence]]:
    """Return the questions that the corrected verdict depends on; none where rules decide it."""
    # A judge costs time and money, and an accepted text needs none.
    if isinstance(corrected.match_calls(entry, reading), Passed):
        return []
    questions: dict[str, JudgeQuestion[Equivalence]] = {}

    def assume_same(
        expected_call: ExpectedCall, parameter: str, value: object, failure: Failed
    ) -> Failed | None:
        if not isinstance(value, str):
            return failure
        question = ask_same_text(entry, expected_call, parameter, value)
        # Parallel calls are compared each with each, so that a question can come up twice.
        questions[repr(question.material)] = question
        return None

    verdict = corrected.match_calls(entry, reading, assume_same)
    return list(questions.values()) if isinstance(verdict, Passed) else []


def recall_opinion(
    entry: Entry,
    transcript: Transcript,
    expected_call: ExpectedCall,
    parameter: str,
    value: object,
    failure: Failed,
) -> Failed | None:
    """Return how a text fails by the opinion of the judge; None where it says the same.

    Raises ``NotScoredError`` where the judge was asked and gave no opinion.
    """
    # In conversations of this kind only a judge is asked beside the model.
    if not isinstance(value, str) or not transcript.asides:
        return failure
    opinion = recall_answer(ask_same_text(entry, expected_call, parameter, value), transcript.asides)
    if isinstance(opinion, NotScored):
        raise NotScoredError("judge", f"the judge gave no opinion on {parameter}: {opinion.reason}")
    return None if opinion.same else replace(failure, reason=f"{failure.reason}; the judge: {opinion.reason}")
