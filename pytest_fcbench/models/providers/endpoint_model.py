"""The part of a model behind an endpoint that does not depend on the client library that asks it.

Calls of the model in the history of a request may have arguments that are no JSON object. Officially the
model's message is repeated as it came, and servers that read the arguments of past calls refuse it, each
time: vLLM with status 400, llama.cpp with 500. That is the model's own failure.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias, cast

from pytest_fcbench.codecs.presenting import answer_unreadable_calls
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.redaction import list_request_secrets, mask_secrets_within, redact_secrets
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault
from pytest_fcbench.models.providers.failures import AnswerRoomError, write_in_one_line
from pytest_fcbench.models.providers.reply_bodies import LONGEST_BODY

_KEY_HEADERS = ("Authorization", "x-api-key", "x-goog-api-key")
_ABOUT_CALLS = re.compile(r"tool|function", re.IGNORECASE)
"""Words of an endpoint that wants an answer to each tool call."""


Parameters: TypeAlias = Mapping[str, object]
"""Parameters of a request, such as ``temperature``."""
STREAM_OPTIONS = {"stream_options": {"include_usage": True}}
"""The parameter with which a stream ends with the token usage."""

_UNCLEAR = frozenset({"bad_request", "endpoint", ProtocolNote.ERROR_IN_REPLY, ProtocolNote.ERROR_IN_STREAM})
"""Causes of failures that what the request holds may have."""


class RequestRefusedError(CallError):
    """An endpoint refused a request as malformed; ``message`` is its whole explanation."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__("bad_request", reason)
        self.message = message


