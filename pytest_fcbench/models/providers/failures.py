"""Causes of failed calls, read from the status, the headers and the body of a reply."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime

from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.text import shorten_middle

_LONGEST_ERROR = 2**16
"""Bytes of an error in which its message is looked for."""

_CAUSES = {
    400: "bad_request",
    401: "authentication",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    422: "bad_request",
    429: "rate_limit",
}
"""Causes by HTTP status; that of every other one is ``endpoint``."""

_TRANSIENT = frozenset({408, 409, 425, 429})
"""Statuses that may pass although they blame the request."""


_CAUSES_BY_WORDS = {"no_db_connection": "authentication", "Invalid model name passed in": "not_found"}
"""Words with which a LiteLLM proxy refuses an unknown key and an unknown model, both with status 400."""


def diagnose_status(status: int, message: str = "") -> tuple[str, bool]:
    """Return the cause of a failed reply by its HTTP status, and whether trying again may help.

    A few servers tell only in the message what others tell by the status.
    """
    if status == 400:
        for words, cause in _CAUSES_BY_WORDS.items():
            if words in message:
                return cause, False
    return _CAUSES.get(status, "endpoint"), status >= 500 or status < 400 or status in _TRANSIENT


def read_error_message(body: bytes) -> str:
    """Read the message of an error with its code, or the whole body where it has no known form.

    Known are ``{"error": {"message", "code", "type"}}`` (OpenAI), ``{"error": text}`` (Ollama, TGI),
    ``{"message": text}`` (older vLLM, Mistral) and ``{"detail": text or list}`` (FastAPI).
    """
    text = body[:_LONGEST_ERROR].decode("utf-8", "replace")
    if len(body) > _LONGEST_ERROR:
        return text
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return text
    error = value.get("error", value) if isinstance(value, Mapping) else value
    if not isinstance(error, Mapping):
        return error if isinstance(error, str) else text
    message = error.get("message") or error.get("detail")
    if message is None:
        return text
    words = message if isinstance(message, str) else json.dumps(message)
    # Only the code says that an account is empty, or that a prompt is too long, in words that are no prose.
    codes = [str(error[name]) for name in ("code", "type") if isinstance(error.get(name), str)]
    return " ".join([words, *(f"({code})" for code in codes if code not in words)])


_LONGEST_REASON = 300


def write_in_one_line(message: str, secrets: Iterable[str] = ()) -> str:
    """Write the message of an endpoint as at most 300 characters in one line, without secrets."""
    # Secrets first: half a secret would not be recognised.
    return shorten_middle(redact_secrets(" ".join(message.split()), *secrets), _LONGEST_REASON)


_OVERFLOW = re.compile(
    "|".join(
        (
            r"context_length_exceeded",  # OpenAI, as a code
            r"maximum context length",  # OpenAI, vLLM, SGLang, Mistral
            r"longer than the (maximum )?model('s)? (length|context length)",  # vLLM, SGLang
            r"exceed_context_size_error|exceeds the available context size",  # llama.cpp
            r"exceed context window of",  # llama-cpp-python
            r"context the overflows|tokens to keep from the initial prompt is greater",  # LM Studio
            r"prompt is too long|input length and `max_tokens` exceed context limit",  # Anthropic
            r"inputs` tokens \+ `max_new_tokens` must be|inputs` must have less than",  # TGI
            r"input length exceeds the (maximum )?context length",  # Ollama
            r"exceeds the maximum number of tokens allowed",  # Gemini
            r"reduce the length of the (messages|prompt|input)",  # Groq and others
        )
    ),
    re.IGNORECASE,
)
"""The words in which servers say that a request does not fit into the context."""

_TOO_LARGE = 413


def is_context_overflow(status: int, message: str) -> bool:
    """Tell whether a failed reply says that the request does not fit into the model's context."""
    # llama.cpp has sent its error with status 500, and in older versions with 400.
    return status == _TOO_LARGE or (status >= 400 and _OVERFLOW.search(message) is not None)


def parse_retry_after(value: str, sent: str | None = None) -> float | None:
    """Return the seconds of a ``Retry-After`` header (RFC 9110, 10.2.3), given as a number or as a date.

    A date is by the endpoint's clock, whose time its ``Date`` header says (``sent``): ours may be wrong.
    """
    # Bounded: a longer number would be a wait of decades.
    if re.fullmatch(r"-?\d{1,9}(\.\d*)?", value.strip()):
        return max(0.0, float(value))
    until, now = _parse_date(value), None if sent is None else _parse_date(sent)
    return None if until is None else max(0.0, until - (time.time() if now is None else now))


def _parse_date(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
