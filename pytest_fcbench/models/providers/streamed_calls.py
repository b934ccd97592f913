"""Join the pieces of streamed tool calls by rules, because servers number them in many ways.

The interface wants each piece to name its call by an index from 0 on, and the id and the name once, in the
call's first piece. What servers do instead is noted (``ProtocolNote``), and read so:

- a piece with the id of a known call belongs to that call, whatever its index says;
- a new id with a name begins a call, also under an index that another call has;
- a piece without id and name continues the call of its index; where no call has that index, the last one;
- a name that is repeated is no piece of the name;
- calls stand in the order in which they began. Only where one began before the one before it was complete
  does the index tell the order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.text import join_surrogate_pairs, read_json_text
from pytest_fcbench.domain.transcript import MOST_CALLS
from pytest_fcbench.models.providers.reply_bodies import StreamRoom

_STRUCTURE = re.compile(r'["\\{}\[\]]')
"""The signs of JSON that decide where a value ends."""
_MOST_IDS = 100
"""Ids of a call that are kept."""
_LONGEST_NAME = 10_000
"""Characters of a function's name that are kept."""
_NUMBER = re.compile("[0-9]{1,9}")
_READ_MEMBERS = frozenset({"index", "function", "name", "arguments"})
_NOTHING = ("{}", "null")
_MOST_OF_NOTHING = 16
"""The longest text that can be an empty object with some white space."""


@dataclass
class _GrowingJson:
    """The text of a JSON value that comes in pieces.

    Its brackets are counted as the pieces come: parsing the whole after each would take ever longer.
    """

    pieces: StringIO = field(default_factory=StringIO)
    length: int = 0
    has_begun: bool = False
    """True once a piece has come, also an empty one."""
    depth: int = 0
    is_in_string: bool = False
    escaped_at: int = -1
    """The place in the next piece of a character that a backslash escapes."""
    is_complete: bool = False
    """True where a value is closed, so that nothing more can follow."""

    def append(self, piece: str) -> None:
        """Add a piece."""
        self.pieces.write(piece)
        self.length += len(piece)
        self.has_begun = True
        for sign in _STRUCTURE.finditer(piece):
            place = sign.start()
            if place == self.escaped_at:
                continue
            match piece[place]:
                case '"':
                    self.is_in_string = not self.is_in_string
                case "\\":
                    self.escaped_at = place + 1
                case "{" | "[" if not self.is_in_string:
                    self.depth += 1
                case "}" | "]" if not self.is_in_string:
                    self.depth -= 1
        self.escaped_at -= len(piece)
        self.is_complete = not self.is_open and (self.is_complete or bool(piece.strip()))

    @property
    def is_open(self) -> bool:
        """True in the middle of a value."""
        return self.depth > 0 or self.is_in_string

    def is_empty_object(self) -> bool:
        """Tell whether the text so far is ``{}``, or null."""
        return self.length <= _MOST_OF_NOTHING and self.join().strip() in _NOTHING

    def is_repeated_by(self, piece: object) -> bool:
        """Tell whether a piece is the same JSON value again."""
        # A much shorter one cannot be, and is not worth joining the pieces for.
        if not isinstance(piece, str) or len(piece) * 2 < self.length or not piece.strip():
            return False
        text = self.join()
        try:
            value = read_json_text(piece)
            return text == piece or bool(value == read_json_text(text))
        except (ValueError, RecursionError):
            return False

    def join(self) -> str:
        """Return the text so far."""
        return self.pieces.getvalue()


@dataclass
class _StreamedCall:
    """A tool call that comes in pieces."""

    index: int | None
    members: dict[str, object] = field(default_factory=dict)
    function: dict[str, object] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    name: str = ""
    text: _GrowingJson = field(default_factory=_GrowingJson)
    value: object = None
    """Arguments that came as a JSON value instead of text."""

    @property
    def is_empty(self) -> bool:
        """True where no arguments have come."""
        return self.value is None and not self.text.length

    @property
    def is_complete(self) -> bool:
        """True where nothing more can follow."""
        return self.text.is_complete or self.value is not None

    def is_beginning_of(self, other: _StreamedCall) -> bool:
        """Tell whether this call only announced another one."""
        return self.is_empty and (self.index, self.name) == (other.index, other.name)

    def goes_on_with(self, arguments: object) -> bool:
        """Tell whether these arguments belong to this complete call: the same again, or those it lacked."""
        if self.value is not None:
            return self.value in (arguments, {})
        return self.text.is_repeated_by(arguments) or self.text.is_empty_object()

    def add_text(self, piece: str) -> set[ProtocolNote]:
        """Add a piece of the arguments, unless it is all of them again; return what is wrong with it."""
        if self.is_complete and piece.strip():
            if self.text.is_repeated_by(piece) or piece.strip() in _NOTHING:
                return {ProtocolNote.REPEATED_CALL}
            if self.value == {} or self.text.is_empty_object():
                self.text, self.value = _GrowingJson(), None
                self.text.append(piece)
                return {ProtocolNote.EMPTY_ARGUMENTS_FIRST}
        self.text.append(piece)
        return set()

    def join(self) -> dict[str, object]:
        """Return the call as if it had come whole; its index, which only streams have, is left out."""
        function = {**({"name": self.name} if self.name else {}), **self.function}
        if self.value is not None:
            function["arguments"] = json.dumps(self.value)
        elif self.text.has_begun:
            function["arguments"] = join_surrogate_pairs(self.text.join())
        return {**self.members, **({"function": function} if function else {})}


