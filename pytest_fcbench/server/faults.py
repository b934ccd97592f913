"""Simulated faults of a server, a model and a template, and latencies, drawn for each request by number.

Faults of a stream change how it is written: each says the same as real servers wrongly say it, or ends too
early.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, groupby, zip_longest
from random import Random
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.native_syntaxes import NativeSyntax, list_schemas
from pytest_fcbench.codecs.native_prompt import write_native_text
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, ToolCall
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.models.baselines.careless import change_value, draw_chance
from pytest_fcbench.server.conforming import WireFault
from pytest_fcbench.server.parsing import ParserFault
from pytest_fcbench.server.replies import CallPiece, ChunkChoice, Delta, serialize_event

Latency: TypeAlias = Callable[[float], float]
"""Seconds before an answer, from a number in [0, 1)."""

_NUMBER = r"(\d+\.?\d*|\.\d+)"


class FaultKind(StrEnum):
    """A kind of simulated fault."""

    RATE_LIMIT = "429"
    """This status, with ``Retry-After``."""
    SERVER_ERROR = "500"
    """This status."""
    HANG = "hang"
    """No answer until the client gives up."""
    CUT = "cut"
    """The connection ends in the middle of the body, of a stream in the middle of its events."""
    RESET = "reset"
    """The connection is aborted before any answer."""
    GARBAGE = "garbage"
    """Status 200, and a body, of a stream an event, that is not JSON."""
    JSON = "json"
    """The arguments of tool calls, or the text, are cut in half; arguments are then invalid JSON.

    Of a list of vectors the second half is missing.
    """
    ONE_CALL = "one_call"
    """Send only the first of several tool calls, as a server does whose tool parser drops the others."""

    # How the stream of a chat reply is written.
    INDEX_FROM_1 = "index_from_1"
    """The first call has the index 1."""
    INDEX_GAP = "index_gap"
    """Calls have the indices 0, 2, 4."""
    SHARED_INDEX = "shared_index"
    """All calls have the index 0; only their ids differ."""
    TEXT_INDEX = "text_index"
    """Indices are texts, such as ``"0"``."""
    NO_INDEX = "no_index"
    """The pieces of calls have no index."""
    GROWING_INDEX = "growing_index"
    """Each piece has the next index, and the id of its call."""
    CHANGED_ID = "changed_id"
    """Each piece of a call has another id."""
    REPEATED_NAME = "repeated_name"
    """Each piece has the name of its function."""
    REPEATED_CALL = "repeated_call"
    """After its pieces each call comes once more as a whole."""
    EMPTY_ARGUMENTS_FIRST = "empty_arguments_first"
    """A call begins with the arguments ``{}``; then come those that are meant."""
    INTERLEAVED_CALLS = "interleaved_calls"
    """All calls begin before the first is complete, the last one first; their indices tell the order."""
    OBJECT_ARGUMENTS = "object_arguments"
    """Arguments are a JSON object, not a text."""
    WHOLE_MESSAGE = "whole_message"
    """One chunk has a whole message in place of a delta."""
    SECOND_CHOICE = "second_choice"
    """Pieces of a second choice come between those of the first."""
    NO_FINISH_REASON = "no_finish_reason"
    """``[DONE]`` comes without a finish reason before."""
    NO_DONE = "no_done"
    """The finish reason comes without ``[DONE]`` after."""
    CR_LINES = "cr_lines"
    """Lines end with a carriage return."""
    CRLF_LINES = "crlf_lines"
    """Lines end with a carriage return and a line feed."""
    SINGLE_LINES = "single_lines"
    """No empty line stands between events."""
    SPLIT_DATA = "split_data"
    """The JSON of an event stands on several lines."""
    COMMENTS = "comments"
    """A byte order mark, comments, and names and numbers of events."""
    STREAM_ERROR = "stream_error"
    """An error object comes in the middle of a stream, then ``[DONE]``."""
    CUT_STREAM = "cut_stream"
    """A stream ends in the middle, in good order, without finish reason and ``[DONE]``."""


class ModelFault(StrEnum):
    """A way in which a model is wrong."""

    WRONG = "wrong"
    """The share is one of entries, which are answered wrongly each time."""
    FLIP = "flip"
    """An answer is wrong now and then, as from a model that guesses."""
    STOP_EARLY = "stop_early"
    """The model ends after the first of several calls, where it calls by tools."""
    CROWDED = "crowded"
    """All answers are wrong where more functions are offered than the number behind the colon."""


CHANGES_ANSWER = frozenset([FaultKind.JSON, FaultKind.ONE_CALL])
"""The kinds that send an answer with other contents, in place of an error or none."""


Fault: TypeAlias = FaultKind | ModelFault | WireFault | ParserFault
"""A fault of any request, or one of a model, a template and a parser that have it."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The fault, if any, and the latency of one request."""

    fault: Fault | None
    latency_s: float


