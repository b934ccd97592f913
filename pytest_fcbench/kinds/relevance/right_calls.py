"""A right call where any will do."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.transcript import Call


def make_call(doc: FunctionDoc) -> Call:
    """Return a call that fills the required parameters with values of the declared types."""
    return Call(doc.name, {name: _make_value(doc.properties[name]) for name in doc.required})


def _make_value(schema: Schema) -> object:
    options = schema.get("enum")
    # The enum of a list is meant for its elements, as in ``conforms_to_schema``.
    if isinstance(options, list) and options and schema.get("type") not in ("array", "tuple"):
        return options[0]
    values: Mapping[str, object] = {
        "integer": 1,
        "float": 1.0,
        "number": 1,
        "boolean": True,
        "array": [],
        "tuple": [],
        "dict": {},
        "object": {},
    }
    return values.get(str(schema.get("type")), "text")
