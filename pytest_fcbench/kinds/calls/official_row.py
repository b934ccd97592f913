"""The fields of an official score file on calls that are wrong as they are written."""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.outcome import WRONG_FORMAT, Calls
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.calls import official


def describe_wrong_calls(answer: AnsweredEntry) -> OfficialRow | None:
    """Describe wrong calls; None for right ones. The entry must expect calls."""
    reading = answer.read_calls()
    verdict = official.match_calls(answer.entry, reading, answer.transcript.prompting.names)
    if not isinstance(verdict, Failed):
        return None
    raw: dict[str, object] = {"model_result_raw": answer.result}
    if isinstance(reading, Calls):
        raw["model_result_decoded"] = answer.format_calls(reading)
    elif reading.code == WRONG_FORMAT:
        raw = {
            "model_result_raw": str(answer.result),
            "model_result_decoded": str(answer.show_misdecoded()),
        }
    errors: list[object] = [verdict.reason]
    misses, calls = verdict.details.get("misses"), raw.get("model_result_decoded")
    right = answer.possible_answer
    # Where no call matches an expected one, official code also lists the error of each remaining call.
    if isinstance(misses, list) and isinstance(calls, list) and isinstance(right, list):
        right_call = right[int(str(verdict.details["expected"]))]
        errors += [
            {
                f"Model Result Index {miss['found']}": {
                    "sub_error": [miss["reason"]],
                    "sub_error_type": miss["code"],
                    "model_output_item": calls[miss["found"]],
                    "possible_answer_item": right_call,
                }
            }
            for miss in misses
        ]
    return {
        "error": errors,
        "error_type": verdict.code,
        "prompt": answer.prompt,
        **raw,
        "possible_answer": answer.possible_answer,
    }
