"""Protocol notes have one order, and each has a meaning."""

from __future__ import annotations

from pytest_fcbench.domain.protocol_notes import FAILURES, ProtocolNote, describe_note, merge_notes


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
