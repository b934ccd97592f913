"""Join the events of a streamed chat completion to the reply that would have come without a stream.

Events are read as the WHATWG text on server-sent events says (section 9.2.6), but for two habits of servers:
an event at the end needs no empty line, and events that are one JSON value a line need none between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import StringIO
from itertools import islice

from pytest_fcbench.codecs.chat_reply import SERVED
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import ProtocolNote, merge_notes
from pytest_fcbench.domain.text import as_list, join_surrogate_pairs
from pytest_fcbench.models.providers.reply_bodies import (
    BYTES_OF_A_SIGN,
    LONGEST_BODY,
    MIB,
    ReportedError,
    StreamRoom,
    count_signs,
    find_error,
    find_usage,
    is_event_stream,
    parse_json,
)
from pytest_fcbench.models.providers.streamed_calls import StreamedCalls

_MOST_EVENTS = 150_000
"""Events of a stream, about as many as the tokens of an answer; the longest that models offer are 131,072."""
_LONGEST_EVENT = 2 * MIB
"""Bytes of an event; some servers send a whole answer as one."""
_MOST_SIGNS = LONGEST_BODY // BYTES_OF_A_SIGN
"""Signs of JSON in an event."""
_MOST_SIGNS_OF_ALL = 8 * _MOST_SIGNS
"""Signs of JSON in a stream: an event of an answer has about ten in 150 bytes."""
_BOM = "\ufeff".encode()
# Possessive, or CRLF would also be two line ends; a search that begins with a set of characters is fast.
_EMPTY_LINES = re.compile(rb"[\r\n](?:(?<=\r)\n)?+(?>\r\n|\r|\n)++")
_FIELD = re.compile(
    rb"(?<![^\r\n])"
    rb"(?:(?:data|(error))(?::\x20?([^\r\n]*))?|event:[ \t\v\f]*(error)[ \t\v\f]*|(\{[^\r\n]*))(?![^\r\n])"
)
"""The lines of an event that count here. Others are comments, which keep a connection open, or its number.

Some servers send an error in a field of that name (llama.cpp), or as a bare line of JSON.
"""
_KEEP_ALIVE = re.compile(rb"(?!true|false|null|NaN)[A-Za-z][\w :.-]{0,40}")
"""Data that are a word and no JSON, such as ``ping``."""
_TEXTS = ("content", "reasoning", "reasoning_content", "refusal")
"""Members of a message that are its answer."""
_DONE = b"[DONE]"


@dataclass(frozen=True, slots=True)
class JoinedStream:
    """A streamed reply as if it had come whole, and what its server did wrong."""

    reply: Mapping[str, object]
    """Its ``choices`` has at most one; a stream without any has no such member."""
    notes: tuple[str, ...]
    """Codes of ``ProtocolNote``."""


def read_value(
    body: bytes, content_type: str, *, wants_stream: bool = False, longest: int = LONGEST_BODY
) -> JoinedStream:
    """Read the JSON object of a reply, whole or streamed; of a stream the first ``longest`` characters.

    Raises ``CallError``, and of its kind ``ReportedError`` where the reply reports an error.
    """
    # Some gateways stream under another type, or send a whole reply as a stream.
    begins = body.removeprefix(_BOM).lstrip()[:6]
    if begins.startswith((b"data:", b"event:")) or (is_event_stream(content_type) and begins[:1] != b"{"):
        return join_events(body, longest)
    value = parse_json(body, content_type=content_type)
    if not isinstance(value, Mapping):
        raise CallError("garbled", f"the reply is not a JSON object: {body[:200]!r}", transient=True)
    if error := find_error(value):
        raise ReportedError(ProtocolNote.ERROR_IN_REPLY, error)
    return JoinedStream(value, (ProtocolNote.NOT_STREAMED,) if wants_stream else ())


def join_events(body: bytes, longest: int = LONGEST_BODY) -> JoinedStream:
    """Join the chunks of a stream. Raises ``CallError`` for one that is cut or no stream of JSON."""
    notes: set[ProtocolNote] = set()
    return _join_chunks(_read_events(body, notes), notes, StreamRoom(longest))


def join_chunks(chunks: Iterator[Mapping[str, object]]) -> JoinedStream:
    """Join chunks that a client library has read. Raises ``CallError`` where the stream is cut."""
    stream = _join_chunks(map(_check_value, chunks), set(), StreamRoom())
    # Client libraries end at ``[DONE]`` and keep it to themselves.
    return JoinedStream(stream.reply, tuple(note for note in stream.notes if note != ProtocolNote.NO_DONE))


def _join_chunks(chunks: Iterator[object], notes: set[ProtocolNote], room: StreamRoom) -> JoinedStream:
    first_number, first_choice = -1, None
    reply: dict[str, object] = {}
    is_done = False
    for chunk in chunks:
        if not isinstance(chunk, dict):
            is_done |= chunk is _DONE
            continue
        if usage := find_usage(chunk):
            reply["usage"] = usage
        reply |= {name: chunk[name] for name in SERVED if chunk.get(name)}
        for choice in as_list(chunk.get("choices")):
            if isinstance(choice, dict):
                number = index if isinstance(index := choice.get("index"), int) else 0
                # Of several answers (``n``) the first counts.
                if first_choice is None or (number == 0 and first_number != 0):
                    choice_room = replace(room)
                    first_choice = _GrowingChoice(choice_room, replace(room), StreamedCalls(choice_room))
                    first_number = number
                if number == first_number:
                    first_choice.add_chunk(choice)
    if first_choice is None:
        return JoinedStream(reply, merge_notes(notes))
    if first_choice.reason is None:
        if not is_done or first_choice.calls.is_cut:
            reason = "the stream ended without finish_reason and [DONE], so the answer is cut"
            raise CallError(ProtocolNote.CUT_STREAM, reason, transient=True)
        notes.add(ProtocolNote.NO_FINISH_REASON)
    if not is_done:
        notes.add(ProtocolNote.NO_DONE)
    reply["choices"] = [first_choice.join()]
    return JoinedStream(reply, merge_notes(notes, first_choice.notes))


def _read_events(body: bytes, notes: set[ProtocolNote]) -> Iterator[object]:
    """Yield the JSON values of a stream's events, and ``_DONE`` where one says it. Raises ``CallError``."""
    body = body.removeprefix(_BOM)
    has_many_signs = count_signs(body) > _MOST_SIGNS_OF_ALL
    all_signs = 0
    for text, is_error in _find_texts(body, notes):
        if len(text) > _LONGEST_EVENT:
            raise CallError("too_large", f"an event has more than {_LONGEST_EVENT // MIB} MiB")
        if has_many_signs or len(text) > _MOST_SIGNS:
            all_signs += (signs := count_signs(text))
            if signs > _MOST_SIGNS or all_signs > _MOST_SIGNS_OF_ALL:
                what = f"an event has {signs:,}" if signs > _MOST_SIGNS else f"the events have {all_signs:,}"
                raise CallError("too_large", f"{what} lists, objects and members")
        # A letter may be cut in two.
        event_text = text.decode("utf-8", "replace").removeprefix("\ufeff")
        if text == _DONE:
            yield _DONE
        elif text[:1] == b"{" or not (_KEEP_ALIVE.fullmatch(text) or (is_error and text[:1] != b"[")):
            yield _check_value(parse_json(event_text, "an event"), is_error)
        elif is_error:
            _check_value(event_text, is_error)


