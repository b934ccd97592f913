"""A request to an endpoint and its reply as they are sent, for checks of servers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

from pytest_fcbench.domain.text import as_list, as_mapping, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion, Party

CHAT, RESPONSES, MESSAGES = "chat/completions", "responses", "messages"
"""The paths behind an address whose replies are read: two of OpenAI, one of Anthropic."""

CUT = "length"
"""The ending of a reply that reached the limit of its tokens."""
NO_REPLY = 0
"""In place of a status, where the server breaks the connection."""
_ENDINGS: Mapping[object, str] = {"tool_use": "tool_calls", "end_turn": "stop", "max_tokens": CUT}
"""Anthropic's words for the ways in which a reply ends, in OpenAI's."""
_WITHHELD = ("content_filter", "refusal")
"""The endings of a reply that a filter stopped."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request as it is sent, but for the name of the model, which the endpoint's settings know."""

    path: str
    """Behind the address of the endpoint; one that begins with a slash is at the root of the server."""
    body: Mapping[str, object] | str
    """A text is sent as it is."""
    drop: bool = False
    """True where the client goes away after the first bytes of the reply."""
    method: str = "POST"

    @property
    def schemas(self) -> Mapping[str, Mapping[str, object]]:
        """The schema of the parameters of each tool that the request offers, by the tool's name."""
        tools = self.body.get("tools") if isinstance(self.body, Mapping) else None
        schemas = {}
        for tool in tools if isinstance(tools, list) else ():
            function = as_mapping(as_mapping(tool).get("function", tool))
            schema = function.get("parameters", function.get("input_schema"))
            schemas[str(function.get("name"))] = as_mapping(schema)
        return schemas

    def write_question(self, attempt: int) -> AskModel:
        """Write the request as a question to the endpoint; ``attempt`` counts equal ones before it."""
        # A conversation has hundreds, with long bodies, which ``asdict`` would copy.
        members = {"path": self.path, "body": self.body, "drop": self.drop}
        # Questions of a post are stored without its name.
        if self.method != "POST":
            members["method"] = self.method
        message = {"role": "user", "content": json.dumps(members)}
        return AskModel((message,), party=Party.ENDPOINT, attempt=attempt)

    @classmethod
    def read_question(cls, question: AskModel) -> RawRequest:
        """Read what ``write_question`` wrote."""
        return cls(**read_json_text(str(question.messages[0]["content"])))


@dataclass(frozen=True, slots=True)
class ServerCall:
    """A tool call as the server sent it; any member may be of any type."""

    id: object
    name: object
    arguments: object
    """JSON text, as most interfaces want it, or a value."""
    type: object = "function"

    def read_arguments(self) -> object:
        """Return the arguments as a value. Raises ``ValueError`` for text that is no JSON."""
        return read_json_text(self.arguments) if isinstance(self.arguments, str) else self.arguments

    def __str__(self) -> str:
        text = self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)
        return f"{self.name}({text:.200})"


@dataclass(frozen=True, slots=True)
class ServerExchange:
    """The reply to a request, as far as it could be read."""

    status: int
    """``NO_REPLY`` where none came."""
    content_type: str
    reply: Mapping[str, object] | None
    """The JSON object of the reply, of a stream what its events join to; None for any other body."""
    beginning: str = ""
    """The beginning of a body that is no such object."""
    notes: tuple[str, ...] = ()
    """Codes of the ways in which the server broke its interface (``ProtocolNote``), and the cause of a
    failure that is the model's own."""

    def write_completion(self, latency_s: float) -> Completion:
        """Write the exchange as the completion that is stored, with the tokens that it took."""
        tokens = read_token_counts(self.reply or {})
        text, prompt, answer = json.dumps(asdict(self)), tokens.prompt, tokens.answer
        return Completion(text=text, latency_s=latency_s, input_tokens=prompt, output_tokens=answer)

    @classmethod
    def read_completion(cls, completion: Completion) -> ServerExchange:
        """Read what ``write_completion`` wrote."""
        members = read_json_text(completion.text or "{}")
        return cls(**{**members, "notes": tuple(members["notes"])})


class ReplyTokens(NamedTuple):
    """The tokens that a reply says it took; None for what it does not say."""

    prompt: int | None
    answer: int | None
    total: int | None


def read_token_counts(reply: Mapping[str, object]) -> ReplyTokens:
    """Read how many tokens a reply took, in the words of any interface."""
    usage = as_mapping(reply.get("usage"))

    def find_count(*names: str) -> int | None:
        return next((value for name in names if type(value := usage.get(name)) is int), None)

    return ReplyTokens(
        find_count("prompt_tokens", "input_tokens"),
        find_count("completion_tokens", "output_tokens"),
        find_count("total_tokens"),
    )


