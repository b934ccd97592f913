"""REST entries written by hand in YAML.

category: rest
endpoints:                 # what a model may ask, each described as ``requests.get``
  - name: tram_stops
    url: https://trams.varnholm.example/v1/stops   # of a host of ``executables.services``
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

from pytest_fcbench.domain.conformance import TYPES
from pytest_fcbench.domain.entry import Category, Entry, ExpectedResponse, Message
from pytest_fcbench.domain.errors import unknown
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.execution.rest.request import FUNCTION, NoRequestError, read
from pytest_fcbench.execution.rest.services import SERVICES
from pytest_fcbench.suites.formats import function_docs
from pytest_fcbench.suites.formats.fields import Field
from pytest_fcbench.suites.formats.multi_turn import check_call
from pytest_fcbench.web.addresses import Refused, checked

_PARTS = {"params": "Parameters of the query.", "headers": "Headers of the request."}
_REST = {
    "timeout": {"type": "integer", "description": "How many seconds to wait for the answer."},
    "allow_redirects": {
        "type": "boolean",
        "description": "Whether to go where a redirect leads.",
        "default": True,
    },
}


def entries(file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """The entries of a file and where each stands. Raises ``SuiteError``."""
    top = file.members(("category", "endpoints", "entries"))
    docs = dict(map(_endpoint, top["endpoints"].elements()))
    for field in top["entries"].elements():
        members = field.members(("id", "query", "endpoint", "expect"))
        name = members["endpoint"].text()
        if name not in docs:
            raise members["endpoint"].error(unknown("endpoint", name, docs))
        yield (
            field,
            Entry(
                suite=suite,
                id=members["id"].text(),
                category=category,
                turns=((Message("user", members["query"].text()),),),
                functions=(docs[name],),
                expectation=_expectation(members["expect"], docs[name]),
            ),
        )


def _endpoint(field: Field) -> tuple[str, FunctionDoc]:
    members = field.members(("name", "url", "about"), tuple(_PARTS))
    about = members["about"].text()
    properties: dict[str, Mapping[str, object]] = {
        "url": {"type": "string", "description": about, "default": members["url"].text()}
    }
    for part, description in _PARTS.items():
        if part in members:
            schema = members[part].members(("properties", "required"))
            function_docs.check_object(schema, TYPES[Language.PYTHON])
            raw = {key: member.value for key, member in schema.items()}
            properties[part] = {"type": "dict", "description": description, **raw}
    parameters = {"type": "dict", "properties": {**properties, **_REST}, "required": ["url"]}
    return members["name"].text(), FunctionDoc(FUNCTION, "Sends a GET request.", parameters)


def _expectation(field: Field, doc: FunctionDoc) -> ExpectedResponse:
    check_call(field, {doc.name: doc})
    try:
        host = checked(read(field.text()).url).host
    except (NoRequestError, Refused) as error:
        raise field.error(str(error)) from None
    if host not in SERVICES:
        raise field.error(unknown("host", host, SERVICES))
    return ExpectedResponse(field.text())
