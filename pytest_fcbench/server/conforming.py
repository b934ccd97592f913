"""A model that no training made: it answers any request as the interface demands, and knows no entry.

It calls where it may, with the smallest arguments that a strict schema takes and wrong ones elsewhere, and
says a sentence where it may not. So a check of a server finds nothing wrong with it. Each fault here breaks
one promise of the interface, as servers that people use have broken it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES, Unwritable
from pytest_fcbench.domain.text import as_list, as_mapping, list_objects, read_json_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.server_check.exchange import CHAT, RawRequest
from pytest_fcbench.server.body import RefusedRequestError, estimate_tokens, make_refusal
from pytest_fcbench.server.parsing import NativeServer, ParserFault, find_forced_text
from pytest_fcbench.server.replies import SentCall, ServedReply

NAME = "conforming"
_SENTENCE = "The weather in Oslo is fine today."
_SIGNS_OF_A_TOKEN = 4
_ROLES = ("system", "developer", "user", "assistant", "tool")
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


class WireFault(StrEnum):
    """A promise of the interface that is broken."""

    # What a request demands, and the server does not heed.
    IGNORE_NONE = "ignore_none"
    """``tool_choice`` none is as required."""
    IGNORE_REQUIRED = "ignore_required"
    """A call that is required does not come."""
    IGNORE_NAMED = "ignore_named"
    """A named function is as any."""
    IGNORE_PARALLEL = "ignore_parallel"
    """``parallel_tool_calls`` false is as true."""
    IGNORE_STRICT = "ignore_strict"
    """Strict schemas are not enforced, as behind a gateway that removes ``strict``."""
    IGNORE_FORMAT = "ignore_format"
    """``response_format`` is not enforced."""
    IGNORE_N = "ignore_n"
    """There is one choice, whatever ``n`` says."""
    IGNORE_LIMIT = "ignore_limit"
    """Replies that ``max_tokens`` cuts end as others do."""
    ACCEPT_ALL = "accept_all"
    """Requests that are none are answered."""

    # What does not reach the prompt.
    LOSE_TOOLS = "lose_tools"
    """Tools do not reach the prompt."""
    LOSE_DESCRIPTIONS = "lose_descriptions"
    """Descriptions of tools do not reach the prompt."""
    LOSE_RESULTS = "lose_results"
    """Results of calls do not reach the prompt."""
    LOSE_CALLS = "lose_calls"
    """Earlier calls do not reach the prompt."""
    LOSE_WORDS = "lose_words"
    """Words beside earlier calls do not reach the prompt."""

    # What is refused.
    REFUSE_CHOICE = "refuse_choice"
    """``tool_choice`` auto is refused."""
    REFUSE_NULL = "refuse_null"
    """A message without content is refused."""
    REFUSE_CALLS = "refuse_calls"
    """Calls in the history are refused."""
    REFUSE_EMPTY = "refuse_empty"
    """An empty content is refused."""
    REFUSE_PARTS = "refuse_parts"
    """A result in parts is refused."""
    REFUSE_NAMES = "refuse_names"
    """A result with a name, and functions whose names have dashes or over 40 characters, are refused."""
    REFUSE_BARE_TOOLS = "refuse_bare_tools"
    """A tool without a schema, or without parameters, is refused."""
    REFUSE_UNICODE = "refuse_unicode"
    """Text beyond ASCII is refused."""
    REFUSE_DEVELOPER = "refuse_developer"
    """A message of the role developer is refused."""
    FAIL_ON_HISTORY = "fail_on_history"
    """A history that is odd, or an empty list of tools, makes the server fail with 500."""
    FAIL_ON_LARGE = "fail_on_large"
    """A request of more than 50 kB makes the server fail with 500."""

    # How a reply is written.
    SAME_IDS = "same_ids"
    """Every call has the same id."""
    NO_IDS = "no_ids"
    """Calls have no id."""
    NO_TYPE = "no_type"
    """Calls have no type."""
    LIST_ARGUMENTS = "list_arguments"
    """Arguments are a list, as from a model that writes at random."""
    OBJECT_ARGUMENTS = "object_values"
    """Arguments are an object, not text; in Anthropic's interface text."""
    NULL_ARGUMENTS = "null_arguments"
    """Arguments that are an empty object are null."""
    OTHER_NAMES = "other_names"
    """Names are lowered, cut after 40 characters, and without dots and dashes."""
    MARKUP = "markup"
    """The text beside calls has the marks of a template."""
    LOSE_SIGNS = "lose_signs"
    """Line breaks and what is not ASCII are missing from arguments."""
    ROUND_NUMBERS = "round_numbers"
    """Numbers lose their decimals."""
    NAME_IS_CALL = "name_is_call"
    """An argument called name becomes a call."""
    CUT_ARGUMENTS = "cut_arguments"
    """Of long arguments the end is missing."""
    STOP_WITH_CALLS = "stop_with_calls"
    """The finish_reason beside calls is stop."""
    ODD_ENDING = "odd_ending"
    """The finish_reason of a text is a word that the interface does not have."""
    NO_USAGE = "no_usage"
    """Replies have no usage."""
    WRONG_USAGE = "wrong_usage"
    """The total is not the sum."""
    STREAM_UNASKED = "stream_unasked"
    """The Responses API streams always."""
    STREAM_IGNORED = "stream_ignored"
    """A stream that is asked for comes as a whole reply."""
    STREAM_DIFFERS = "stream_differs"
    """A stream has other words, calls and arguments than a whole reply."""
    STREAM_AS_JSON = "stream_as_json"
    """A stream has the content type of JSON."""
    PLAIN_ERRORS = "plain_errors"
    """Errors are plain text."""
    SERVER_ERRORS = "server_errors"
    """Bad requests make the server fail with 500."""
    FAIL_AFTER = "fail_after"
    """The request after one that is refused makes the server fail with 500."""
    HOLD_PLACE = "hold_place"
    """A long reply that nobody waits for any more is written to its end before the next one."""


