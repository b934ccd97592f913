"""Executable entries written by hand in YAML.

category: exec_parallel
entries:
  - id: exec_parallel_0
    query: How many litres for 300 km at 6 litres, and for 80 km at 9?
    functions: [fuel_needed]       # of ``execution.everyday``, which have the docs
    expect:
      - fuel_needed(distance_km=300, litres_per_100_km=6)    # its result, exactly
      - {call: "fuel_needed(distance_km=80, litres_per_100_km=9)", kind: real_time_match}
  - id: exec_parallel_1
    query: What do two and three boxes weigh?
    functions: [shop:weight]       # of a module of your own, looked for beside the file first
    expect: [shop.weight(boxes=2), shop.weight(boxes=3)]

Requests of web APIs:

category: rest
endpoints:                 # what a model may ask, each described as ``requests.get``
  - name: tram_stops
    url: https://trams.varnholm.example/v1/stops   # of a host of ``execution.rest_services``
    about: ...
    params:                # and, with the same keys, headers
      properties: {zone: {type: integer, description: ...}}
      required: []
entries:
  - id: rest_0
    query: Which tram stops are in zone 2?
    endpoint: tram_stops
    expect: "requests.get(url='https://trams.varnholm.example/v1/stops', params={'zone': 2})"
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import FunctionType
from typing import Annotated

from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.entry import Category, Entry, Message
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc, Language
from pytest_fcbench.execution.everyday import EVERYDAY
from pytest_fcbench.execution.rest_apis import FUNCTION, NoRequestError, read_request
from pytest_fcbench.execution.rest_services import SERVICES
from pytest_fcbench.formats import function_docs
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.function_docs import ParameterRow
from pytest_fcbench.formats.rows import EntryRow, Given, OneOf, PlacedEntries, Row, Some, TextOr
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.kinds.state.entries import check_call
from pytest_fcbench.web.addresses import Refused, parse_url

_document_once = cache(python_code.document_function)
"""Documents a function of ours, whose doc never changes."""


class ComparedRow(Row):
    """A call, and the comparison of its result."""

    call: str
    """A call as Python text."""
    kind: Annotated[str, OneOf("kind", tuple(ResultRule))]


class ExecutableRow(EntryRow):
    """A question, and calls whose results answer it."""

    query: str
    """The user's request."""
    functions: list[str]
    """Names, of your own functions as module:function."""
    expect: Some[TextOr[ComparedRow]]
    """The calls whose results are right, as Python text."""


class ExecutableFile(Row):
    """Questions whose calls are carried out."""

    category: str
    entries: list[ExecutableRow]


def read_executables(rows: ExecutableFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        names = place.at("functions").elements()
        own_docs = {field.text(): _document_own(field) for field in names if ":" in field.text()}
        docs = {name: _document_once(function) for name, function in EVERYDAY.items()} | own_docs
        offered_docs = function_docs.choose_docs(row.functions, place.at("functions"), docs)
        for call, at in zip(row.expect, place.at("expect").elements(), strict=True):
            check_call(at if isinstance(call, str) else at.at("call"), offered_docs)
        calls = tuple(each if isinstance(each, str) else each.call for each in row.expect)
        rules = tuple(ResultRule.EXACT if isinstance(e, str) else ResultRule(e.kind) for e in row.expect)
        # The process that carries calls out imports own functions by name.
        truth = ExpectedResults(calls, rules, own=tuple(doc.name for doc in own_docs.values()))
        turns, functions = ((Message("user", row.query),),), tuple(offered_docs.values())
        yield place, Entry(suite, row.id, category, turns, functions, truth)


def _document_own(field: Field) -> FunctionDoc:
    """Return the doc of a team's own function, which is carried out in a process of its own."""
    name = field.text()
    try:
        function = python_code.find_object(name, field.path.parent.absolute())
        if not isinstance(function, FunctionType):
            raise UsageError(f"{name} is not a function; name one")
        return python_code.document_function(function, name.replace(":", "."))
    except UsageError as error:
        raise field.error(str(error)) from None


class PartRow(Row):
    """The values that a part of a request can have."""

    properties: dict[str, ParameterRow]
    required: list[str]


class EndpointRow(Row):
    """A request that a model may send to a web API."""

    name: str
    url: str
    about: str
    params: Given[PartRow] = None
    headers: Given[PartRow] = None


class RestRow(EntryRow):
    """A question, and the request that answers it."""

    query: str
    """The user's request."""
    endpoint: str
    expect: str
    """A call as Python text."""


class RestFile(Row):
    """Questions that web APIs answer."""

    category: str
    endpoints: list[EndpointRow]
    """Requests that a model may send to web APIs."""
    entries: list[RestRow]


_PARTS = {"params": "Parameters of the query.", "headers": "Headers of the request."}
_REDIRECTS = "Whether to go where a redirect leads."
_REST = {
    "timeout": {"type": "integer", "description": "How many seconds to wait for the answer."},
    "allow_redirects": {"type": "boolean", "description": _REDIRECTS, "default": True},
}


def read_rest_questions(rows: RestFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    docs: dict[str, FunctionDoc] = {}
    for endpoint, place in zip(rows.endpoints, file.at("endpoints").elements(), strict=True):
        properties: dict[str, Mapping[str, object]] = {
            "url": {"type": "string", "description": endpoint.about, "default": endpoint.url}
        }
        for name, part in (("params", endpoint.params), ("headers", endpoint.headers)):
            if part is not None:
                whole = ParameterRow(type="dict", properties=part.properties, required=part.required)
                function_docs.check_object(whole, place.at(name), TYPES[Language.PYTHON])
                member_docs = {key: field.value for key, field in place.at(name).members().items()}
                properties[name] = {"type": "dict", "description": _PARTS[name], **member_docs}
        parameters = {"type": "dict", "properties": {**properties, **_REST}, "required": ["url"]}
        docs[endpoint.name] = FunctionDoc(FUNCTION, "Sends a GET request.", parameters)
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        if row.endpoint not in docs:
            raise place.at("endpoint").error(describe_unknown_name("endpoint", row.endpoint, docs))
        doc, call_field = docs[row.endpoint], place.at("expect")
        check_call(call_field, {doc.name: doc})
        # Only our own services are sure to answer on every machine.
        try:
            host = parse_url(read_request(row.expect).url).host
        except (NoRequestError, Refused) as error:
            raise call_field.error(str(error)) from None
        if host not in SERVICES:
            raise call_field.error(describe_unknown_name("host", host, SERVICES))
        turns = ((Message("user", row.query),),)
        yield place, Entry(suite, row.id, category, turns, (doc,), ExpectedResponse(row.expect))


def read_entries(
    rows: ExecutableFile | RestFile, file: Field, suite: str, category: Category
) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    if isinstance(rows, ExecutableFile):
        return read_executables(rows, file, suite, category)
    return read_rest_questions(rows, file, suite, category)
