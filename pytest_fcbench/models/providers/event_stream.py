"""Join the events of a streamed chat completion to the reply that would have come without a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.models.providers.reply_bodies import MIB, parse_json

_MOST_EVENTS = 200_000
"""Events of a stream, which are about as many as the tokens of an answer."""
_LONGEST_EVENT = 2 * MIB
"""Bytes of an event; some servers send a whole answer as one."""
_EVENT = re.compile(rb"^data:[^\n]*", re.MULTILINE)
"""Other lines are comments, which keep a connection open, and names of events."""


def join_events(body: bytes) -> dict[str, object]:
    """Join the chunks of a stream to one reply with one choice. Raises ``CallError``."""
    message = _GrowingMessage()
    reason: object = None
    reply: dict[str, object] = {}
    chosen = False
    for chunk in _read_events(body):
        for name in ("usage", "error"):
            if chunk.get(name):
                reply[name] = chunk[name]
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            continue
        chosen, choice = True, choices[0]
        reason = choice.get("finish_reason") or reason
        if isinstance(delta := choice.get("delta"), Mapping):
            message.add_delta(delta)
    if chosen:
        reply["choices"] = [{"message": message.join(), "finish_reason": reason}]
    return reply


def _read_events(body: bytes) -> Iterator[Mapping[str, object]]:
    """Yield the objects of a stream's events. Raises ``CallError``."""
    for number, found in enumerate(_EVENT.finditer(body)):
        if number >= _MOST_EVENTS:
            raise CallError("too_large", f"the reply has more than {_MOST_EVENTS:,} events")
        data = found[0].removeprefix(b"data:").strip()
        if len(data) > _LONGEST_EVENT:
            raise CallError("too_large", f"an event has more than {_LONGEST_EVENT // MIB} MiB")
        if data not in (b"", b"[DONE]"):
            # A letter may be cut in two.
            chunk = parse_json(data.decode("utf-8", "replace").encode(), "an event")
            if isinstance(chunk, Mapping):
                yield chunk


class _Pieces(list[str]):
    """A text that comes in pieces. Adding each to those before would take ever longer."""


@dataclass
class _GrowingMessage:
    """An assistant message that comes in pieces."""

    members: dict[str, object] = field(default_factory=dict)
    calls: list[dict[str, object]] | None = None

    def add_delta(self, delta: Mapping[str, object]) -> None:
        """Add what a chunk brings: texts and lists go on, other members take the last value."""
        for name, value in delta.items():
            if name == "tool_calls" and isinstance(value, list):
                # The message holds its members in the order in which they came.
                self.members.setdefault(name, None)
                self.calls = self.calls or []
                for call in value:
                    if isinstance(call, Mapping):
                        _add_tool_call(self.calls, call)
            else:
                _add_member(self.members, name, value, goes_on=name != "role")

    def join(self) -> Mapping[str, object]:
        """Return the message as if it had come whole."""
        calls = {} if self.calls is None else {"tool_calls": list(map(_join_pieces, self.calls))}
        return _join_pieces(self.members) | calls


def _add_member(members: dict[str, object], name: str, value: object, *, goes_on: bool = True) -> None:
    before = members.get(name)
    if goes_on and isinstance(before, _Pieces) and isinstance(value, str):
        before.append(value)
    elif isinstance(before, list) and not isinstance(before, _Pieces) and isinstance(value, list):
        before.extend(value)
    # A null does not take back what came before.
    elif value is not None or name not in members:
        members[name] = _Pieces([value]) if isinstance(value, str) else value


def _join_pieces(members: Mapping[str, object]) -> dict[str, object]:
    """Return members whose texts came in pieces with whole texts, one level deeper too."""
    joined: dict[str, object] = {}
    for name, value in members.items():
        match value:
            case _Pieces():
                joined[name] = "".join(value)
            case dict() if name == "function":
                joined[name] = _join_pieces(value)
            case _:
                joined[name] = value
    return joined


def _add_tool_call(calls: list[dict[str, object]], delta: Mapping[str, object]) -> None:
    """Add a piece of a tool call; the place in the list is its index, which the message leaves out."""
    index = delta.get("index")
    place = index if isinstance(index, int) and 0 <= index <= len(calls) else len(calls)
    if place == len(calls):
        calls.append({})
    call = calls[place]
    for name, value in delta.items():
        if name == "function" and isinstance(value, Mapping):
            function = call.setdefault("function", {})
            assert isinstance(function, dict)
            for part, text in value.items():
                _add_member(function, part, text)
        # Servers repeat the id in each piece, or send it empty after the first.
        elif name != "index" and (value or name not in call):
            call[name] = value