@dataclass
class StreamedCalls:
    """The tool calls of a message that comes in pieces."""

    room: StreamRoom = field(default_factory=StreamRoom)
    notes: set[ProtocolNote] = field(default_factory=set)
    _calls: list[_StreamedCall] = field(default_factory=list)
    _by_id: dict[str, _StreamedCall] = field(default_factory=dict)
    """The last call of each id."""
    _by_index: dict[int, _StreamedCall] = field(default_factory=dict)
    """The last call of each index."""
    _overlaps: bool = False
    """True where a call began before the one before it was complete."""

    @property
    def is_cut(self) -> bool:
        """True where the last call is in the middle of its arguments."""
        return bool(self._calls) and self._calls[-1].text.is_open

    def add_piece(self, piece: Mapping[str, object]) -> None:
        """Add a piece of a call, an element of ``delta.tool_calls``. Raises ``CallError`` for too many."""
        self.room.take_part()
        part = piece.get("function")
        function: Mapping[str, object] = part if isinstance(part, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        call_id, name = str(piece.get("id") or ""), name[:_LONGEST_NAME] if isinstance(name, str) else ""
        index = piece.get("index")
        if type(index) is not int:
            self.notes.add(ProtocolNote.STREAM_INDEX)
            index = int(index) if isinstance(index, str) and _NUMBER.fullmatch(index) else None
        call = self._find_call(index, call_id, name, arguments)
        if call_id not in call.ids and call_id and len(call.ids) < _MOST_IDS and self.room.takes(call_id):
            call.ids.add(call_id)
        if call_id in call.ids:
            self._by_id[call_id] = call
        self._keep_members(call.members, piece)
        self._keep_members(call.function, function)
        if name and name == call.name:
            self.notes.add(ProtocolNote.REPEATED_NAME)
        elif name and len(call.name) < _LONGEST_NAME:
            # Some repeat what they have sent of it.
            rest = name.removeprefix(call.name)
            call.name += self.room.take_text(rest)
        if isinstance(arguments, str):
            self.notes |= call.add_text(self.room.take_text(arguments))
        elif arguments is not None:
            if not self.room.takes(arguments):
                raise CallError("too_large", "the arguments of calls that came as objects are too large")
            self.notes.add(ProtocolNote.ARGUMENTS_NOT_TEXT)
            call.value = arguments
        elif "arguments" in function:
            call.function.setdefault("arguments", None)

    def join(self) -> list[dict[str, object]]:
        """Return the calls as a message holds them that came whole."""
        calls: list[_StreamedCall] = []
        latest: dict[int | None, _StreamedCall] = {}
        for call in self._calls:
            before = latest.get(call.index)
            # A last piece that repeats the name of a complete call, and says nothing more.
            if before and call.name == before.name and call.ids <= before.ids and call.is_empty:
                self.notes.add(ProtocolNote.REPEATED_NAME)
                continue
            # Pieces that each have a new id and the name, also those before the arguments.
            while len(call.ids) > 1 and calls and calls[-1].is_beginning_of(call):
                calls.pop()
            latest[call.index] = call
            calls.append(call)
        every_id = [call_id for call in calls for call_id in call.ids]
        if len(every_id) > len(set(every_id)) or any(len(call.ids) > 1 for call in calls):
            self.notes.add(ProtocolNote.CHANGED_ID)
        indices = [call.index for call in calls if call.index is not None]
        if sorted(indices) != list(range(len(calls))):
            self.notes.add(ProtocolNote.STREAM_INDEX)
        if self._overlaps and len(indices) == len(calls):
            calls.sort(key=lambda call: call.index or 0)
        return [call.join() for call in calls]

    def _keep_members(self, members: dict[str, object], values: Mapping[str, object]) -> None:
        """Keep the members of a piece that only later requests repeat, as far as there is room."""
        for member, value in values.items():
            # Servers repeat members in each piece, or send them empty after the first.
            if member in _READ_MEMBERS or (before := members.get(member)):
                continue
            if (value is not before or member not in members) and self.room.takes([member, value]):
                members[member] = value

    def _find_call(self, index: int | None, call_id: str, name: str, arguments: object) -> _StreamedCall:
        """Return the call that a piece belongs to, a new one where it begins one."""
        last = self._calls[-1] if self._calls else None
        if call := self._by_id.get(call_id):
            has_moved = index not in (None, call.index)
            is_over = call.is_complete and (has_moved or not call.goes_on_with(arguments))
            is_other = has_moved and (name != call.name or (call.is_empty and not arguments))
            if name and (is_over or is_other):
                return self._begin_call(index)
            if has_moved:
                self.notes.add(ProtocolNote.STREAM_INDEX)
            return call
        call = last if index is None else self._by_index.get(index)
        if call and not (name and call.name):
            return call
        begins_value = isinstance(arguments, str) and arguments.lstrip()[:1] == "{"
        if call:
            if call_id and call.ids:
                begins_other = begins_value and index is None
                is_announced = call.is_empty and arguments
                is_other = name != call.name or begins_other or not (call.text.is_open or is_announced)
            else:
                is_other = name != call.name and begins_value
            return self._begin_call(index) if call.is_complete or is_other else call
        if last is None or last.is_complete:
            return self._begin_call(index)
        if name and (call_id or name != last.name or begins_value or not arguments or not last.text.is_open):
            return self._begin_call(index)
        # The index of this call grows from piece to piece.
        self.notes.add(ProtocolNote.STREAM_INDEX)
        return last

    def _begin_call(self, index: int | None) -> _StreamedCall:
        if len(self._calls) >= MOST_CALLS:
            raise CallError("too_large", f"the answer has more than {MOST_CALLS:,} calls")
        self._overlaps |= bool(self._calls and not self._calls[-1].is_complete)
        call = _StreamedCall(index)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call
