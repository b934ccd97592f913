"""Answers of the server as bytes: a reply in the form of an interface, whole or as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.server.conforming import ConformingReply, WireFault, break_reply
from pytest_fcbench.server.faults import STREAM_FAULTS, Fault, FaultKind, break_stream
from pytest_fcbench.server.replies import (
    ChunkChoice,
    ServedReply,
    build_response,
    list_choices,
    stream_response,
    write_reply,
    write_stream,
)


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """The facts about a request beside its body."""

    number: int
    """Its number in the order of arrival."""
    created: int
    """When it arrived, in seconds since the epoch."""
    name: str | None
    """The name of its entry, where its header gives one."""
    fault: Fault | None
    """The fault that was drawn for its answer."""


@dataclass(frozen=True, slots=True)
class ServedAnswer:
    """A good answer, or one that a fault has changed, ready to be sent."""

    key: str
    """The key under which it is counted."""
    parts: tuple[bytes, ...]
    """The whole body, or the events of a stream."""
    broken: bool = False
    """True where the fault of the request has changed it."""
    is_stream: bool = False
    status: int = 200
    content_type: str = ""
    """The type of the body, where a fault changes it."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that say what the body is."""
        if self.content_type:
            return {"Content-Type": self.content_type}
        if self.is_stream:
            return {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
        return {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class KeyedReply:
    """A reply, and the key under which it is counted."""

    key: str
    reply: ServedReply
    broken: bool
    """True where the fault of the request has changed it."""


def write_answer(
    api: Api, made: KeyedReply, received: ReceivedRequest, *, stream: bool, include_usage: bool
) -> ServedAnswer:
    """Write a reply in the form of an interface, whole or as the events of a stream."""
    if api is Api.RESPONSES:
        response = build_response(made.reply, received.number, received.created)
        parts = tuple(stream_response(response)) if stream else (json.dumps(response).encode(),)
        return ServedAnswer(made.key, parts, broken=made.broken, is_stream=stream)
    reply_id = f"{'cmpl' if api is Api.COMPLETIONS else 'chatcmpl'}-{received.number}"
    if not stream:
        content = {"id": reply_id, "created": received.created, **write_reply(api, made.reply)}
        return ServedAnswer(made.key, (json.dumps(content).encode(),), broken=made.broken)

    def write(choices: Iterable[ChunkChoice]) -> list[bytes]:
        return write_stream(choices, made.reply, reply_id, received.created, include_usage=include_usage)

    choices = list_choices(made.reply)
    good = write(choices)
    fault = received.fault if isinstance(received.fault, FaultKind) else None
    events = break_stream(fault, choices, write) if fault in STREAM_FAULTS else good
    return ServedAnswer(made.key, tuple(events), broken=made.broken or events != good, is_stream=True)


def write_conforming_answer(
    api: Api, made: ConformingReply, received: ReceivedRequest, fault: WireFault | None
) -> ServedAnswer:
    """Write a reply of the conforming model in the form of an interface."""
    if made.stream or (api is Api.RESPONSES and fault is WireFault.STREAM_UNASKED):
        has_usage = made.include_usage and fault is not WireFault.NO_USAGE
        keyed_reply = KeyedReply("conforming", made.reply, broken=False)
        answer = write_answer(api, keyed_reply, received, stream=True, include_usage=has_usage)
        return replace(answer, content_type="application/json" if fault is WireFault.STREAM_AS_JSON else "")
    if api is Api.RESPONSES:
        value = build_response(made.reply, received.number, received.created)
    else:
        value = write_reply(api, made.reply)
        if isinstance(choices := value.get("choices"), list):
            tokens = {"token_ids": list(made.token_ids)} if made.token_ids else {}
            value["choices"] = [{**choices[0], "index": index, **tokens} for index in range(made.choices)]
        value = {"id": f"chatcmpl-{received.number}", "created": received.created, **value}
    return ServedAnswer("conforming", (json.dumps(break_reply(value, fault)).encode(),))
