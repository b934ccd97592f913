"""The words in which servers say why an answer ended, one table for all interfaces."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.transcript import Completion, Ending

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


def is_stored_failure(completion: Completion, *, is_stream: bool) -> bool:
    """Tell whether a stored answer is a failure of the endpoint, which earlier versions took for an answer.

    Those are answers that the server broke off, and streams that were cut. One that only lacks a finish
    reason has a note of that now.
    """
    is_cut = (
        is_stream and completion.message is not None and not (completion.finish_reason or completion.protocol)
    )
    return is_cut or is_failure(completion.finish_reason)