@dataclass(frozen=True, slots=True)
class ConformingReply:
    """A reply, and how it is to be sent."""

    reply: ServedReply
    choices: int
    stream: bool
    include_usage: bool
    token_ids: Sequence[int] = ()
    """The tokens of a text that structured outputs demanded."""


@dataclass(frozen=True)
class ConformingModel:
    """Answers chat requests; those of other interfaces are written as chat requests before."""

    name: str
    syntax: str = "hermes"
    """The native syntax of its template and its parser."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    def answer_request(
        self, request: Mapping[str, object], fault: WireFault | None, parser_fault: ParserFault | None
    ) -> ConformingReply:
        """Answer a request. Raises ``RefusedRequestError`` for one that the interface does not have."""
        try:
            check_request(request, self.name)
        except RefusedRequestError as error:
            if fault is WireFault.SERVER_ERRORS:
                raise RefusedRequestError(500, error.code, str(error)) from None
            if fault is not WireFault.ACCEPT_ALL:
                raise
        if fault:
            refuse_by_fault(request, fault)
        return self._make_reply(request, fault, parser_fault)

    def force_answer(
        self, request: Mapping[str, object], calls: Sequence[SentCall]
    ) -> Mapping[str, object] | None:
        """Return a request that leaves the model only these calls; None where they cannot be written."""
        right = [Call(call.name, as_mapping(call.read_arguments())) for call in calls]
        try:
            text = NATIVE_SYNTAXES[self.syntax].write_calls(right, RawRequest(CHAT, request).schemas)
        except Unwritable:
            return None
        return {**request, "structured_outputs": {"choice": [text]}} if right else None

    def _make_reply(
        self, request: Mapping[str, object], fault: WireFault | None, parser_fault: ParserFault | None
    ) -> ConformingReply:
        streams = request.get("stream") is True
        forced_text = find_forced_text(request)
        tools = choose_tools(request, fault) if forced_text is None else []
        text: str | None = None if tools else write_text(request, fault)
        calls = [self._make_call(tool, fault, streams=streams) for tool in tools]
        token_ids: Sequence[int] = ()
        if forced_text is not None:
            native = NativeServer(self.syntax, parser_fault)
            token_ids = native.tokenize(forced_text)
            words, sent = native.parse_answer(forced_text, request, streams=streams)
            text, calls = words or (None if sent else ""), list(sent)
        if fault is WireFault.NAME_IS_CALL:
            calls = [
                replace(call, name=str(value))
                if (value := as_mapping(call.read_arguments()).get("name"))
                else call
                for call in calls
            ]
        if calls and fault is WireFault.MARKUP:
            text = "<tool_call>"
        if text and streams and fault is WireFault.STREAM_DIFFERS:
            text = text[:-5]
        reply = ServedReply(
            self.name,
            text,
            tuple(calls) if calls else None,
            count_prompt(request, fault),
            estimate_tokens("".join([text or "", *(f"{call.name}{call.arguments}" for call in calls)])),
        )
        reply = cut_reply(reply, request, fault)
        if fault is WireFault.STOP_WITH_CALLS and calls and reply.ending is None:
            reply = replace(reply, ending="stop")
        if fault is WireFault.ODD_ENDING and not calls:
            reply = replace(reply, ending="eos")
        options = as_mapping(request.get("stream_options"))
        number = request.get("n")
        return ConformingReply(
            reply,
            number if isinstance(number, int) and fault is not WireFault.IGNORE_N else 1,
            streams and fault is not WireFault.STREAM_IGNORED,
            options.get("include_usage") is True,
            token_ids,
        )

    def _make_call(self, tool: Mapping[str, object], fault: WireFault | None, *, streams: bool) -> SentCall:
        schema = as_mapping(tool.get("parameters"))
        # Only a strict schema is promised to hold, as with a model that does not know what it is asked.
        is_free = schema.get("properties") and (fault is WireFault.IGNORE_STRICT or not tool.get("strict"))
        arguments: object = {"unexpected": "value"} if is_free else make_instance(schema, schema)
        if fault is WireFault.LIST_ARGUMENTS:
            arguments = [1]
        if fault is WireFault.NULL_ARGUMENTS and not arguments:
            arguments = None
        text = json.dumps(arguments, ensure_ascii=False)
        if fault is WireFault.LOSE_SIGNS:
            text = re.sub(r"\\n|[^\x00-\x7f]", "", text)
        if fault is WireFault.ROUND_NUMBERS:
            text = re.sub(r"(\d)\.\d+", r"\1.0", text)
        if fault is WireFault.CUT_ARGUMENTS and len(text) > 100:
            text = text[:100]
        if fault is WireFault.STREAM_DIFFERS and streams:
            text = text[:-1]
        name = str(tool.get("name"))
        if fault is WireFault.OTHER_NAMES:
            name = re.sub(r"[.-]", "_", name)[:40]
        # Mistral's servers want nine letters and digits.
        call_id = "call_same" if fault is WireFault.SAME_IDS else f"c{next(self._numbers):08}"
        return SentCall("" if fault is WireFault.NO_IDS else call_id, name, text)


def check_request(request: Mapping[str, object], name: str) -> None:
    """Raise ``RefusedRequestError`` for a request that the interface does not have."""
    if (model := request.get("model", name)) != name:
        raise RefusedRequestError(404, "model_not_found", f"there is no model {model!r}")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise make_refusal("messages must be a list of messages")
    for message in list_objects(messages):
        if message.get("role") not in _ROLES:
            raise make_refusal(f"the role {message.get('role')!r} must be one of {', '.join(_ROLES)}")
        if any(part.get("type") != "text" for part in list_objects(message.get("content"))):
            raise make_refusal("this model takes text only")
    tools = request.get("tools") or []
    if not isinstance(tools, list):
        raise make_refusal("tools must be a list")
    names = [tool.get("name") for tool in list_tools(request)]
    if not all(isinstance(each, str) for each in names):
        raise make_refusal("each tool must have a function with a name")
    for tool in list_tools(request):
        _check_types(tool.get("parameters"))
    if not isinstance(request.get("temperature", 1.0), (int, float)):
        raise make_refusal("temperature must be a number")
    _check_choice(request.get("tool_choice"), names)


def _check_choice(choice: object, names: Sequence[object]) -> None:
    if isinstance(choice, Mapping):
        chosen = list_chosen(choice)
        if any(name not in names for name in chosen):
            raise make_refusal(f"tool_choice names a function that is not offered: {chosen}")
    elif choice not in (None, "none", "auto", "required"):
        raise make_refusal(f"tool_choice must be none, auto, required or a function, not {choice!r}")
    if choice == "required" and not names:
        raise make_refusal("tool_choice is required, but no tool is offered")


def list_chosen(choice: Mapping[str, object]) -> list[object]:
    """List the functions that a ``tool_choice`` names."""
    # In the Responses API the members stand in the object itself.
    allowed = as_mapping(choice.get("allowed_tools", choice)).get("tools")
    chosen = allowed if isinstance(allowed, list) else [choice]
    return [as_mapping(each.get("function", each)).get("name") for each in list_objects(chosen)]


def _check_types(schema: object) -> None:
    members = as_mapping(schema)
    if isinstance(kind := members.get("type"), str) and kind not in _TYPES:
        raise make_refusal(f"{kind!r} is not a type of JSON Schema")
    # Values may have a member of this name too.
    parts = (part for name, part in members.items() if name not in ("const", "default", "enum", "examples"))
    for part in (*parts, *as_list(schema)):
        _check_types(part)


def _is_odd(messages: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether calls and results of a history do not belong together, or cannot be read."""
    ids: list[object] = []
    for message in messages:
        for call in _list_calls(message):
            try:
                read_json_text(str(as_mapping(call.get("function")).get("arguments")))
            except ValueError:
                return True
            ids.append(call.get("id"))
    results = [message.get("tool_call_id") for message in messages if message.get("role") == "tool"]
    return sorted(map(str, ids)) != sorted(map(str, results))


