"""Protocol notes have one order, and each has a meaning."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import (
    FAILURES,
    ProtocolNote,
    describe_note,
    is_failure,
    merge_notes,
    read_ending,
)
from pytest_fcbench.domain.transcript import Ending
from tests.cases import each_case


def test_codes_are_merged_in_the_order_of_the_table() -> None:
    """Codes of newer versions come last."""
    merged = merge_notes(["no_done", "zz"], [ProtocolNote.STREAM_INDEX, "no_done", "aa"])
    assert merged == ("stream_index", "no_done", "aa", "zz")
    assert all(type(code) is str for code in merged)


def test_each_code_has_a_sentence() -> None:
    sentences = {describe_note(note) for note in ProtocolNote}
    assert len(sentences) == len(ProtocolNote)
    assert all(sentence.endswith(".") for sentence in sentences)
    assert "newer version" in describe_note("zz")


def test_failures_are_notes_without_an_answer() -> None:
    assert {str(note) for note in FAILURES} == {
        "cut_stream",
        "error_in_stream",
        "error_in_reply",
        "aborted_answer",
    }


@each_case(
    ("reason", "ending"),
    [
        ("stop", None),
        ("tool_calls", None),
        ("end_turn", None),
        (None, None),
        (7, None),
        ("length", Ending.CUT),
        ("MAX_TOKENS", Ending.CUT),
        ("model_context_window_exceeded", Ending.CUT),
        ("SAFETY", Ending.FILTERED),
        ("content_filtered", Ending.FILTERED),
        ("refusal", Ending.REFUSED),
        ("function_call", Ending.FUNCTION_CALL),
        ("MALFORMED_FUNCTION_CALL", Ending.MALFORMED),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", Ending.MALFORMED),
        ("malformed_tool_use", Ending.MALFORMED),
    ],
)
def test_words_of_servers(reason: object, ending: Ending | None) -> None:
    assert read_ending(reason) is ending
    assert not is_failure(reason)


@each_case("reason", ["error", "Abort", "network_error", "insufficient_system_resource", "failed"])
def test_words_of_a_server_that_failed(reason: str) -> None:
    assert is_failure(reason)
    with pytest.raises(CallError, match=reason) as failure:
        read_ending(reason)
    assert (failure.value.cause, failure.value.transient) == ("aborted_answer", True)
