"""The fields of an official score file on calls that return what is wrong."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.transcript import Step
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.execution.outcomes import Execute
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.execution import verdict as execution


def describe_wrong_results(answer: AnsweredEntry, execute: Execute) -> OfficialRow | None:
    """Describe calls that return what is wrong; None for right ones. The entry must expect results."""
    # The error of a call is a text like any other in a result file.
    read = replace(answer.transcript.last, fault=None)
    transcript = replace(answer.transcript, turns=((Step(read),),))
    verdict = execution.judge(answer.entry, transcript, execute).official
    if not isinstance(verdict, Failed):
        return None
    calls = (
        {}
        if verdict.code.endswith(":decoder_failed")
        else {"model_result_decoded": list(execution.read_official_calls(transcript))}
    )
    return {
        "error": [verdict.reason],
        "error_type": verdict.code,
        "prompt": answer.prompt,
        "model_result_raw": answer.result,
        **calls,
        "possible_answer": answer.possible_answer,
    }