@dataclass(frozen=True)
class ServerReply:
    """The reply to a request, read the same way for each interface."""

    request: RawRequest
    exchange: ServerExchange
    latency_s: float = 0.0

    @property
    def is_good(self) -> bool:
        """True where the server answered with a reply that can be read."""
        return self.exchange.status == 200 and self.exchange.reply is not None

    @cached_property
    def body(self) -> Mapping[str, object]:
        """The reply as an object; an empty one where there is none."""
        return self.exchange.reply or {}

    @cached_property
    def choices(self) -> Sequence[Mapping[str, object]]:
        """The choices of a chat completion."""
        return _list_objects(self.body.get("choices"))

    @cached_property
    def message(self) -> Mapping[str, object]:
        """The message of the first choice of a chat completion."""
        return as_mapping(self.choices[0].get("message")) if self.choices else {}

    @cached_property
    def items(self) -> Sequence[Mapping[str, object]]:
        """The items of a response, or the blocks of an Anthropic message."""
        return _list_objects(self.body.get("output" if self.request.path == RESPONSES else "content"))

    @cached_property
    def calls(self) -> tuple[ServerCall, ...]:
        """The tool calls of the first choice."""
        if self.request.path == CHAT:
            return tuple(map(_read_chat_call, _list_objects(self.message.get("tool_calls"))))
        items = (item for item in self.items if item.get("type") in ("function_call", "tool_use"))
        return tuple(map(_read_call_item, items))

    @cached_property
    def text(self) -> str:
        """The text of the first choice; empty where it has none."""
        if self.request.path == CHAT:
            return _join_texts(self.message.get("content"))
        if self.request.path == RESPONSES:
            messages = (item for item in self.items if item.get("type") == "message")
            return "".join(_join_texts(item.get("content")) for item in messages)
        return _join_texts(self.items)

    @cached_property
    def reasoning(self) -> str:
        """The reasoning of a chat completion, in whichever field; empty where there is none."""
        return str(self.message.get("reasoning_content") or self.message.get("reasoning") or "")

    @property
    def is_withheld(self) -> bool:
        """True where a filter stopped the reply, or the model refused in the field ``refusal``."""
        return self.ending in _WITHHELD or bool(self.message.get("refusal"))

    @cached_property
    def ending(self) -> str | None:
        """OpenAI's word for the way in which the reply ended; None where the server gives none."""
        if self.request.path == CHAT:
            word = self.choices[0].get("finish_reason") if self.choices else None
        elif self.request.path == RESPONSES:
            is_whole = self.body.get("status") == "completed"
            reason = as_mapping(self.body.get("incomplete_details")).get("reason")
            broken_off = reason if reason in _WITHHELD else CUT
            word = ("tool_calls" if self.calls else "stop") if is_whole else broken_off
        else:
            word = self.body.get("stop_reason")
        return None if word is None else _ENDINGS.get(str(word), str(word))

    @cached_property
    def tokens(self) -> ReplyTokens:
        """The tokens that the reply says it took."""
        return read_token_counts(self.body)

    @property
    def reasoning_tokens(self) -> int:
        """The tokens of reasoning that the reply says it took; 0 where it says nothing."""
        usage = as_mapping(self.body.get("usage"))
        details = as_mapping(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
        return tokens if type(tokens := details.get("reasoning_tokens")) is int else 0

    def __str__(self) -> str:
        """Describe the reply in one line."""
        if not self.is_good:
            status = f"HTTP {self.exchange.status}" if self.exchange.status else "no reply"
            return f"{status}: {describe_error(self.exchange)}"
        contents = [*map(str, self.calls), *([f"{self.text!r:.200}"] if self.text else [])]
        return f"{', '.join(contents) or 'nothing'}; finish_reason {self.ending}"


def _read_chat_call(call: Mapping[str, object]) -> ServerCall:
    function = as_mapping(call.get("function"))
    return ServerCall(call.get("id"), function.get("name"), function.get("arguments"), call.get("type"))


def _read_call_item(item: Mapping[str, object]) -> ServerCall:
    arguments = item.get("arguments", item.get("input"))
    return ServerCall(item.get("call_id", item.get("id")), item.get("name"), arguments)


def describe_error(exchange: ServerExchange) -> str:
    """Return the words of an error reply in one line."""
    reply = exchange.reply or {}
    error = reply.get("error") or exchange.reply
    words = as_mapping(error).get("message") or (json.dumps(error) if error else exchange.beginning)
    if flaws := _list_objects(reply.get("detail")):
        # FastAPI repeats what it refuses, which may be the whole request.
        words = "; ".join(f"{flaw.get('loc')}: {flaw.get('msg')}" for flaw in flaws)
    return " ".join(str(words).split())[:300] or ("no words" if exchange.reply else "an empty body")


def _list_objects(value: object) -> list[Mapping[str, object]]:
    """List the objects in a value that is a list; what a server puts beside them is no call and no choice."""
    return [each for each in as_list(value) if isinstance(each, Mapping)]


def _join_texts(content: object) -> str:
    """Return the text of a content: a text itself, or a list of parts."""
    if isinstance(content, str):
        return content
    texts = (part.get("text") for part in _list_objects(content))
    return "".join(text for text in texts if isinstance(text, str))


Replies: TypeAlias = Mapping[str, ServerReply]
"""The replies to the requests of a check, by the names of the requests."""


def drop_parameter(request: RawRequest, name: str) -> RawRequest:
    """Return a request without a parameter; the limit of tokens is renamed instead."""
    if not isinstance(request.body, Mapping) or name not in request.body:
        return request
    body = {key: value for key, value in request.body.items() if key != name}
    if name == "max_tokens":
        body["max_completion_tokens"] = request.body[name]
    return replace(request, body=body)
