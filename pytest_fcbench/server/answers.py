"""Answers of the server as bytes: a reply in the form of an interface, whole or as a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.server.body import Body
from pytest_fcbench.server.conforming import ConformingReply, WireFault, break_reply
from pytest_fcbench.server.faults import STREAM_FAULTS, Fault, FaultKind, break_stream
from pytest_fcbench.server.replies import (
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


def write_chat_answer(body: Body, made: KeyedReply, received: ReceivedRequest) -> ServedAnswer:
    """Write a reply as a chat completion, or as the events of one."""
    reply_id = f"chatcmpl-{received.number}"
    if not body.stream:
        content = {"id": reply_id, "created": received.created, **write_reply(Api.CHAT, made.reply)}
        return ServedAnswer(made.key, (json.dumps(content).encode(),), broken=made.broken)
    choices = list_choices(made.reply)
    write = partial(
        write_stream,
        reply=made.reply,
        reply_id=reply_id,
        created=received.created,
        include_usage=body.include_usage,
    )
    good = write(choices)
    fault = received.fault if isinstance(received.fault, FaultKind) else None
    events = break_stream(fault, choices, write) if fault in STREAM_FAULTS else good
    return ServedAnswer(made.key, tuple(events), broken=made.broken or events != good, is_stream=True)


def write_conforming_answer(
    api: Api, made: ConformingReply, received: ReceivedRequest, fault: WireFault | None
) -> ServedAnswer:
    """Write a reply of the conforming model in the form of an interface."""
    if api is Api.CHAT and made.stream:
        body = Body(
            b"", (), (), stream=True, include_usage=made.include_usage and fault is not WireFault.NO_USAGE
        )
        answer = write_chat_answer(body, KeyedReply("conforming", made.reply, broken=False), received)
        content_type = "application/json" if fault is WireFault.STREAM_AS_JSON else ""
        return replace(answer, content_type=content_type)
    if api is Api.RESPONSES:
        response = build_response(made.reply, received.number, received.created)
        if made.stream or fault is WireFault.STREAM_UNASKED:
            return ServedAnswer("conforming", tuple(stream_response(response)), is_stream=True)
        value = break_reply(response, fault)
    else:
        value = write_reply(api, made.reply)
        if isinstance(choices := value.get("choices"), list):
            tokens = {"token_ids": list(made.token_ids)} if made.token_ids else {}
            value["choices"] = [{**choices[0], "index": index, **tokens} for index in range(made.choices)]
        value = break_reply(
            {"id": f"chatcmpl-{received.number}", "created": received.created, **value}, fault
        )
    return ServedAnswer("conforming", (json.dumps(value).encode(),))