def refuse_by_fault(request: Mapping[str, object], fault: WireFault) -> None:
    """Refuse what a server with this fault refuses, though the interface has it."""
    messages, tools = list_objects(request.get("messages")), list_tools(request)
    contents = [each.get("content") for each in messages]
    names = [str(tool.get("name")) for tool in tools]
    has_calls = any(map(_list_calls, messages))
    is_refused = {
        WireFault.REFUSE_CHOICE: request.get("tool_choice") == "auto",
        WireFault.REFUSE_NULL: None in contents,
        WireFault.REFUSE_CALLS: has_calls,
        WireFault.REFUSE_EMPTY: "" in contents,
        WireFault.REFUSE_PARTS: any(isinstance(content, list) for content in contents),
        WireFault.REFUSE_NAMES: any("name" in each for each in messages)
        or any("-" in name or len(name) > 40 for name in names),
        WireFault.REFUSE_BARE_TOOLS: not all(
            as_mapping(tool.get("parameters")).get("properties") for tool in tools
        ),
        WireFault.REFUSE_DEVELOPER: any(each.get("role") == "developer" for each in messages),
        WireFault.REFUSE_UNICODE: not json.dumps(messages, ensure_ascii=False).isascii(),
    }
    if is_refused.get(fault):
        raise make_refusal(f"this server does not take that (simulated by --fault {fault})")
    has_no_tools = request.get("tools") == [] or (not names and has_calls)
    if fault is WireFault.FAIL_ON_HISTORY and (has_no_tools or _is_odd(messages)):
        raise RefusedRequestError(500, "server_error", "the history cannot be read (simulated by --fault)")


