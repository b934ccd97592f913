"""Protocol notes: what a server did against the interface that it speaks, as codes.

A note is about the server, never about the model: it changes no verdict. Answers carry their notes into the
Record; a failed try leaves its note on the answer that a later try brought.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class ProtocolNote(StrEnum):
    """A way in which a reply breaks the interface, with the meaning that readers are shown."""

    meaning: str

    def __new__(cls, code: str, meaning: str) -> ProtocolNote:
        note = str.__new__(cls, code)
        note._value_, note.meaning = code, meaning
        return note

    STREAM_INDEX = (
        "stream_index",
        "A streamed call has no index, or its index is text, does not begin at 0, leaves a gap, grows with "
        "each piece, or is that of another call.",
    )
    CHANGED_ID = (
        "changed_id",
        "The id of a streamed call changes from piece to piece, or names several calls.",
    )
    REPEATED_NAME = "repeated_name", "A streamed call repeats its function name in each piece."
    REPEATED_CALL = "repeated_call", "A streamed call sends its whole arguments a second time."
    EMPTY_ARGUMENTS_FIRST = (
        "empty_arguments_first",
        "A streamed call sends {} before its arguments, as gateways to Claude do.",
    )
    NOT_STREAMED = "not_streamed", "A stream was asked for, and a whole answer came."
    MESSAGE_IN_STREAM = "message_in_stream", "A stream sends a whole message where deltas belong."
    LEGACY_FUNCTION_CALL = (
        "legacy_function_call",
        "A call comes in the field function_call, which tool_calls has replaced.",
    )
    EVENT_LINES = "event_lines", "Events of a stream are not separated by an empty line."
    NO_FINISH_REASON = "no_finish_reason", "The answer ends without a finish_reason."
    NO_DONE = "no_done", "The stream ends without [DONE]."
    CUT_STREAM = "cut_stream", "A stream ended without finish_reason and [DONE], so the answer is cut."
    ERROR_IN_STREAM = "error_in_stream", "A stream that began with status 200 holds an error."
    ERROR_IN_REPLY = "error_in_reply", "A reply with status 200 holds an error."
    ABORTED_ANSWER = (
        "aborted_answer",
        "The finish_reason says that the server failed, such as error or abort.",
    )
    ARGUMENTS_NOT_TEXT = (
        "arguments_not_text",
        "The arguments of a call are a JSON value, or missing, instead of JSON text.",
    )
    CALL_WITHOUT_FUNCTION = "call_without_function", "A tool call has no function, or one without a name."


FAILURES = frozenset(
    {
        ProtocolNote.CUT_STREAM,
        ProtocolNote.ERROR_IN_STREAM,
        ProtocolNote.ERROR_IN_REPLY,
        ProtocolNote.ABORTED_ANSWER,
    }
)
"""Notes that mean that there is no answer: such a call is repeated, and in the end not scored."""


def merge_notes(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of several groups once each, in the order of their table."""
    codes = {str(code) for group in groups for code in group}
    known_codes = [note.value for note in ProtocolNote if note in codes]
    return (*known_codes, *sorted(codes.difference(known_codes)))


def describe_note(code: str) -> str:
    """Return the meaning of a code; a newer version may have written one that is not known here."""
    known_meaning = next((note.meaning for note in ProtocolNote if note == code), None)
    return known_meaning or "A newer version of fcbench knows what this means."
