"""Checks of a server, written by hand in YAML.

category: server_check
tools:                         # offered by name
  get_time: {description: Tell the time., parameters: {type: object, properties: {city: {type: string}}}}
base:                          # members of each request, unless it has its own; null leaves one out
  messages: [{role: user, content: What time is it in Oslo?}]
  max_tokens: 300
entries:
  - id: choice_none
    property: With tool_choice none the server sends no call.
    severity: must             # must, should or info
    request: {tools: [get_time], tool_choice: none}
    expect: {calls: 0}
  - id: stream_is_whole
    property: A stream says what the whole reply says.
    severity: must
    topic: stream              # optional: where it stands in tables
    seeds: 3                   # optional: how often it is asked, each time with another seed
    refusable: true            # optional: a server that refuses it with 400 leaves it undecided
    requests:                  # several, by name
      whole: {body: {tools: [get_time]}}
      again: {body: {tools: [get_time]}}
      streamed: {body: {tools: [get_time], stream: true}}
      streamed_again: {body: {tools: [get_time], stream: true}}
    expect: {same: {one: whole, other: streamed, again: again, other_again: streamed_again}}

In the texts of requests ``{words:100}`` stands for a hundred words.

A reply must have the status 200 unless ``status``, of the check or of a request, names others. The
properties: ``properties``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import pydantic

from pytest_fcbench.codecs.function_docs.json_schema import check_schema
from pytest_fcbench.domain.entry import Category, Entry, Expectation, Message
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import as_list, as_mapping
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import (
    AtLeastOne,
    EntryRow,
    ErrorSentence,
    Given,
    OneOf,
    PlacedEntries,
    Row,
    Some,
    make_rule_error,
)
from pytest_fcbench.kinds.server_check.exchange import CHAT, MESSAGES, RESPONSES, RawRequest
from pytest_fcbench.kinds.server_check.properties import PROPERTIES


class CheckSeverity(StrEnum):
    """How much a broken property matters."""

    MUST = "must"
    """Clients break, or right answers are lost."""
    SHOULD = "should"
    """The interface says so, and clients can live without it."""
    INFO = "info"
    """Good to know; servers differ here."""


class OfferedToolRow(Row):
    """A tool; other members are sent as they are."""

    model_config = pydantic.ConfigDict(extra="allow")

    description: Given[str] = None
    parameters: Given[dict[str, object]] = None


class RequestRow(Row):
    """A request, and how it is sent."""

    path: Annotated[str, OneOf("path", (CHAT, RESPONSES, MESSAGES))] = CHAT
    body: Given[dict[str, object]] = None
    """Its members beside those of ``base``."""
    raw: Given[str] = None
    """A text that is sent in place of a body."""
    drop: bool = False
    """The client goes away after the first bytes of the reply."""
    status: Given[Some[int]] = None
    """The statuses that its reply may have; those of the check where it is left out."""


class CheckRow(EntryRow):
    """A property of a server, and requests whose replies show it."""

    property: str
    """A sentence: what a right server does."""
    severity: Annotated[str, OneOf("severity", tuple(CheckSeverity))]
    topic: Given[str] = None
    request: Given[dict[str, object]] = None
    """The body of the only request."""
    requests: Given[AtLeastOne[RequestRow]] = None
    """Several requests by name, sent in this order."""
    seeds: Annotated[int, pydantic.Field(ge=1, le=20), ErrorSentence("must be a number from 1 to 20")] = 1
    """The number of times that all requests are sent, each time with another seed."""
    refusable: bool = False
    """True where a server may lack the feature."""
    finite: bool = False
    """True where a right reply is short, so that one that is cut breaks the check."""
    status: Given[Some[int]] = None
    """The statuses that replies may have; 200 where it is left out."""
    expect: dict[str, object]
    """Properties by name, with what is demanded of each."""

    @pydantic.model_validator(mode="after")
    def _check_requests(self) -> CheckRow:
        if (self.request is None) is (self.requests is None):
            raise make_rule_error("must have either 'request' or 'requests'")
        return self


class CheckFile(Row):
    """Checks of a server."""

    category: str
    entries: list[CheckRow]
    tools: Given[dict[str, OfferedToolRow]] = None
    """Tools that requests offer by name."""
    base: Given[dict[str, object]] = None
    """Members of the body of each request at chat/completions."""


@dataclass(frozen=True, slots=True)
class ServerCheck(Expectation):
    """Requests, and the properties that their replies must have."""

    sentence: str
    severity: CheckSeverity
    topic: str
    requests: Mapping[str, RawRequest]
    expected: Mapping[str, object]
    statuses: Mapping[str, Sequence[int]]
    """Those that the reply to each request may have, by the name of the request."""
    seeds: int = 1
    refusable: bool = False
    finite: bool = False
    removable: frozenset[str] = field(default_factory=frozenset)
    """Members of bodies that come from ``base``; a server that refuses one is asked without it."""


def read_entries(row: CheckFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file in one category, which is one severity. Raises ``SuiteError``."""
    for each, place in zip(row.entries, file.at("entries").elements(), strict=True):
        if not category.name.endswith(each.severity):
            continue
        rows = each.requests or {"reply": RequestRow(body=each.request)}
        requests = {}
        for name, request in rows.items():
            body_field = place.at("requests", name, "body") if each.requests else place.at("request")
            requests[name] = _make_request(request, row, body_field)
        check = ServerCheck(
            each.property,
            CheckSeverity(each.severity),
            each.topic or each.id.partition("_")[0],
            requests,
            _read_properties(each.expect, place.at("expect"), requests),
            {name: request.status or each.status or (200,) for name, request in rows.items()},
            each.seeds,
            each.refusable,
            each.finite,
            frozenset(row.base or ()),
        )
        question = "\n".join(
            f"{name if len(requests) > 1 else 'request'} ({request.path}):\n{_write_body(request.body)}"
            for name, request in requests.items()
        )
        yield place, Entry(suite, each.id, category, ((Message("user", question),),), (), check)


