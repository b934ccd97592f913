"""The ways to put right calls through a server in place of a model's answer, and which a server offers.

- ``round-trip``: the server's chat template writes the calls into the history of a conversation. The
  tokens that it adds behind the prompt are given to the server's parser.
- ``derender``: the calls are written in the native syntax, made tokens by the server, and given to its
  parser.
- ``parse``: the same text is given to the parser as text.
- ``choice`` and ``grammar``: structured outputs leave the model no other answer than this text.

The native syntax is the one that the user named. Else the server's template tells the text, and where no
template can be asked, it is the first syntax that the server's parser reads. ``auto`` takes the first way
that the server offers, and where the user named a syntax ``round-trip`` comes last, because it needs none.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, takewhile
from operator import eq

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES, Unwritable
from pytest_fcbench.domain.text import as_mapping, list_objects
from pytest_fcbench.domain.transcript import Inquiry, ToolCall
from pytest_fcbench.kinds.forced import exchange
from pytest_fcbench.kinds.forced.exchange import ForcedServer, ForcedStep, ForcedText, ReturnedCalls
from pytest_fcbench.kinds.server_check.exchange import CHAT, RawRequest, ServerCall


class ForcedWay(StrEnum):
    """A way to put right calls through a server."""

    AUTO = "auto"
    ROUND_TRIP = "round-trip"
    DERENDER = "derender"
    PARSE = "parse"
    CHOICE = "choice"
    GRAMMAR = "grammar"


PARSE, SERVER_INFO = "/parse_function_call", "/get_server_info"
"""Paths of SGLang."""
_WORD = "fcbench"
"""A text that no model says by itself."""
_CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_WEATHER = {"name": "get_weather", "description": "Tell the weather.", "parameters": _CITY}
_SMALL = ForcedStep(
    ({"role": "user", "content": "What is the weather in Oslo?"},),
    ({"type": "function", "function": _WEATHER},),
    (ToolCall("get_weather", '{"city": "Oslo"}'),),
)
"""A step by which it is found out what a server offers."""
_MOST_SINGLE = 150
"""Tokens of a text that are streamed one by one; vLLM's time for it grows with the cube."""
_MOST_TOKENS = 4_000
"""Tokens of a text at most: each piece of a stream is a request."""
_LARGEST_PIECE = 6
"""Tokens of a piece."""

_Member = Callable[[str], Mapping[str, object]]
_MEMBERS: Mapping[ForcedWay, Sequence[_Member]] = {
    # vLLM today and before version 0.12.
    ForcedWay.CHOICE: (
        lambda text: {"structured_outputs": {"choice": [text]}, "return_token_ids": True},
        lambda text: {"guided_choice": [text]},
    ),
    # vLLM, llama.cpp, SGLang, vLLM before version 0.12.
    ForcedWay.GRAMMAR: (
        lambda text: {"structured_outputs": {"grammar": write_grammar(text)}, "return_token_ids": True},
        lambda text: {"grammar": write_grammar(text)},
        lambda text: {"ebnf": write_grammar(text)},
        lambda text: {"guided_grammar": write_grammar(text)},
    ),
}
"""The members of a request that leave a model one text to say, as servers name them."""


def write_grammar(text: str) -> str:
    """Write a grammar of one text."""
    return f"root ::= {json.dumps(text, ensure_ascii=False)}"


GUESSED = "which its parser reads"
"""Ends the description of a way whose syntax was found by the parser that is to be tested."""


@dataclass(frozen=True)
class OpenWay:
    """A way that a server offers, and who tells how its model writes calls."""

    way: ForcedWay
    syntax: str | None = None
    """The native syntax; None where the server's template writes the calls."""
    written_as: str = ""
    """The native syntax in which the server's template writes calls, if it is known."""
    member: _Member | None = None
    """The member of a request that leaves a model one text to say."""
    parser: str = ""
    """The server's name of its parser."""
    is_guessed: bool = False
    """True where the syntax is the first that the parser reads."""

    def __str__(self) -> str:
        if self.syntax is None:
            return f"{self.way} by the server's template"
        guess = f", {GUESSED}" if self.is_guessed else ""
        return f"{self.way} in the syntax {self.syntax}{guess}"