def read_shares(texts: Sequence[str], kinds: Iterable[Fault] = FaultKind) -> Mapping[Fault, float]:
    """Read the share of requests that each fault gets from ``KIND:SHARE`` texts. Raises ``UsageError``.

    The number of ``crowded`` is one of functions.
    """
    shares: dict[Fault, float] = {}
    fault_by_name: Mapping[str, Fault] = {str(each): each for each in kinds}
    for text in texts:
        kind, _, share = text.partition(":")
        if kind not in fault_by_name:
            error = describe_unknown_name("fault", kind, fault_by_name)
            raise UsageError(f"--fault={text}: {error} Use KIND:SHARE, e.g. 429:0.1.")
        is_limit = kind == ModelFault.CROWDED
        if is_limit and not re.fullmatch(r"\d+", share, re.ASCII):
            raise UsageError(f"--fault={text}: must have a number of functions, e.g. {kind}:20")
        if not re.fullmatch(_NUMBER, share, re.ASCII) or (float(share) > 1 and not is_limit):
            raise UsageError(f"--fault={text}: the share must be a number from 0 to 1, e.g. {kind}:0.1")
        if fault_by_name[kind] in shares:
            raise UsageError(f"--fault={text}: {kind} is given twice; give each kind once")
        shares[fault_by_name[kind]] = float(share)
    total = math.fsum(share for kind, share in shares.items() if kind is not ModelFault.CROWDED)
    if total > 1 + 1e-9:
        all_texts = " ".join(texts)
        raise UsageError(f"--fault={all_texts}: the shares add up to {total:g}; their sum must not exceed 1")
    return shares


def read_latency(text: str) -> Latency:
    """Read a latency: ``1`` second, ``0.5-2`` evenly between, ``exp:0.8`` exponential with that mean.

    Raises ``UsageError``.
    """
    if exponential := re.fullmatch(f"exp:{_NUMBER}", text, re.ASCII):
        mean = float(exponential[1])
        return lambda chance: -mean * math.log1p(-chance)
    if between := re.fullmatch(f"{_NUMBER}(?:-{_NUMBER})?", text, re.ASCII):
        low, high = float(between[1]), float(between[2] or between[1])
        if low <= high:
            return lambda chance: low + (high - low) * chance
    raise UsageError(
        f"--latency={text}: must be a number of seconds (1), a range (0.5-2) or an "
        f"exponential distribution with a mean (exp:0.8)"
    )


def draw_faults(
    shares: Mapping[FaultKind, float] | Mapping[Fault, float], wait: Latency, seed: int
) -> Iterator[Draw]:
    """Draw for each request in order of arrival; its fault depends on nothing but seed and shares."""
    random = Random(seed)  # noqa: S311 - to be repeated, not to be secret
    while True:
        # Both are always drawn, so that another latency does not change which requests fail.
        chance, pace = random.random(), random.random()
        fault = None
        for kind, share in shares.items():
            chance -= share
            if chance < 0:
                fault = kind
                break
        yield Draw(fault, wait(pace))