def list_tools(request: Mapping[str, object]) -> list[Mapping[str, object]]:
    """List the functions that a chat request offers."""
    return [as_mapping(tool.get("function")) for tool in list_objects(request.get("tools"))]


def _list_calls(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    return list_objects(message.get("tool_calls"))


def choose_tools(request: Mapping[str, object], fault: WireFault | None) -> list[Mapping[str, object]]:
    """Choose the functions that are called: the first two where any may be, else those that must."""
    tools, choice = list_tools(request), request.get("tool_choice", "auto")
    if choice == "none" and fault is WireFault.IGNORE_NONE:
        choice = "required"
    if choice == "none" or (choice != "auto" and fault is WireFault.IGNORE_REQUIRED):
        return []
    if isinstance(choice, Mapping) and fault is not WireFault.IGNORE_NAMED:
        names = list_chosen(choice)
        return [tool for tool in tools if tool.get("name") in names][:1]
    is_single = request.get("parallel_tool_calls") is False and fault is not WireFault.IGNORE_PARALLEL
    return tools[: 1 if is_single else 2]


def write_text(request: Mapping[str, object], fault: WireFault | None) -> str:
    """Write the words of a reply, in the format that the request demands."""
    demanded = as_mapping(request.get("response_format"))
    if fault is WireFault.IGNORE_FORMAT or demanded.get("type") not in ("json_object", "json_schema"):
        return _SENTENCE
    schema = as_mapping(as_mapping(demanded.get("json_schema")).get("schema"))
    return json.dumps(make_instance(schema, schema))


def make_instance(schema: Mapping[str, object], root: Mapping[str, object]) -> object:
    """Make the smallest value that a schema takes, of the keywords that tools use."""
    if isinstance(reference := schema.get("$ref"), str):
        target: object = root
        for part in filter(None, reference.removeprefix("#").split("/")):
            target = as_mapping(target).get(part)
        return make_instance(as_mapping(target), root)
    if "const" in schema:
        return schema["const"]
    for key in ("enum", "anyOf", "oneOf"):
        if isinstance(options := schema.get(key), list) and options:
            # One that refers to others last, because that may be the schema itself.
            option = min(options, key=lambda each: "$ref" in str(each))
            return option if key == "enum" else make_instance(as_mapping(option), root)
    least, kinds = schema.get("minimum", 1), schema.get("type", "object")
    # Of several types the first will do.
    match kinds[0] if isinstance(kinds, list) and kinds else kinds:
        case "string":
            return "ABC12" if "pattern" in schema else "Oslo"
        case "integer" | "number":
            return least
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            items, length = as_mapping(schema.get("items")), schema.get("minItems")
            return [make_instance(items, root)] * length if isinstance(length, int) and length else []
    properties = as_mapping(schema.get("properties"))
    required = as_list(schema.get("required", [*properties]))
    return {
        name: make_instance(as_mapping(each), root) for name, each in properties.items() if name in required
    }


def count_prompt(request: Mapping[str, object], fault: WireFault | None) -> int:
    """Count the tokens of the prompt that a template would make of a request."""
    messages, tools = list_objects(request.get("messages")), list_tools(request)
    match fault:
        case WireFault.LOSE_TOOLS:
            tools = []
        case WireFault.LOSE_DESCRIPTIONS:
            tools = [{**tool, "description": None} for tool in tools]
        case WireFault.LOSE_RESULTS:
            messages = [each for each in messages if each.get("role") != "tool"]
        case WireFault.LOSE_CALLS:
            messages = [{**each, "tool_calls": None} for each in messages]
        case WireFault.LOSE_WORDS:
            messages = [{**each, "content": None} if _list_calls(each) else each for each in messages]
    return estimate_tokens(json.dumps([messages, tools], ensure_ascii=False))


def cut_reply(reply: ServedReply, request: Mapping[str, object], fault: WireFault | None) -> ServedReply:
    """Cut a reply at the limit of its tokens, if it has one."""
    limits = (request.get(name) for name in ("max_tokens", "max_completion_tokens"))
    limit = next((each for each in limits if isinstance(each, int)), None)
    if limit is None or reply.completion_tokens <= limit:
        return reply
    room = limit * _SIGNS_OF_A_TOKEN
    calls = reply.calls and (
        replace(reply.calls[0], arguments=reply.calls[0].arguments[: max(1, room // 4)]),
    )
    ending = None if fault is WireFault.IGNORE_LIMIT else "length"
    return replace(
        reply, text=reply.text and reply.text[:room], calls=calls, completion_tokens=limit, ending=ending
    )


def read_response(
    request: Mapping[str, object], messages: Sequence[object], tools: object
) -> Mapping[str, object]:
    """Write a request of OpenAI's Responses API, whose messages and tools are read, as a chat request."""
    return {
        "model": request.get("model"),
        "messages": messages,
        "tools": tools,
        "tool_choice": request.get("tool_choice", "auto"),
        "max_tokens": request.get("max_output_tokens"),
        "stream": request.get("stream"),
    }


def read_message_request(request: Mapping[str, object]) -> Mapping[str, object]:
    """Write a request of Anthropic's interface as a chat request. Raises ``RefusedRequestError``."""
    raw, tools = request.get("messages"), request.get("tools") or []
    if not (isinstance(raw, list) and isinstance(tools, list) and isinstance(request.get("max_tokens"), int)):
        raise make_refusal("the request must have messages and max_tokens")
    messages: list[Mapping[str, object]] = []
    for message in list_objects(raw):
        content = message.get("content")
        blocks = list_objects(content)
        results = [
            {"role": "tool", "tool_call_id": each.get("tool_use_id"), "content": each.get("content")}
            for each in blocks
            if each.get("type") == "tool_result"
        ]
        messages += results
        if results:
            continue
        text = content if isinstance(content, str) else "".join(str(each.get("text", "")) for each in blocks)
        calls = [
            {
                "id": each.get("id"),
                "function": {"name": each.get("name"), "arguments": json.dumps(each.get("input"))},
            }
            for each in blocks
            if each.get("type") == "tool_use"
        ]
        messages.append(
            {"role": message.get("role"), "content": text, **({"tool_calls": calls} if calls else {})}
        )
    choice = as_mapping(request.get("tool_choice"))
    kind = choice.get("type", "auto")
    functions = [
        {"name": each.get("name"), "parameters": each.get("input_schema")} for each in list_objects(tools)
    ]
    return {
        "model": request.get("model"),
        "messages": messages,
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": choice if kind == "tool" else "required" if kind == "any" else kind,
        "max_tokens": request["max_tokens"],
    }


def break_reply(body: dict[str, object], fault: WireFault | None) -> dict[str, object]:
    """Return the JSON of a whole reply with a fault where it can show in it."""
    usage = as_mapping(body.get("usage"))
    if fault is WireFault.NO_USAGE:
        return {name: value for name, value in body.items() if name != "usage"}
    if fault is WireFault.WRONG_USAGE and isinstance(total := usage.get("total_tokens"), int):
        return {**body, "usage": {**usage, "total_tokens": total + 7}}
    if fault in (WireFault.NO_TYPE, WireFault.OBJECT_ARGUMENTS):
        return dict(as_mapping(_break_calls(body, fault)))
    return body


def _break_calls(value: object, fault: WireFault) -> object:
    """Return JSON in which each call lacks its type, or has arguments of the other kind."""
    if isinstance(value, list):
        return [_break_calls(each, fault) for each in value]
    if not isinstance(value, Mapping):
        return value
    members = {name: _break_calls(each, fault) for name, each in value.items()}
    if fault is WireFault.NO_TYPE and "function" in members:
        del members["type"]
    if fault is WireFault.OBJECT_ARGUMENTS and isinstance(text := members.get("arguments"), str):
        # One that is cut stays text.
        with suppress(ValueError):
            members["arguments"] = read_json_text(text)
    if fault is WireFault.OBJECT_ARGUMENTS and "input" in members:
        members["input"] = json.dumps(members["input"])
    return members