def open_way(server: ForcedServer, wanted: str, syntax: str | None) -> Inquiry[OpenWay]:
    """Find the way to use and what the server offers for it. Raises ``NotTestableError``."""
    try:
        yield from server.tokenize_text(_WORD, once=True)
    except exchange.NotTestableError:
        # Every server answers this, so that a wrong address or name ends the run.
        message = {"role": "user", "content": "Say hello."}
        yield from server.send(CHAT, {"messages": [message], "max_tokens": 16}, once=True)
    ways = [way for way in ForcedWay if way is not ForcedWay.AUTO]
    if syntax:
        ways.sort(key=lambda way: way is ForcedWay.ROUND_TRIP)
    lacks = []
    for way in ways if wanted == ForcedWay.AUTO else (ForcedWay(wanted),):
        try:
            return (yield from open_named_way(server, way, syntax))
        except exchange.NotTestableError as lack:
            lacks.append(f"{way}: {lack}" if wanted == ForcedWay.AUTO else str(lack))
    raise exchange.NotTestableError("; ".join(lacks))


def open_named_way(server: ForcedServer, way: ForcedWay, syntax: str | None) -> Inquiry[OpenWay]:
    """Find what a server offers for one way. Raises ``NotTestableError``."""
    opened = OpenWay(way, syntax)
    match way:
        case ForcedWay.ROUND_TRIP:
            opened = replace(opened, syntax=None)
        case ForcedWay.PARSE:
            reply = exchange.require_reply((yield from server.send(SERVER_INFO, None, once=True)), "whole")
            if not (parser := reply.body.get("tool_call_parser")):
                raise exchange.NotTestableError(f"{SERVER_INFO} names no tool_call_parser")
            opened = replace(opened, parser=str(parser))
        case ForcedWay.CHOICE | ForcedWay.GRAMMAR:
            opened = replace(opened, member=(yield from find_member(server, way)))
    if opened.syntax is None:
        try:
            text = yield from write_by_template(server, _SMALL, once=True)
        except exchange.NotTestableError:
            if way is ForcedWay.ROUND_TRIP:
                raise
            return (yield from guess_syntax(server, opened))
        is_read = (name for name, syntax in NATIVE_SYNTAXES.items() if syntax.is_read_in(text.text))
        opened = replace(opened, written_as=next(is_read, ""))
    else:
        text = yield from _write_text(server, opened, _SMALL, once=True)
    # Whether the calls are right is not the question yet.
    yield from _PUT[way](server, opened, _SMALL, text, True)
    return opened


def find_member(server: ForcedServer, way: ForcedWay) -> Inquiry[_Member]:
    """Find the member of a request by which a server leaves a model one text."""
    lacks = []
    for member in _MEMBERS[way]:
        body = {**_SMALL.chat_request, "temperature": 0, "max_tokens": 32, **member(_WORD)}
        reply = yield from server.send(CHAT, body, once=True)
        if reply.is_good and reply.text.strip() == _WORD:
            return member
        lacks.append(f"{', '.join(member(_WORD))}: {reply}")
    raise exchange.NotTestableError(f"the server leaves the model other texts ({'; '.join(lacks)[:300]})")


def guess_syntax(server: ForcedServer, opened: OpenWay) -> Inquiry[OpenWay]:
    """Find the first native syntax that the server reads back. Raises ``NotTestableError``."""
    for name in NATIVE_SYNTAXES:
        guess = replace(opened, syntax=name, is_guessed=True)
        try:
            text = yield from _write_text(server, guess, _SMALL, once=True)
            returned = yield from _PUT[opened.way](server, guess, _SMALL, text, True)
        except exchange.LackingPathError:
            raise
        except exchange.NotTestableError:
            continue
        if not exchange.find_difference(_SMALL, returned[0]):
            return guess
    reason = "the server reads a call in none of the native syntaxes"
    raise exchange.NotTestableError(f"{reason}; name the model's with --fcbench-syntax")


# Writing the right calls


def write_by_template(server: ForcedServer, step: ForcedStep, *, once: bool = False) -> Inquiry[ForcedText]:
    """Let the server's chat template write the right calls. Raises ``NotTestableError``."""
    prompt = yield from server.tokenize_messages(step, opened=True, once=once)
    whole = yield from server.tokenize_messages(step, step.write_answer(), once=once)
    said = yield from server.tokenize_messages(_SMALL, {"role": "assistant", "content": _WORD}, once=True)
    start = _count_equal(prompt, whole)
    # Behind an opened answer may stand what a model is to begin with, such as <think>.
    if start < len(prompt) and start < len((yield from server.tokenize_messages(step, once=once))):
        reason = "its chat template writes earlier messages in another way where calls follow"
        raise exchange.NotTestableError(reason)
    behind = whole[start:]
    # The marks that end a message are none of the model's call.
    ids = behind[: len(behind) - _count_equal(behind[::-1], said[::-1])]
    reply = yield from server.send(exchange.DETOKENIZE, {"tokens": list(ids)}, once=once)
    text = str(reply.body.get("prompt") or "")
    if not ids or (text and not any(call.name in text for call in step.calls)):
        raise exchange.NotTestableError(f"its chat template writes no calls into the history: {text!r:.200}")
    return ForcedText(text, ids, prompt)


