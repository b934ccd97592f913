"""Causes of failed calls, read from the status, the headers and the body of a reply."""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.text import read_json_text, shorten_middle
from pytest_fcbench.domain.transcript import Fault

_TRANSIENT = frozenset({"endpoint", "rate_limit", "timeout"})
"""Causes that may pass when the same is asked again."""

_BUSY = frozenset({502, 503, 504, 529})
_NEVER = {"quota": frozenset({500, *_BUSY}), "context_overflow": _BUSY, "max_tokens": _BUSY}
"""Statuses that a cause never has, whatever the words say: those of servers that are busy or broken."""
_MOST_DIGITS = 15
"""Digits of a count of tokens that are read."""

OWN_FAULTS = {
    "context_overflow": Fault.OVERFLOW,
    "endless_answer": Fault.TOO_LARGE,
    "unreadable_call": Fault.UNREADABLE_CALL,
}
"""Causes that are the model's own failure."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: its cause, whether trying again may help, and what to do about it."""

    cause: str
    transient: bool
    advice: str = ""
    context: int | None = None
    """The tokens of the model's context, where the reply does not tell how many the prompt leaves."""

    @property
    def fault(self) -> Fault | None:
        """The fault of a completion, where the failure is the model's own."""
        return OWN_FAULTS.get(self.cause)

    def make_error(self, reason: str, retry_after_s: float | None = None) -> CallError:
        """Make the error of a failure that is not the model's own; its reason ends with the advice."""
        reason = f"{reason}; {self.advice}" if self.advice else reason
        if self.context is not None:
            return AnswerRoomError(reason, self.context)
        return CallError(self.cause, reason, transient=self.transient, retry_after_s=retry_after_s)


class AnswerRoomError(CallError):
    """An endpoint refused a request whose answer may become too long, and did not tell how long it may be."""

    def __init__(self, reason: str, context: int) -> None:
        super().__init__("max_tokens", reason)
        self.context = context

    def with_reason(self, reason: str) -> CallError:
        """Return the same failure with another reason."""
        return AnswerRoomError(reason, self.context)

    def with_prompt(self, tokens: int | None) -> CallError:
        """Return the same failure with the longest answer beside a prompt of so many tokens, if known."""
        reason, _, _ = self.reason.rpartition("; ")
        if tokens is None:
            return CallError(self.cause, self.reason)
        return CallError(self.cause, f"{reason}; {_advise_tokens(self.context - tokens)}")


@dataclass(frozen=True, slots=True)
class FailureCause:
    """A row of the table of causes, ``failure_causes.toml``."""

    cause: str
    statuses: tuple[int, ...]
    pattern: re.Pattern[str] | None
    transient: bool
    advice: str


@cache
def _read_table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("failure_causes.toml").read_text(encoding="utf-8"))


@cache
def load_failure_causes() -> tuple[FailureCause, ...]:
    """Read the table of causes."""
    return tuple(
        FailureCause(
            row["cause"],
            tuple(row.get("statuses", ())),
            re.compile(row["pattern"], re.IGNORECASE) if "pattern" in row else None,
            row.get("transient", row["cause"] in _TRANSIENT),
            row.get("advice", ""),
        )
        for row in _read_table()["row"]
    )


def diagnose_failure(status: int, message: str) -> Failure:
    """Find the cause of a failed reply by its status and its words (``read_error_message``)."""
    for row in load_failure_causes():
        if (row.statuses and status not in row.statuses) or status in _NEVER.get(row.cause, ()):
            continue
        match = row.pattern.search(message) if row.pattern else None
        if row.pattern is None or match:
            groups = match.groupdict() if match else {}
            counts = {name: int(n.replace(",", "")[:_MOST_DIGITS]) for name, n in groups.items() if n}
            return _compare_counts(row, counts)
    return Failure("endpoint", status >= 500 or status < 400)


def _compare_counts(row: FailureCause, counts: Mapping[str, int]) -> Failure:
    """Make the failure of a row from the counts of tokens that were told."""
    failure = Failure(row.cause, row.transient, row.advice)
    asked_tokens, limit = counts.get("asked", 0), counts.get("limit")
    if row.cause == "rate_limit" and limit is not None and asked_tokens > limit:
        advice = (
            "the request alone exceeds this limit, so waiting does not help; raise the limit of the account, "
            "or ask for shorter answers (max_tokens)"
        )
        return replace(failure, transient=False, advice=advice)
    if row.cause != "max_tokens":
        return failure
    most = counts["beyond"] - 1 if "beyond" in counts else counts.get("most")
    if most is not None or limit is None:
        return replace(failure, advice=_advise_tokens(most))
    prompt = sum(counts.get(name, 0) for name in ("prompt", "tools", "images"))
    if prompt >= limit:
        return Failure("context_overflow", transient=False)
    # vLLM stops counting a prompt at one token too many.
    is_unknown = prompt == 0 or prompt + asked_tokens == limit + 1
    advice = _advise_tokens(limit - max(prompt, 1))
    return replace(failure, advice=advice, context=limit if is_unknown else None)