_ChangeCalls: TypeAlias = Callable[[Sequence[CallPiece]], Iterable[CallPiece]]
_ChangeChoices: TypeAlias = Callable[[Sequence[ChunkChoice]], Iterable[ChunkChoice]]
_ChangeEvents: TypeAlias = Callable[[Sequence[bytes]], Iterable[bytes]]

_BYTE_ORDER_MARK = "\ufeff".encode()
_ERROR = {"message": "the engine stopped (simulated by --fault)", "type": "server_error", "code": 500}


def break_stream(
    fault: FaultKind,
    choices: Sequence[ChunkChoice],
    write: Callable[[Iterable[ChunkChoice]], Sequence[bytes]],
) -> list[bytes]:
    """Return the events that ``write`` makes of choices, with a fault where it can show in them."""
    events = write(_CHOICE_FAULTS.get(fault, list)(choices))
    return list(_EVENT_FAULTS.get(fault, list)(events))


def _change_calls(change: _ChangeCalls) -> _ChangeChoices:
    """Return the fault that writes all pieces of calls in another way."""

    def change_choices(choices: Sequence[ChunkChoice]) -> Iterable[ChunkChoice]:
        *others, end = [choice for choice in choices if "tool_calls" not in choice["delta"]]
        yield from others
        for piece in change(_list_pieces(choices)):
            yield {"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}
        yield end

    return change_choices


def _list_pieces(choices: Sequence[ChunkChoice]) -> list[CallPiece]:
    return [piece for choice in choices for piece in choice["delta"].get("tool_calls", ())]


def _group_by_call(pieces: Sequence[CallPiece]) -> list[list[CallPiece]]:
    return [list(call) for _, call in groupby(pieces, lambda piece: piece["index"])]


def _join_call(pieces: Sequence[CallPiece]) -> CallPiece:
    """Return the whole of a call as one piece."""
    function = pieces[0]["function"]
    arguments = "".join(str(piece["function"]["arguments"]) for piece in pieces)
    return {**pieces[0], "function": {**function, "arguments": arguments}}


# Calls


def _change_each(change: _ChangeCalls) -> _ChangeChoices:
    """Return the fault that writes the pieces of each call in another way."""
    return _change_calls(lambda pieces: chain.from_iterable(map(change, _group_by_call(pieces))))


def _number_calls(give_index: Callable[[int], int | str]) -> _ChangeChoices:
    """Return the fault that gives each call another index for its place."""
    return _change_calls(
        lambda pieces: [
            {**piece, "index": give_index(place)}
            for place, call in enumerate(_group_by_call(pieces))
            for piece in call
        ]
    )


def leave_index_out(pieces: Iterable[CallPiece]) -> Iterable[CallPiece]:
    """Send the pieces of calls without an index."""
    for piece in pieces:
        without = piece.copy()
        del without["index"]
        yield without


def number_pieces(pieces: Sequence[CallPiece]) -> Iterable[CallPiece]:
    """Give each piece the next index, and the id of its call."""
    ids = [call[0]["id"] for call in _group_by_call(pieces) for _ in call]
    return [
        {**piece, "index": number, "id": call_id}
        for number, (piece, call_id) in enumerate(zip(pieces, ids, strict=True))
    ]


def change_id(call: Sequence[CallPiece]) -> Iterable[CallPiece]:
    """Send another id in each piece of a call."""
    return [{**piece, "id": f"{call[0]['id']}_{number}"} for number, piece in enumerate(call)]


def repeat_name(call: Sequence[CallPiece]) -> Iterable[CallPiece]:
    """Send the name in each piece of a call."""
    name = call[0]["function"]["name"]
    return [{**piece, "function": {**piece["function"], "name": name}} for piece in call]


def send_empty_arguments_first(call: Sequence[CallPiece]) -> Iterable[CallPiece]:
    """Begin a call with ``{}`` and then send its arguments as a whole."""
    opening, whole = call[0], _join_call(call)
    yield {**opening, "function": {**opening["function"], "arguments": "{}"}}
    yield {"index": opening["index"], "function": {"arguments": whole["function"]["arguments"]}}


def interleave_calls(pieces: Sequence[CallPiece]) -> Iterable[CallPiece]:
    """Announce all calls, the last one first, and then send their other pieces in turn."""
    calls = _group_by_call(pieces)[::-1]
    return [piece for turn in zip_longest(*calls) for piece in turn if piece]


def send_object(call: Sequence[CallPiece]) -> Iterable[CallPiece]:
    """Send the arguments of a call as a JSON object, where they are JSON."""
    whole = _join_call(call)
    try:
        arguments = read_json_text(str(whole["function"]["arguments"]))
    except ValueError:
        return call
    return [{**whole, "function": {**whole["function"], "arguments": arguments}}]


# Choices


def send_message(choices: Sequence[ChunkChoice]) -> Iterable[ChunkChoice]:
    """Send one message in place of all deltas."""
    texts = [text for choice in choices if (text := choice["delta"].get("content")) is not None]
    message: Delta = {"role": "assistant", "content": "".join(texts) if texts else None}
    if pieces := _list_pieces(choices):
        message["tool_calls"] = list(leave_index_out(map(_join_call, _group_by_call(pieces))))
    return [{"index": 0, "message": message, "finish_reason": choices[-1]["finish_reason"]}]


def add_choice(choices: Sequence[ChunkChoice]) -> Iterable[ChunkChoice]:
    """Send a second choice, whose calls have other names, in turn with the first."""
    for choice, second_choice in zip(choices, _change_each(_rename_call)(choices), strict=True):
        yield {**second_choice, "index": 1}
        yield choice


def _rename_call(call: Sequence[CallPiece]) -> Iterable[CallPiece]:
    opening, *others = call
    return [{**opening, "function": {**opening["function"], "name": "other_function"}}, *others]


def leave_reason_out(choices: Sequence[ChunkChoice]) -> Iterable[ChunkChoice]:
    """Send no finish reason."""
    return [{**choice, "finish_reason": None} for choice in choices]


_CHOICE_FAULTS: Mapping[FaultKind, _ChangeChoices] = {
    FaultKind.INDEX_FROM_1: _number_calls(lambda place: place + 1),
    FaultKind.INDEX_GAP: _number_calls(lambda place: place * 2),
    FaultKind.SHARED_INDEX: _number_calls(lambda _: 0),
    FaultKind.TEXT_INDEX: _number_calls(str),
    FaultKind.NO_INDEX: _change_calls(leave_index_out),
    FaultKind.GROWING_INDEX: _change_calls(number_pieces),
    FaultKind.CHANGED_ID: _change_each(change_id),
    FaultKind.REPEATED_NAME: _change_each(repeat_name),
    FaultKind.REPEATED_CALL: _change_each(lambda call: [*call, _join_call(call)]),
    FaultKind.EMPTY_ARGUMENTS_FIRST: _change_each(send_empty_arguments_first),
    FaultKind.INTERLEAVED_CALLS: _change_calls(interleave_calls),
    FaultKind.OBJECT_ARGUMENTS: _change_each(send_object),
    FaultKind.WHOLE_MESSAGE: send_message,
    FaultKind.SECOND_CHOICE: add_choice,
    FaultKind.NO_FINISH_REASON: leave_reason_out,
}


# Events


def _end_lines(end: bytes) -> _ChangeEvents:
    """Return the fault that ends lines in another way."""
    return lambda events: [event.replace(b"\n", end) for event in events]


def split_data(events: Sequence[bytes]) -> Iterable[bytes]:
    """Send each event's JSON over several lines, which are one event's data all the same."""
    for event in events[:-1]:
        lines = json.dumps(read_json_text(event.removeprefix(b"data: ")), indent=1).splitlines()
        yield "".join(f"data: {line}\n" for line in lines).encode() + b"\n"
    yield events[-1]


def add_comments(events: Sequence[bytes]) -> Iterable[bytes]:
    """Send what a reader of events has to pass over: a byte order mark, comments, names, numbers."""
    yield _BYTE_ORDER_MARK
    for number, event in enumerate(events):
        yield b": keep-alive\n\nevent: message\nid: %d\nretry: 10\n%s" % (number, event)


def _cut_events(events: Sequence[bytes]) -> Sequence[bytes]:
    """Return the first half of the events, always without the finish reason and the end of the stream."""
    return events[: (len(events) - 1) // 2]


def send_error(events: Sequence[bytes]) -> Iterable[bytes]:
    """Send an error in place of the second half."""
    return [*_cut_events(events), serialize_event({"error": _ERROR}), events[-1]]


_EVENT_FAULTS: Mapping[FaultKind, _ChangeEvents] = {
    FaultKind.CR_LINES: _end_lines(b"\r"),
    FaultKind.CRLF_LINES: _end_lines(b"\r\n"),
    FaultKind.SINGLE_LINES: lambda events: [event.replace(b"\n\n", b"\n") for event in events],
    FaultKind.SPLIT_DATA: split_data,
    FaultKind.COMMENTS: add_comments,
    FaultKind.NO_DONE: lambda events: events[:-1],
    FaultKind.STREAM_ERROR: send_error,
    FaultKind.CUT_STREAM: _cut_events,
}

STREAM_FAULTS = frozenset([*_CHOICE_FAULTS, *_EVENT_FAULTS])
"""The kinds that change how the stream of a chat reply is written; a whole reply is sent as it is."""


# Models that are wrong, and templates that lose something

WITHOUT_TOOLS = "I have no function for that."
WITHOUT_RESULTS = "I am still waiting for the results of my calls."


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The entries that a model always answers wrongly."""

    share: float = 0.0
    """The share of all entries, drawn by the seed."""
    seed: int = 0
    most_functions: float = math.inf
    """Entries that offer more functions are answered wrongly, too."""

    def has_entry(self, entry: Entry) -> bool:
        """Tell whether an entry is always answered wrongly."""
        return draw_chance(entry.key, self.seed) < self.share or len(entry.functions) > self.most_functions


def write_wrong_answer(entry: Entry, request: AskModel, prompting: Prompting) -> Completion:
    """Write an answer that can be read and is wrong, the same to the same request in every mode."""
    calls = list(find_kind(entry).answer_rightly(entry, request).calls)
    if not calls:
        # Where nothing is to be called, a call is wrong.
        calls = [Call(function.name, {}) for function in entry.functions[:1]]
    elif calls[0].arguments:
        name, value = next(iter(calls[0].arguments.items()))
        calls[0] = replace(calls[0], arguments={**calls[0].arguments, name: change_value(value)})
    else:
        calls.append(calls[0])
    return render_completion(calls, entry, prompting, request.tools)


def write_as_text(
    completion: Completion, syntax: NativeSyntax, tools: Sequence[Mapping[str, object]]
) -> Completion:
    """Write the calls of an answer into its text, as a model without a parser behind it."""
    parts = [part for part in completion.tool_calls or () if isinstance(part, ToolCall)]
    calls = [Call(part.name, as_mapping(read_json_text(str(part.arguments)))) for part in parts]
    text = write_native_text(calls, syntax, list_schemas(tools)) if calls else completion.text
    return replace(completion, text=text, tool_calls=None)


def lose_from_prompt(request: AskModel, fault: WireFault) -> Completion | None:
    """Answer as a model whose template lost tools or results; None where the request has none."""
    if fault is WireFault.LOSE_TOOLS and request.tools:
        return Completion(text=WITHOUT_TOOLS)
    has_results = any(message.get("role") == "tool" for message in request.messages)
    if fault is WireFault.LOSE_RESULTS and has_results:
        return Completion(text=WITHOUT_RESULTS)
    return None