def _find_texts(body: bytes, notes: set[ProtocolNote]) -> Iterator[tuple[bytes, bool]]:
    """Yield the text of each value, and whether its event says that it is an error. Raises ``CallError``."""
    count = 0
    for block in _split_blocks(body):
        data, is_error = [], False
        # Nearly every event is one line, in which no field has to be searched for.
        is_short = len(block) < _LONGEST_EVENT and block.startswith(b"data:")
        if is_short and b"\n" not in block and b"\r" not in block:
            data.append(block[5:])
        else:
            for found in islice(_FIELD.finditer(block), _MOST_EVENTS + 1):
                error_field, value, error_name, bare = found.groups(b"")
                is_error |= bool(error_field or error_name)
                if not error_name:
                    data.append(bare or value)
        count += len(data) or 1
        if count > _MOST_EVENTS:
            raise CallError("too_large", f"the reply has more than {_MOST_EVENTS:,} events")
        for text in _separate_values(data, notes):
            yield text, is_error


def _check_value(value: object, is_error: bool = False) -> object:
    """Return the value of an event, unless it is an error. Raises ``ReportedError``."""
    # Gemini sends one in a list.
    for part in value if isinstance(value, list) else (value,):
        if isinstance(part, dict) and (error := find_error(part)):
            raise ReportedError(ProtocolNote.ERROR_IN_STREAM, error)
    if is_error:
        raise ReportedError(ProtocolNote.ERROR_IN_STREAM, value)
    return value


def _split_blocks(body: bytes) -> Iterator[bytes]:
    """Yield what stands between empty lines, without making all of it at once."""
    start = 0
    for separator in _EMPTY_LINES.finditer(body):
        yield body[start : separator.start()]
        start = separator.end()
    if start < len(body):
        yield body[start:]