def _advise_tokens(most: int | None) -> str:
    return f"max_tokens={most} would do" if most else "ask for shorter answers"


_LONGEST_ERROR = 2**16
"""Bytes of an error in which its message is looked for."""
_LONGEST_MESSAGE = 4000
"""Characters of a message that are read."""
_MOST_WORDS = 100
_DEEPEST = 12
"""Levels of an error in which words are looked for."""

_NO_CODES = frozenset({"", "None", "null"})


def read_error_message(body: bytes) -> str:
    """Read the words of an error with its codes, or the whole body where it has no known form.

    Known are ``{"error": {"message", "code", "type"}}`` (OpenAI), ``{"error": text}`` (Ollama, TGI, xAI),
    ``{"message": text}`` (older vLLM, Mistral, Bedrock), ``{"detail": text or list}`` (FastAPI), lists of
    errors (Gemini), and what gateways wrap: ``error.metadata.raw`` (OpenRouter), and JSON as text.
    """
    text = body[:_LONGEST_ERROR].decode("utf-8", "replace")
    if len(body) > _LONGEST_ERROR:
        return text
    try:
        value: object = read_json_text(body)
    except (ValueError, RecursionError):
        return text
    words: list[str] = []
    codes: list[str] = []
    for is_code, phrase in islice(_collect_words(value), _MOST_WORDS):
        if is_code:
            codes.append(phrase)
        elif not any(phrase in earlier_phrase for earlier_phrase in words):
            words.append(phrase)
    if not words:
        return text
    message = " ".join(words)[:_LONGEST_MESSAGE]
    # Only the code says that an account is empty, or that a prompt is too long, in words that are no prose.
    return " ".join([message, *(f"({code})" for code in dict.fromkeys(codes) if code not in message)])


def _collect_words(value: object, depth: int = 0) -> Iterator[tuple[bool, str]]:
    """Yield the words and codes of an error, outer ones first, and whether each is a code."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        inner: object = None
        if value.lstrip().startswith(("{", "[")):
            with suppress(ValueError, RecursionError):
                inner = read_json_text(value)
        if isinstance(inner, (dict, list)):
            yield from _collect_words(inner, depth + 1)
        elif value.strip():
            yield False, value
    elif isinstance(value, list):
        for each in value:
            yield from _collect_words(each, depth + 1)
    elif isinstance(value, Mapping):
        yield from _collect_members(value, depth)


def _collect_members(members: Mapping[str, object], depth: int) -> Iterator[tuple[bool, str]]:
    # The whole body of some is of the type "error".
    no_codes = _NO_CODES if depth else _NO_CODES | {"error"}
    for name in _read_table()["codes"]:
        if isinstance(code := members.get(name), str) and code not in no_codes:
            yield True, code
    if isinstance(param := members.get("param"), str) and " " in param:
        # Some gateways put the words there.
        yield False, param
    if isinstance(path := members.get("loc"), list):
        # FastAPI names the member that it refuses by its path.
        yield False, ".".join(map(str, path))
    for name, value in members.items():
        if isinstance(value, str) and name in _read_table()["words"]:
            yield from _collect_words(value, depth + 1)
    for name, value in members.items():
        if not isinstance(value, str) and name in _read_table()["holders"]:
            yield from _collect_words(value, depth + 1)


_LONGEST_REASON = 300


def write_in_one_line(message: str, secrets: Iterable[str] = ()) -> str:
    """Write the message of an endpoint as at most 300 characters in one line, without secrets."""
    # Secrets first: half a secret would not be recognised.
    return shorten_middle(redact_secrets(" ".join(message.split()), *secrets), _LONGEST_REASON)


def parse_retry_after(value: str, date_header: str | None = None) -> float | None:
    """Return the seconds of a ``Retry-After`` header (RFC 9110, 10.2.3), given as a number or as a date.

    A date is by the endpoint's clock, whose time ``date_header`` says: ours may be wrong.
    """
    # Bounded: a longer number would be a wait of decades.
    if re.fullmatch(r"-?\d{1,9}(\.\d*)?", value.strip()):
        return max(0.0, float(value))
    until, now = _parse_date(value), None if date_header is None else _parse_date(date_header)
    return None if until is None else max(0.0, until - (time.time() if now is None else now))


def _parse_date(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