def _make_request(request: RequestRow, row: CheckFile, at: Field) -> RawRequest:
    if request.raw is not None:
        return RawRequest(request.path, request.raw, request.drop)
    base = row.base or {} if request.path == CHAT else {}
    body = {key: value for key, value in {**base, **(request.body or {})}.items() if value is not None}
    if isinstance(tools := body.get("tools"), list):
        # In other interfaces tools have other forms.
        known, path = row.tools or {}, request.path
        body["tools"] = [_offer_tool(each, known, path, at.at("tools", n)) for n, each in enumerate(tools)]
    return RawRequest(request.path, as_mapping(_fill_words(body)), request.drop)


def _write_body(body: Mapping[str, object] | str) -> str:
    """Write the body of a request for people: JSON with a line for each member and each element of a list."""
    if isinstance(body, str):
        return body
    members = []
    for name, value in body.items():
        if isinstance(value, list) and any(isinstance(each, dict) for each in value):
            text = ",\n".join(f"    {json.dumps(each, ensure_ascii=False)}" for each in value)
            text = f"[\n{text}\n  ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        members.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}"


_WORDS = re.compile(r"\{words:(\d{1,6})\}")
"""Stands for so many words in a text of a request."""


def _fill_words(value: object) -> object:
    if isinstance(value, str):
        return _WORDS.sub(lambda found: " ".join(["word"] * int(found[1])), value)
    if isinstance(value, list):
        return [_fill_words(each) for each in value]
    return {key: _fill_words(each) for key, each in value.items()} if isinstance(value, dict) else value


def _offer_tool(tool: object, known: Mapping[str, OfferedToolRow], path: str, at: Field) -> object:
    """Return a tool in the form of its interface; one that is no name is sent as it is."""
    if not isinstance(tool, str):
        return tool
    if tool not in known:
        raise at.error(f"there is no tool {tool!r} under 'tools' ({', '.join(known) or 'none is there'})")
    members = {"name": tool, **known[tool].model_dump(exclude_none=True)}
    match path:
        case "responses":
            return {"type": "function", **members}
        case "messages":
            schema = members.pop("parameters", {"type": "object"})
            return {**members, "input_schema": schema}
    return {"type": "function", "function": members}


def _list_demanded_schemas(
    name: str, value: object, requests: Mapping[str, RawRequest]
) -> list[Mapping[str, object]]:
    """List the schemas by which a property judges replies: its own, or those of the tools of requests."""
    if (name, value) == ("arguments", "valid"):
        return [schema for request in requests.values() for schema in request.schemas.values()]
    return [as_mapping(value)] if name == "json_text" else []


def _read_properties(
    expect: Mapping[str, object], at: Field, requests: Mapping[str, RawRequest]
) -> Mapping[str, object]:
    """Read the properties that a check demands. Raises ``SuiteError``."""
    read: dict[str, object] = {}
    for name, value in expect.items():
        if name not in PROPERTIES:
            raise at.at(name).error(f"there is no property {name!r}; use one of {', '.join(PROPERTIES)}")
        try:
            read[name] = PROPERTIES[name].read_argument(value)
            for schema in _list_demanded_schemas(name, value, requests):
                check_schema(schema)
        except pydantic.ValidationError as error:
            raise at.at(name).error(f"cannot be {value!r:.80}: {error.errors()[0]['msg']}") from None
        except UsageError as error:
            raise at.at(name).error(str(error)) from None
        request_names: Collection[object] = ()
        if name == "other_ids":
            request_names = as_list(read[name])
        elif name in ("same", "prompt_grows", "soon"):
            request_names = vars(read[name]).values()
        for each in request_names:
            if isinstance(each, str) and each not in requests:
                raise at.at(name).error(f"there is no request {each!r}; the check has {', '.join(requests)}")
    return read
