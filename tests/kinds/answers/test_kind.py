"""Lines of official score files on final answers."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.kinds.answers.truth import Answers
from tests.factories import make_entry, make_transcript
from tests.kinds.official_rows import QUESTION, write_and_read_row

ENTRY = replace(make_entry("memory_kv"), expectation=Answers(("Oslo",)))


def describe_error(answer: str | Transcript) -> tuple[object, ...] | None:
    row = write_and_read_row(ENTRY, answer, ["Oslo"])
    if row is None:
        return None
    error = row["error"]
    assert isinstance(error, dict)
    shown = [name for name in row if name.startswith(("model_r", "last_"))]
    return error["error_type"], list(error), shown, row["prompt"]


def test_what_is_shown_of_a_final_answer() -> None:
    assert describe_error("It is Oslo.") is None
    assert describe_error("It is Bergen.") == (
        "agentic:answer_not_found",
        ["error_message", "error_type", "details"],
        ["model_result_raw", "last_non_fc_message"],
        QUESTION["question"],
    )
    assert describe_error("") == (
        "agentic:no_last_message",
        ["error_message", "error_type"],
        ["model_result", "model_result_decoded"],
        QUESTION,
    )
    answered = make_transcript("It is Oslo.")
    assert describe_error(replace(answered, turns=answered.turns * 2)) == (
        "agentic:inference_error",
        ["error_message", "error_type"],
        ["model_result"],
        QUESTION,
    )
