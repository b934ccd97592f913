"""REST entries written by hand in YAML.

category: rest
endpoints:                 # what a model may ask, each described as ``requests.get``
  - name: tram_stops
    url: https://trams.varnholm.example/v1/stops   # of a host of ``execution.rest.services``
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

from collections.abc import Iterator, Mapping

from pytest_fcbench.domain.entry import Category, Entry, Message
from pytest_fcbench.domain.errors import describe_unknown_name
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc, Language
from pytest_fcbench.execution.rest.apis import FUNCTION, NoRequestError, read_request
from pytest_fcbench.execution.rest.services import SERVICES
from pytest_fcbench.formats import function_docs
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.function_docs import ParameterRow
from pytest_fcbench.formats.rows import EntryRow, Given, Row
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse
from pytest_fcbench.kinds.state.entries import check_call
from pytest_fcbench.web.addresses import Refused, parse_url


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
_REST = {
    "timeout": {"type": "integer", "description": "How many seconds to wait for the answer."},
    "allow_redirects": {
        "type": "boolean",
        "description": "Whether to go where a redirect leads.",
        "default": True,
    },
}


def entries(rows: RestFile, file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    docs: dict[str, FunctionDoc] = {}
    for endpoint, place in zip(rows.endpoints, file.at("endpoints").elements(), strict=True):
        properties: dict[str, Mapping[str, object]] = {
            "url": {"type": "string", "description": endpoint.about, "default": endpoint.url}
        }
        for name, part in (("params", endpoint.params), ("headers", endpoint.headers)):
            if part is not None:
                function_docs.check_object(part, place.at(name), TYPES[Language.PYTHON])
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
        entry = Entry(
            suite=suite,
            id=row.id,
            category=category,
            turns=((Message("user", row.query),),),
            functions=(doc,),
            expectation=ExpectedResponse(row.expect),
        )
        yield place, entry