@dataclass
class EndpointModel(ABC):
    """A model behind an endpoint.

    ``parameters`` go into every request as they are (temperature, seed, top_p ...). One that the model
    refuses is left out from then on and named in ``notes``.
    """

    id: str
    parameters: dict[str, object] = field(repr=False)
    api_base: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 600.0
    longest_body: int = LONGEST_BODY
    """Bytes of a reply that are read."""
    tag: bool = False
    """True where each request names its entry in a header."""
    chosen: frozenset[str] = frozenset()
    """The parameters that the user chose, which no default of a request replaces."""
    immediate: bool = False
    dropped: dict[str, str] = field(default_factory=dict)
    answers_every_call: bool = False
    """True once the endpoint has refused a request whose tool calls were not all answered."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for each parameter that was dropped, and one where tool calls had to be answered."""
        notes = tuple(f"{name} was dropped: {reason}" for name, reason in sorted(self.dropped.items()))
        if not self.answers_every_call:
            return notes
        return (
            *notes,
            f"tool calls that could not be read were answered with an error, because {self.id} refuses "
            "requests that leave them unanswered, as official requests do",
        )

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the endpoint once, and again where only that shows whose failure it is.

        Raises ``CallError`` where no answer comes.
        """
        try:
            return await self.ask_endpoint(entry, request)
        except AnswerRoomError as error:
            return await self._measure_prompt(entry, request, error)
        except CallError as error:
            if not await self._is_refused_for_broken_calls(entry, request, error):
                raise
            return Completion(text=f"{error.reason}; {TOLD}", fault=Fault.UNREADABLE_CALL)

    async def _measure_prompt(self, entry: Entry, request: AskModel, error: AnswerRoomError) -> Completion:
        """Ask for an answer of one token, which tells whether the prompt alone fits, and its length.

        Returns a completion for a prompt that does not fit. Raises ``CallError`` for one that does.
        """
        name = "max_completion_tokens" if "max_completion_tokens" in self.parameters else "max_tokens"
        try:
            parameters = {**self.choose_parameters(request), name: 1}
            completion = await self.send_request(entry, request, parameters)
        except AnswerRoomError as other:
            if other.reason != error.reason:
                return Completion(text=other.reason, fault=Fault.OVERFLOW)
            raise error from None
        except CallError:
            raise error from None
        if completion.fault is Fault.OVERFLOW:
            return completion
        raise error.with_prompt(completion.input_tokens)

    async def _is_refused_for_broken_calls(self, entry: Entry, request: AskModel, error: CallError) -> bool:
        """Tell whether a request failed because calls in its history are broken: the model's own failure."""
        if self.answers_every_call:
            request = answer_unreadable_calls(request)
        mended_request = mend_broken_calls(request)
        if mended_request is None or error.cause not in _UNCLEAR:
            return False
        # The id of a model may hold such words.
        if ABOUT_ARGUMENTS.search(error.reason.removeprefix(f"{self.id}: ")):
            return True
        # Servers that say nothing more than that they failed.
        parameters = self.choose_parameters(request)
        try:
            await self.send_request(entry, mended_request, parameters)
        except CallError:
            return False
        if error.cause == "bad_request":
            return True
        try:
            await self.send_request(entry, request, parameters)
        except CallError as again:
            return again.cause == error.cause
        return False

    async def ask_endpoint(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the endpoint, without what it turns out to refuse. Raises ``CallError``."""
        parameters = self.choose_parameters(request)
        current_parameters = dict(parameters)
        answered_request = answer_unreadable_calls(request)
        current_request = answered_request if self.answers_every_call else request
        while True:
            try:
                completion = await self.send_request(entry, current_request, current_parameters)
            except RequestRefusedError as error:
                refused_names = {
                    name for name in current_parameters if re.search(rf"\b{re.escape(name)}\b", error.message)
                }
                # An answer that is not streamed would be another one than was asked for.
                refused_names.discard("stream")
                for name in refused_names:
                    del current_parameters[name]
                if not refused_names:
                    if current_request is answered_request or not _ABOUT_CALLS.search(error.message):
                        raise
                    current_request = answered_request
                continue
            # Only a request that works without a parameter shows that the parameter was refused.
            for name in parameters.keys() - current_parameters.keys():
                self.parameters.pop(name, None)
                self.dropped.setdefault(name, f"{self.id} rejected it")
            if current_request is not request:
                self.answers_every_call = True
            return completion

    def choose_parameters(self, request: AskModel) -> dict[str, object]:
        """Return the user's parameters, then the defaults of the request, then the usual ones."""
        fixed_names = {*self.chosen, *self.dropped}
        # Endpoints take the limit of output tokens under either of two names.
        if "max_completion_tokens" in self.parameters:
            fixed_names.add("max_tokens")
        # Streams tell the token usage only to who asks for it.
        usage = STREAM_OPTIONS if self.parameters.get("stream") or request.defaults.get("stream") else {}
        defaults = {**usage, **request.defaults}
        return self.parameters | {name: defaults[name] for name in defaults if name not in fixed_names}

    @abstractmethod
    async def send_request(self, entry: Entry, request: AskModel, parameters: Parameters) -> Completion:
        """Send one request with these parameters.

        Raises ``RequestRefusedError`` where the endpoint refuses it as malformed, else ``CallError``.
        """

    @abstractmethod
    def describe_request(self, entry: Entry, request: AskModel) -> Mapping[str, object]:
        """Return a request as it is sent, as JSON values in which keys are masked."""

    def mask_parts(self, parts: Mapping[str, object]) -> Mapping[str, object]:
        """Return the parts of a request without secrets; what the user puts into headers is taken for one."""
        masked_parts = {name: mask_secrets_within(value, self.secrets) for name, value in parts.items()}
        for name in parts.keys() & {"headers", "extra_headers"}:
            secret = {*_KEY_HEADERS, *as_mapping(self.parameters.get("extra_headers"))}
            headers = as_mapping(masked_parts[name])
            masked_parts[name] = {each: "***" if each in secret else value for each, value in headers.items()}
        if "api_key" in masked_parts:
            masked_parts["api_key"] = "***"
        for name in ("url", "api_base"):
            if isinstance(address := masked_parts.get(name), str):
                masked_parts[name] = redact_secrets(address)
        return masked_parts

    def build_headers(self, entry: Entry) -> Mapping[str, str]:
        """Return the headers that the user wants beside those of the interface."""
        extra = as_mapping(self.parameters.get("extra_headers"))
        headers = {str(name): str(value) for name, value in extra.items()}
        return {**headers, "X-Fcbench-Entry": entry.item_id} if self.tag else headers

    def build_reason(self, message: str) -> str:
        """Return the reason of a failed call: the model and the message in one line, without secrets."""
        return f"{self.id}: {write_in_one_line(message, self.secrets)}"

    @cached_property
    def secrets(self) -> list[str]:
        """The secrets of a request, which are removed from answers and from errors."""
        return list_request_secrets(self.api_key, self.api_base, self.parameters)


TOLD = "a call in the history of the request is not a JSON object"
"""The end of the text of such a failure."""

ABOUT_ARGUMENTS = re.compile(
    r"\bjson|arguments|tool.?call|function.?call|tool_use|\bpars(e|ing|er)\b|delimiter|unterminated"
    r"|expecting (value|property)|from a mapping|valid dictionary|extra data"
    r"|invalid (\\?escape|character)|unexpected (end|token|character|eof)",
    re.IGNORECASE,
)
"""Words of a server that cannot read the arguments of a call."""

_DEEPEST = 8
"""Levels of a message in which a call is looked for."""


def mend_broken_calls(request: AskModel) -> AskModel | None:
    """Return the request with empty arguments where they are no JSON object; None where all are one."""
    if request.wire is None:
        messages = cast(
            "tuple[Mapping[str, object], ...]",
            tuple(_mend_part(message, _DEEPEST) for message in request.messages),
        )
        return None if messages == request.messages else replace(request, messages=messages)
    body = request.wire.body
    mended_parts = {name: _mend_part(body[name], _DEEPEST) for name in ("messages", "input") if name in body}
    mended_body = {**body, **mended_parts}
    return None if mended_body == body else replace(request, wire=replace(request.wire, body=mended_body))


def _mend_part(part: object, depth: int) -> object:
    """Return an equal part of a message, but for the arguments of calls that are no JSON object."""
    if not depth or not isinstance(part, (list, tuple, Mapping)):
        return part
    if not isinstance(part, Mapping):
        return type(part)(_mend_part(each, depth - 1) for each in part)
    mended_members = {name: _mend_part(value, depth - 1) for name, value in part.items()}
    if {"name", "arguments"} <= part.keys() and not _is_object(part["arguments"]):
        mended_members["arguments"] = "{}"
    return mended_members


def _is_object(arguments: object) -> bool:
    """Tell whether the arguments of a call are an object, or text that is one as JSON."""
    if not isinstance(arguments, str):
        return isinstance(arguments, Mapping)
    constants: list[str] = []
    try:
        value: object = read_json_text(arguments, parse_constant=constants.append)
    except (ValueError, RecursionError):
        return False
    # ``NaN`` and ``Infinity`` are JSON for Python only.
    return isinstance(value, dict) and not constants
