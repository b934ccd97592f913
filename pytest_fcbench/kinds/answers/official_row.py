"""The fields of an official score file on final answers that are wrong."""

from __future__ import annotations

from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.answers import verdict as answer


def describe_wrong_answer(answered: AnsweredEntry) -> OfficialRow | None:
    """Describe a wrong final answer; None for a right one. The entry must have right answers."""
    verdict = answer.judge(answered.entry, answered.transcript).official
    if not isinstance(verdict, Failed):
        return None
    error: dict[str, object] = {"error_message": [verdict.reason], "error_type": verdict.code}
    prompt: object = answered.prompt
    results: dict[str, object] = {"model_result": answered.result}
    if verdict.code == answer.NO_LAST_MESSAGE:
        made = [list(step.calls) for step in answered.transcript.turns[0] if step.calls]
        results["model_result_decoded"] = made
    elif verdict.code == answer.NOT_FOUND:
        last, right = answer.last_message(answered.transcript), verdict.details["expected"]
        assert isinstance(right, list)
        error |= {"error_message": verdict.reason, "details": answer.describe_missing_answer(last, right)}
        # Only in this case the official record has just the question of the entry.
        prompt = answered.prompt["question"]
        results = {"model_result_raw": answered.result, "last_non_fc_message": last}
    return {
        "error": error,
        "prompt": prompt,
        **results,
        "possible_answer": answered.possible_answer,
        "inference_log": "",
    }
