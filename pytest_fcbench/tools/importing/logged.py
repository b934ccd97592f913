"""A conversation of a log, whatever form it was written in, and how values in it are read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.json_text import read_json_at, read_json_text


class UnreadableLogError(Exception):
    """A line that is no conversation; the message says why."""


class NoConversationError(UnreadableLogError):
    """A line that can be read and has no conversation, such as a trace of other things."""


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call of the assistant."""

    name: str
    arguments: object
    """An object, or whatever else the log has in its place."""
    id: str = ""
    """The name by which results refer to it; empty where results follow in the order of calls."""


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A message of a log."""

    role: str
    """``system``, ``user``, ``assistant`` or ``tool``."""
    text: str = ""
    calls: tuple[LoggedCall, ...] = ()
    call_id: str = ""
    """The id of the call that a message of the role ``tool`` answers, or empty."""
    is_example: bool = True
    """False where the log says that nobody should learn from this answer."""
    other_part: str = ""
    """The kind of a part that is no text, such as ``image_url``, or empty."""
    has_unread_call: bool = False
    """True where its text looks like a call that cannot be read."""


@dataclass(frozen=True, slots=True)
class LoggedConversation:
    """A conversation with the functions that the assistant was offered."""

    messages: tuple[LoggedMessage, ...]
    tools: tuple[Mapping[str, object], ...] = ()
    """In any form that function docs of a suite may have."""
    new_from: int = 0
    """The place of the first new message; the answers before have records of their own."""


def load_json(value: object) -> object:
    """Return a value; a text is read as JSON, else as a Python literal. Raises ValueError."""
    if not isinstance(value, str):
        return value
    try:
        json_value: object = read_json_text(value)
    except ValueError as error:
        try:
            # Written once more, because a literal may have what JSON has not, such as a tuple.
            json_value = read_json_text(json.dumps(read_literal(value)))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            raise error from None
    return json_value


def split_values(text: str) -> Iterator[object]:
    """Yield the values of a text, between which there is nothing but separators. Raises ValueError.

    They are JSON, in whose texts there may be line ends as they are; the last may be a Python literal.
    """
    at = 0
    while at < len(text):
        try:
            value, at = read_json_at(text, at, strict=False)
        except ValueError:
            yield load_json(text[at:])
            return
        yield value
        at += len(text[at:]) - len(text[at:].lstrip(" \n\t\r;,"))


def load_list(value: object) -> Sequence[object]:
    """Return a list; any other value becomes a list of it. Raises ValueError."""
    json_value = load_json(value)
    return json_value if isinstance(json_value, list) else [] if json_value is None else [json_value]