def _count_equal(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(1 for _ in takewhile(bool, map(eq, one, other)))


def _write_text(
    server: ForcedServer, opened: OpenWay, step: ForcedStep, *, once: bool = False
) -> Inquiry[ForcedText]:
    """Write the right calls as the server's model would. Raises ``NotTestableError``."""
    if opened.syntax is None:
        return (yield from write_by_template(server, step, once=once))
    schemas = RawRequest(CHAT, step.chat_request).schemas
    try:
        return ForcedText(NATIVE_SYNTAXES[opened.syntax].write_calls(step.right_calls, schemas))
    except Unwritable as lack:
        reason = f"the syntax {opened.syntax} cannot hold these calls: {lack}"
        raise exchange.NotTestableError(reason) from None


# Putting a text through


def put_through(
    server: ForcedServer, opened: OpenWay, step: ForcedStep
) -> Inquiry[tuple[ForcedText, Sequence[ReturnedCalls]]]:
    """Put the right calls of a step through a server. Raises ``NotTestableError``."""
    text = yield from _write_text(server, opened, step)
    returned = yield from _PUT[opened.way](server, opened, step, text, False)
    if not any(exchange.find_difference(step, each) for each in returned):
        return text, returned
    if not step.keeps_schemas:
        raise exchange.NotTestableError("the right arguments have other types than their tools declare")
    if opened.way is ForcedWay.PARSE:
        return text, returned
    reason = yield from find_spelt_mark(server, opened, text, returned[0].ids)
    return text, [replace(each, undecided=each.undecided or reason) for each in returned]


def find_spelt_mark(
    server: ForcedServer, opened: OpenWay, text: ForcedText, ids: Sequence[int]
) -> Inquiry[str]:
    """Describe a mark in a text that is not the one token that a model would write; empty without one."""
    known = NATIVE_SYNTAXES.values() if opened.syntax is None else (NATIVE_SYNTAXES[opened.syntax],)
    marks = {mark for syntax in known for mark in syntax.marks if mark in text.text}
    for mark in sorted(marks):
        try:
            tokens = yield from server.tokenize_text(mark, once=True)
        except exchange.NotTestableError:
            return f"the server does not say whether {mark!r} was written as one token, as the model would"
        # Where the template has no such token, its model has none either.
        if opened.syntax and len(tokens) > 1:
            return f"the tokenizer of this model spells {mark!r} with {len(tokens)} ordinary tokens"
        if opened.member and len(tokens) == 1 and tokens[0] not in ids:
            how = "spelt" if ids else "may have spelt"
            return f"structured outputs {how} {mark!r} with ordinary tokens"
    return ""


_Put = Callable[[ForcedServer, OpenWay, ForcedStep, ForcedText, bool], Inquiry[Sequence[ReturnedCalls]]]
"""Puts a text through a server, only whole and once for all entries where the last argument says so."""


def derender_text(
    server: ForcedServer, opened: OpenWay, step: ForcedStep, text: ForcedText, is_probe: bool
) -> Inquiry[Sequence[ReturnedCalls]]:
    """Give the tokens of a text to the parser of a server, whole and in the pieces of streams."""
    ids, prompt = text.ids, text.prompt
    if not ids:
        ids = yield from server.tokenize_text(text.text, once=is_probe)
        prompt = yield from server.tokenize_messages(step, opened=True, once=is_probe)
    if len(ids) > _MOST_TOKENS:
        raise exchange.NotTestableError(f"its tokenizer makes {len(ids):,} tokens of the calls")
    shared: dict[str, object] = {"prompt_token_ids": list(prompt), "chat_request": step.chat_request}
    body = {"generate_response": {**_NAMED, "choices": [_make_piece(ids, is_last=True)]}, **shared}
    whole = exchange.read_returned((yield from server.send(exchange.DERENDER, body, once=is_probe)), "whole")
    returned = [replace(whole, ids=ids, command=server.write_command(exchange.DERENDER, body))]
    for manner, pieces in () if is_probe else cut_pieces(ids):
        # A server that refuses to stream was tested whole.
        with suppress(exchange.NotTestableError):
            returned.append((yield from stream_pieces(server, manner, pieces, shared)))
    return returned


_NAMED: Mapping[str, object] = {"request_id": "forced"}


def _make_piece(ids: Sequence[int], *, is_last: bool = False) -> Mapping[str, object]:
    return {"index": 0, "token_ids": list(ids), "finish_reason": "stop" if is_last else None}


def cut_pieces(ids: Sequence[int]) -> Iterator[tuple[str, Sequence[Mapping[str, object]]]]:
    """Yield the ways to cut tokens into the pieces of a stream, the same for the same tokens."""
    draw = random.Random(json.dumps(list(ids)))  # noqa: S311 - no secret
    uneven: list[int] = []
    while sum(uneven) < len(ids):
        uneven.append(draw.randint(1, _LARGEST_PIECE))
    cuts = {f"streamed in pieces of 1 to {_LARGEST_PIECE} tokens": uneven}
    if len(ids) <= _MOST_SINGLE:
        cuts = {"streamed token by token": [1] * len(ids), **cuts}
    for manner, sizes in cuts.items():
        ends = list(accumulate(sizes))
        starts = [0, *ends[:-1]]
        pieces = [_make_piece(ids[start:end]) for start, end in zip(starts, ends, strict=True)]
        # A model's last token ends its answer and has no text.
        yield manner, [*pieces, _make_piece((), is_last=True)]


def stream_pieces(
    server: ForcedServer, manner: str, pieces: Sequence[Mapping[str, object]], shared: Mapping[str, object]
) -> Inquiry[ReturnedCalls]:
    """Give the pieces of a stream to the parser of a server and join what comes back."""

    def make_body(piece: object, state: object) -> Mapping[str, object]:
        chunk = {**_NAMED, "choices": [piece]}
        return {"stream": True, "generate_chunk": chunk, "stream_state": state, **shared}

    state: object = None
    chunks = []
    error = ""
    for piece in pieces:
        reply = yield from server.send(exchange.DERENDER, make_body(piece, state))
        exchange.require_reply(reply, manner)
        if not reply.is_good:
            error = str(reply)
            break
        chunks.append(as_mapping(reply.body.get("chunk")))
        state = reply.body.get("stream_state")
    command = server.write_command(exchange.DERENDER, make_body(exchange.PIECE, exchange.STATE), pieces)
    returned = exchange.join_deltas(chunks, manner, server.named.secrets)
    return replace(returned, error=error, command=command)


def parse_text(
    server: ForcedServer, opened: OpenWay, step: ForcedStep, text: ForcedText, is_probe: bool
) -> Inquiry[Sequence[ReturnedCalls]]:
    """Give a text to the parser of a server as text."""
    body = {"text": text.text, "tools": list(step.tools), "tool_call_parser": opened.parser}
    reply = exchange.require_reply((yield from server.send(PARSE, body, once=is_probe)), "whole")
    sent_calls = list_objects(reply.body.get("calls"))
    calls = tuple(ServerCall("", call.get("name"), call.get("parameters")) for call in sent_calls)
    content, error = str(reply.body.get("normal_text") or ""), "" if reply.is_good else str(reply)
    return [ReturnedCalls("whole", calls, content, error, command=server.write_command(PARSE, body))]


def leave_one_text(
    server: ForcedServer, opened: OpenWay, step: ForcedStep, text: ForcedText, is_probe: bool
) -> Inquiry[Sequence[ReturnedCalls]]:
    """Leave the model one text to say, and read the calls of its answer, whole and streamed."""
    assert opened.member
    # A token has a byte at least.
    limit = len(text.text.encode(errors="replace")) + 32
    body = {**step.chat_request, "temperature": 0, "max_tokens": limit, **opened.member(text.text)}
    reply = yield from server.send(CHAT, body, once=is_probe)
    ids = reply.choices[0].get("token_ids") if reply.choices else None
    whole = replace(exchange.read_returned(reply, "whole"), command=server.write_command(CHAT, body))
    whole = replace(whole, ids=tuple(ids) if isinstance(ids, list) else ())
    if is_probe:
        return [whole]
    returned, body = [whole], {**body, "stream": True}
    with suppress(exchange.NotTestableError):
        streamed = exchange.read_returned((yield from server.send(CHAT, body)), "streamed")
        returned.append(replace(streamed, command=server.write_command(CHAT, body)))
    return returned


_PUT: Mapping[ForcedWay, _Put] = {
    ForcedWay.ROUND_TRIP: derender_text,
    ForcedWay.DERENDER: derender_text,
    ForcedWay.PARSE: parse_text,
    ForcedWay.CHOICE: leave_one_text,
    ForcedWay.GRAMMAR: leave_one_text,
}
