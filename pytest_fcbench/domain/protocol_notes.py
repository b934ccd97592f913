"""Protocol notes and finish reasons: what a server did against its interface, and why an answer ended.

A note is about the server, never about the model: it changes no verdict. Answers carry their notes into the
Record; a failed try leaves its note on the answer that a later try brought. The words of finish reasons are
one table for all interfaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.domain.transcript import Ending


class ProtocolNote(StrEnum):
    """A way in which a reply breaks the interface."""

    STREAM_INDEX = "stream_index"
    CHANGED_ID = "changed_id"
    REPEATED_NAME = "repeated_name"
    REPEATED_CALL = "repeated_call"
    EMPTY_ARGUMENTS_FIRST = "empty_arguments_first"
    NOT_STREAMED = "not_streamed"
    MESSAGE_IN_STREAM = "message_in_stream"
    LEGACY_FUNCTION_CALL = "legacy_function_call"
    EVENT_LINES = "event_lines"
    NO_FINISH_REASON = "no_finish_reason"
    NO_DONE = "no_done"
    CUT_STREAM = "cut_stream"
    ERROR_IN_STREAM = "error_in_stream"
    ERROR_IN_REPLY = "error_in_reply"
    ABORTED_ANSWER = "aborted_answer"
    ARGUMENTS_NOT_TEXT = "arguments_not_text"
    CALL_WITHOUT_FUNCTION = "call_without_function"

    @property
    def meaning(self) -> str:
        """The meaning that readers are shown."""
        return _read_meanings()[self]


@cache
def _read_meanings() -> Mapping[str, str]:
    return read_table(dict[str, str], __file__, "protocol_notes.toml")


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
    return _read_meanings().get(code, "A newer version of fcbench knows what this means.")


_WORDS: Mapping[Ending, str] = {
    # Mistral: model_length; Anthropic, Bedrock: model_context_window_exceeded; Cohere: error_limit.
    Ending.CUT: "length max_tokens max_output_tokens model_length model_context_window_exceeded error_limit",
    # Bedrock: content_filtered, guardrail_intervened; GLM: sensitive; Cohere: error_toxic; Gemini: the rest.
    Ending.FILTERED: "content_filter content_filtered guardrail_intervened sensitive error_toxic safety "
    "prohibited_content blocklist spii recitation",
    Ending.REFUSED: "refusal",
    Ending.FUNCTION_CALL: "function_call",
    # Bedrock: malformed_tool_use, malformed_model_output; Gemini: the others.
    Ending.MALFORMED: "malformed_function_call unexpected_tool_call malformed_response malformed_tool_use "
    "malformed_model_output",
}
_ENDINGS: Mapping[str, Ending] = {word: ending for ending, words in _WORDS.items() for word in words.split()}

# OpenRouter, vLLM and Mistral: error; vLLM and SGLang: abort; DeepSeek: insufficient_system_resource;
# GLM: network_error; OpenAI's responses: failed, cancelled; Cohere: timeout.
_FAILURES = frozenset(
    {
        *("error", "abort", "aborted", "failed", "cancelled", "canceled", "timeout"),
        *("server_error", "internal_error", "network_error", "insufficient_system_resource"),
    }
)


def _find_word(reason: object) -> str:
    """Return the word of a reason; Gemini's chat interface writes ``function_call_filter: WORD``."""
    return reason.rpartition(":")[2].strip().lower() if isinstance(reason, str) else ""


def is_failure(reason: object) -> bool:
    """Tell whether a finish reason says that the server failed, so that there is no answer."""
    return _find_word(reason) in _FAILURES


def read_ending(reason: object) -> Ending | None:
    """Return the ending that a finish reason stands for; None where the model ended the answer itself.

    Raises ``CallError`` for a reason that says that the server failed.
    """
    if is_failure(reason):
        message = f"the answer was not finished: its finish_reason is {reason!r}"
        raise CallError(ProtocolNote.ABORTED_ANSWER, message, transient=True)
    return _ENDINGS.get(_find_word(reason))
