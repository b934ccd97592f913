"""The fields of an official score file on answers that wrongly call a function, or none."""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.outcome import WRONG_FORMAT, Calls
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.relevance.truth import NoCall
from pytest_fcbench.kinds.relevance.verdict import judge_reading


def describe_wrong_relevance(answer: AnsweredEntry) -> OfficialRow | None:
    """Describe a call where no function fits, or its lack where some does; None for a right answer."""
    reading = answer.read_calls()
    verdict = judge_reading(reading, forbidden=isinstance(answer.entry.expectation, NoCall))
    if not isinstance(verdict, Failed):
        return None
    calls: object = None
    if isinstance(reading, Calls):
        calls = answer.format_calls(reading)
    elif reading.code == WRONG_FORMAT:
        calls = answer.show_misdecoded()
    return {
        "prompt": answer.prompt,
        "model_result": answer.result,
        "decoded_result": calls,
        "error": [verdict.reason],
        "error_type": verdict.code,
    }
