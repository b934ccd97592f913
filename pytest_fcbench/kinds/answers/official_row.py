"""The fields of an official score file on final answers that are wrong."""

from __future__ import annotations

from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.answers import verdict as final_answer


def describe_wrong_answer(answer: AnsweredEntry) -> OfficialRow | None:
    """Describe a wrong final answer; None for a right one. The entry must have right answers."""
    verdict = final_answer.judge(answer.entry, answer.transcript).official
    if not isinstance(verdict, Failed):
        return None
    error: dict[str, object] = {"error_message": [verdict.reason], "error_type": verdict.code}
    prompt: object = answer.prompt
    results: dict[str, object] = {"model_result": answer.result}
    if verdict.code == final_answer.NO_LAST_MESSAGE:
        calls = [list(step.calls) for step in answer.transcript.turns[0] if step.calls]
        results["model_result_decoded"] = calls
    elif verdict.code == final_answer.NOT_FOUND:
        last, right = final_answer.last_message(answer.transcript), verdict.details["expected"]
        assert isinstance(right, list)
        error |= {
            "error_message": verdict.reason,
            "details": final_answer.describe_missing_answer(last, right),
        }
        # Only in this case the official record has just the question of the entry.
        prompt = answer.prompt["question"]
        results = {"model_result_raw": answer.result, "last_non_fc_message": last}
    return {
        "error": error,
        "prompt": prompt,
        **results,
        "possible_answer": answer.possible_answer,
        "inference_log": "",
    }
