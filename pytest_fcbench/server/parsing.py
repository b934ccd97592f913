"""The chat template, the tokenizer and the tool parser of the conforming model, in a native syntax.

They answer at the paths of vLLM (``/tokenize``, ``/detokenize``, ``/v1/chat/completions/derender``) and of
SGLang (``/parse_function_call``), so that the right calls can be put through without a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.text import as_mapping, list_objects, read_json_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.server_check.exchange import CHAT, RawRequest
from pytest_fcbench.server.body import RefusedRequestError, make_refusal
from pytest_fcbench.server.replies import SentCall, split_text, write_call

_END = "<|end|>"
_ROLE_MARKS = tuple(f"<|{role}|>" for role in ("tools", "system", "developer", "user", "assistant", "tool"))
_PIECE = 3
"""Characters of a token that is no mark."""


class ParserFault(StrEnum):
    """A way in which the parser loses right calls, as parsers that people use have lost them."""

    LOSE_BRACE = "parser_lose_brace"
    """In a stream the last brace of the arguments is missing."""
    DROP_BRACE = "parser_drop_brace"
    """The same in whole replies too."""
    MERGE_CALLS = "parser_merge_calls"
    """In a stream all calls have the same index."""
    FIRST_CALL = "parser_first_call"
    """The parser finds the first call only."""
    LEAK_TAG = "parser_leak_tag"
    """A tag of the syntax stays in the text."""
    ROUND_NUMBERS = "parser_round_numbers"
    """Numbers lose their decimals."""
    OTHER_SYNTAX = "parser_other_syntax"
    """The parser is for another model."""
    SPELL_MARKS = "parser_spell_marks"
    """The tokenizer has no marks of the syntax, which the parser looks for."""
    LOSE_HISTORY = "parser_lose_history"
    """The template writes no calls of the history."""
    FAIL = "parser_fail"
    """The parser raises an error."""


@dataclass(frozen=True)
class NativeServer:
    """Writes prompts, and reads what a model would write, in one native syntax."""

    syntax: str
    fault: ParserFault | None = None

    @cached_property
    def _marks(self) -> tuple[str, ...]:
        # Without the marks of the syntax among the tokens the parser reads nothing.
        marks = () if self.fault is ParserFault.SPELL_MARKS else NATIVE_SYNTAXES[self.syntax].marks
        return (*_ROLE_MARKS, _END, *marks)

    def tokenize(self, text: str) -> list[int]:
        """Cut a text into marks and pieces of three characters, each with a number of its own."""
        marks = "|".join(map(re.escape, self._marks))
        tokens = []
        for part in re.split(f"({marks})", text):
            if part in self._marks:
                tokens.append(self._marks.index(part))
            else:
                pieces = split_text(part, _PIECE)
                tokens += [int.from_bytes(b"\1" + each.encode(errors="surrogatepass")) for each in pieces]
        return tokens

    def detokenize(self, tokens: Sequence[int]) -> str:
        """Join tokens to a text."""
        return "".join(
            self._marks[token]
            if token < len(self._marks)
            else token.to_bytes(4 * _PIECE + 1).lstrip(b"\0")[1:].decode(errors="surrogatepass")
            for token in tokens
        )

    def write_prompt(self, body: Mapping[str, object]) -> str:
        """Write messages and tools as the prompt of the model."""
        texts = (
            [f"<|tools|>{json.dumps(body['tools'], ensure_ascii=False)}{_END}"] if body.get("tools") else []
        )
        for message in list_objects(body.get("messages")):
            functions = [as_mapping(call.get("function")) for call in list_objects(message.get("tool_calls"))]
            written = ""
            try:
                calls = [
                    Call(str(each.get("name")), as_mapping(read_json_text(str(each.get("arguments")))))
                    for each in functions
                ]
                if calls and self.fault is not ParserFault.LOSE_HISTORY:
                    written = NATIVE_SYNTAXES[self.syntax].write_calls(calls, _list_schemas(body))
            except ValueError as error:
                raise make_refusal(f"a call of the history cannot be written: {error}") from None
            texts.append(f"<|{message.get('role')}|>{message.get('content') or ''}{written}{_END}")
        opening = "<|assistant|>" if body.get("add_generation_prompt", True) else ""
        return "".join(texts) + opening

    def read_answer(self, text: str, request: Mapping[str, object]) -> tuple[str, tuple[Call, ...]]:
        """Read an answer to a request: the words, and the calls that the parser finds."""
        text = text.replace(_END, "")
        marks = NATIVE_SYNTAXES[self.syntax].marks
        if self.fault is ParserFault.SPELL_MARKS and any(mark in text for mark in marks):
            return text, ()
        parser = self.syntax
        if self.fault is ParserFault.OTHER_SYNTAX:
            parser = "granite" if self.syntax != "granite" else "hermes"
        try:
            calls = NATIVE_SYNTAXES[parser].read_calls(text, _list_schemas(request))
        except Undecodable:
            calls = ()
        return ("", calls) if calls else (text, ())

    def parse_answer(
        self, text: str, request: Mapping[str, object], *, streams: bool
    ) -> tuple[str, tuple[SentCall, ...]]:
        """Read an answer as ``read_answer`` does, with the calls as they are sent."""
        words, calls = self.read_answer(text, request)
        return send_calls(calls, self.fault, streams=streams) if calls else (words, ())


def _list_schemas(request: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    """List the schemas of the arguments of each offered function."""
    return RawRequest(CHAT, request).schemas


def find_forced_text(request: Mapping[str, object]) -> str | None:
    """Return the only text that structured outputs leave the model; None where it is free."""
    outputs = as_mapping(request.get("structured_outputs"))
    if isinstance(choice := outputs.get("choice"), list) and len(choice) == 1:
        return str(choice[0])
    grammar = outputs.get("grammar")
    if not isinstance(grammar, str):
        return None
    try:
        return str(read_json_text(grammar.removeprefix("root ::= ")))
    except ValueError:
        raise make_refusal(f"this server takes grammars of one text only, not {grammar!r}") from None


def send_calls(
    calls: Sequence[Call], fault: ParserFault | None, *, streams: bool
) -> tuple[str, tuple[SentCall, ...]]:
    """Write calls that the parser found as they are sent, and the words beside them."""
    if fault is ParserFault.FAIL:
        raise RefusedRequestError(500, "server_error", "the parser failed (simulated by --fault)")
    sent = [
        SentCall(f"p{number:08}", call.name, json.dumps(dict(call.arguments), ensure_ascii=False))
        for number, call in enumerate(calls, 1)
    ]
    if fault is ParserFault.ROUND_NUMBERS:
        sent = [replace(call, arguments=re.sub(r"(\d)\.\d+", r"\1.0", call.arguments)) for call in sent]
    if fault is ParserFault.DROP_BRACE or (fault is ParserFault.LOSE_BRACE and streams):
        sent = [replace(call, arguments=call.arguments[:-1]) for call in sent]
    if fault is ParserFault.FIRST_CALL:
        sent = sent[:1]
    if fault is ParserFault.MERGE_CALLS and streams:
        # What a client joins of parts with one index.
        names, arguments = "".join(call.name for call in sent), "".join(call.arguments for call in sent)
        sent = [SentCall(sent[0].id, names, arguments)]
    return "</tool_call>" if fault is ParserFault.LEAK_TAG else "", tuple(sent)


def answer_tokenize(native: NativeServer, body: Mapping[str, object]) -> Mapping[str, object]:
    """Answer a request for the tokens of a text or of messages."""
    prompt = body.get("prompt")
    tokens = native.tokenize(prompt if isinstance(prompt, str) else native.write_prompt(body))
    return {"count": len(tokens), "max_model_len": 10**6, "tokens": tokens}


def answer_detokenize(native: NativeServer, body: Mapping[str, object]) -> Mapping[str, object]:
    """Answer a request for the text of tokens."""
    return {"prompt": native.detokenize(_list_tokens(body.get("tokens")))}


def _list_tokens(value: object) -> list[int]:
    if not isinstance(value, list) or not all(type(each) is int for each in value):
        raise make_refusal("tokens must be a list of numbers")
    return value


def answer_derender(native: NativeServer, body: Mapping[str, object]) -> Mapping[str, object]:
    """Answer a request to read what a model wrote, whole or the next piece of a stream.

    The state of a stream is what came so far. Calls are sent with its last piece.
    """
    is_stream = body.get("stream") is True
    response = as_mapping(body.get("generate_chunk" if is_stream else "generate_response"))
    piece = next(iter(list_objects(response.get("choices"))), {})
    earlier = as_mapping(body.get("stream_state")).get("tokens", [])
    tokens = [*_list_tokens(earlier), *_list_tokens(piece.get("token_ids"))]
    words, sent = "", tuple[SentCall, ...]()
    is_last = piece.get("finish_reason") is not None
    if is_last:
        request = as_mapping(body.get("chat_request"))
        words, sent = native.parse_answer(native.detokenize(tokens), request, streams=is_stream)
    message = {
        "role": "assistant",
        "content": words or None,
        "tool_calls": [{"index": number, **write_call(call)} for number, call in enumerate(sent)],
    }
    ending = "tool_calls" if sent else "stop"
    if not is_stream:
        return {"choices": [{"index": 0, "message": message, "finish_reason": ending}]}
    delta = {"index": 0, "delta": message, "finish_reason": ending if is_last else None}
    return {"chunk": {"choices": [delta]}, "stream_state": {"tokens": tokens}}


def answer_parse(native: NativeServer, body: Mapping[str, object]) -> Mapping[str, object]:
    """Answer a request to read the calls of a text."""
    if body.get("tool_call_parser") != native.syntax:
        raise make_refusal(f"this server has the tool_call_parser {native.syntax!r} only")
    words, sent = native.parse_answer(str(body.get("text")), body, streams=False)
    parsed = [
        {"tool_index": number, "name": call.name, "parameters": call.arguments}
        for number, call in enumerate(sent)
    ]
    return {"normal_text": words, "calls": parsed}


NativeAnswer: TypeAlias = Callable[[NativeServer, Mapping[str, object]], Mapping[str, object]]
"""Answers a request to the template or the parser."""

NATIVE_PATHS: Mapping[str, NativeAnswer] = {
    "/tokenize": answer_tokenize,
    "/detokenize": answer_detokenize,
    "/v1/chat/completions/derender": answer_derender,
    "/parse_function_call": answer_parse,
}
"""The paths of engines at which the template and the parser answer by themselves."""