def _separate_values(data: list[bytes], notes: set[ProtocolNote]) -> list[bytes]:
    """Return the texts of an event's values: all its lines as one, or each where each is a value."""
    whole = b"\n".join(data).strip()
    if len(data) > 1 and whole:
        try:
            if len(whole) > _LONGEST_EVENT or count_signs(whole) > _MOST_SIGNS:
                raise CallError("too_large", "one event has so many lines only where they are values")
            parse_json(whole.decode("utf-8", "replace").encode())
        except CallError:
            notes.add(ProtocolNote.EVENT_LINES)
            return [line for each in data if (line := each.strip())]
    return [whole] if whole else []


@dataclass
class _GrowingChoice:
    """A choice with an assistant message that comes in pieces."""

    room: StreamRoom
    other_room: StreamRoom
    """What else may be an answer takes no room from the message."""
    calls: StreamedCalls
    members: dict[str, object] = field(default_factory=dict)
    """The members of the message; texts that come in pieces as ``StringIO``."""
    legacy_call: dict[str, object] = field(default_factory=dict)
    whole: Mapping[str, object] | None = None
    """A message that came whole."""
    texts: StringIO | None = None
    """The text of a completion that has no messages."""
    reason: object = None
    notes: set[ProtocolNote] = field(default_factory=set)

    def add_chunk(self, choice: Mapping[str, object]) -> None:
        """Add what a chunk brings: texts and lists go on, other members take the last value.

        Raises ``CallError`` for too many.
        """
        self.room.take_part()
        self.reason = choice.get("finish_reason") or self.reason
        if isinstance(message := choice.get("message"), dict) and (
            self.whole is None or message.get("content") or message.get("tool_calls")
        ):
            self.whole = message
        if isinstance(text := choice.get("text"), str):
            self.texts = self.texts or StringIO()
            self.texts.write(self.other_room.take_text(text))
        delta = choice.get("delta")
        for name, value in delta.items() if isinstance(delta, dict) else ():
            if name == "tool_calls" and isinstance(value, (list, dict)):
                # The message holds its members in the order in which they came.
                self.members[name] = True
                for piece in value if isinstance(value, list) else [value]:
                    if isinstance(piece, dict):
                        self.calls.add_piece(piece)
            elif name == "function_call" and isinstance(value, Mapping):
                for part, part_value in value.items():
                    room = self.other_room if part in ("name", "arguments") else None
                    self._add_member(self.legacy_call, part, part_value, room, goes_on=part != "name")
            else:
                room = self.room if name in _TEXTS else None
                self._add_member(self.members, name, value, room, goes_on=name != "role")

    def _add_member(
        self, members: dict[str, object], name: str, value: object, room: StreamRoom | None, *, goes_on: bool
    ) -> None:
        """Add a member of a message; ``room`` is that of a text of the answer, None for what is no answer."""
        before = members.get(name)
        if before is not None and value in (None, "", []):
            return  # an empty value takes nothing back
        if room is self.room and isinstance(before, StringIO) and isinstance(value, list):
            members[name] = before = [_make_part(before.getvalue())] if before.getvalue() else []
        if room is self.room and isinstance(before, list) and isinstance(value, str):
            # Mistral sends reasoning as parts, which may fill their room, and then the answer as text.
            before.append(_make_part(room.take_text(value)))
        elif isinstance(value, str) and goes_on:
            if room or self.room.takes(value):
                # Adding each piece to those before would take ever longer.
                text = before if isinstance(before, StringIO) else StringIO()
                text.write(room.take_text(value) if room else value)
                members[name] = text
        elif isinstance(before, list) and isinstance(value, list):
            if self.room.takes(value):
                before.extend(value)
        elif (name not in members or value != before) and self.room.takes([name, value]):
            members[name] = value

    def join(self) -> Mapping[str, object]:
        """Return the choice as if it had come whole."""
        # Each text is let go once it is joined.
        message = {name: _join_pieces(self.members.pop(name)) for name in list(self.members)}
        if message.get("tool_calls"):
            message["tool_calls"] = self.calls.join()
            self.notes |= self.calls.notes
        if not message.get("tool_calls") and self.legacy_call:
            self.notes.add(ProtocolNote.LEGACY_FUNCTION_CALL)
            function = {name: _join_pieces(value) for name, value in self.legacy_call.items()}
            message["tool_calls"] = [{"type": "function", "function": function}]
        is_lacking = not message.get("tool_calls")
        if self.whole and is_lacking and (self.whole.get("tool_calls") or not message.get("content")):
            self.notes.add(ProtocolNote.MESSAGE_IN_STREAM)
            message = dict(self.whole)
        text = {} if self.texts is None else {"text": _join_pieces(self.texts)}
        return {"message": message, "finish_reason": self.reason, **text}


def _make_part(text: str) -> Mapping[str, str]:
    return {"type": "text", "text": text}


def _join_pieces(value: object) -> object:
    return join_surrogate_pairs(value.getvalue()) if isinstance(value, StringIO) else value
