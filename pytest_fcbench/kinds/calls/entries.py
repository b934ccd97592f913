"""Entries of one question, written by hand in YAML: the calls that answer it are read, not carried out.

To what all questions have (``formats.questions``) comes:

category: multiple
entries:
  - id: multiple_0
    ...
    expect:
      - weather.forecast:
          city: Bergen     # a value, or a list of accepted values
          unit: [celsius, ""]   # "" means it may be left out
      - weather.history(city="Bergen", days=3)    # or the call as Python writes it
    judged: {weather.forecast: [wish]}    # optional: free text, which a judge may compare

In ``next_call`` the messages are a conversation that has begun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pytest_fcbench.codecs.function_docs.json_schema import describe_call_violation, describe_schema_violation
from pytest_fcbench.domain.entry import Category
from pytest_fcbench.domain.errors import describe_unknown_name
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc, Language, Schema, conforms_to_schema
from pytest_fcbench.domain.text import as_mapping, copy_into_lists
from pytest_fcbench.formats.fields import Field, read_each
from pytest_fcbench.formats.questions import NextReplyRow, OfferedRow, OfferingFile, read_call, read_questions
from pytest_fcbench.formats.rows import Given, One, PlacedEntries, Some, TextOr
from pytest_fcbench.kinds.calls.truth import PARALLEL, ExpectedCall, ExpectedCalls, choose_plain_value


class ExpectingRow(OfferedRow):
    """A question with functions, and the calls that answer it."""

    expect: Some[TextOr[One[dict[str, object] | None]]]
    """The calls that are right, each the function's name with a value or a list of accepted values by
    parameter, or the call as Python writes it; "" among accepted values means that the parameter may be left
    out."""
    judged: Given[dict[str, list[str]]] = None
    """By function, the parameters with free text: a judge, if one is named, says whether another text means
    the same (corrected profile)."""


class NextCallRow(NextReplyRow):
    """A conversation that has begun, and the calls that come next."""

    expect: Some[TextOr[One[dict[str, object] | None]]]
    """The calls that are right, as in other categories."""
    judged: Given[dict[str, list[str]]] = None
    """By function, the parameters with free text, as in other categories."""


class ExpectingFile(OfferingFile[ExpectingRow]):
    """Questions with the calls that answer them."""


class NextCallFile(OfferingFile[NextCallRow]):
    """Conversations that go on with calls."""


def read_entries(
    row: OfferingFile[ExpectingRow | NextCallRow], file: Field, suite: str, category: Category
) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    return read_questions(row, file, suite, category, partial(read_expected_calls, category))


def read_expected_calls(
    category: Category, row: ExpectingRow | NextCallRow, place: Field, functions: Mapping[str, FunctionDoc]
) -> ExpectedCalls:
    """Read the calls that are right. Raises ``SuiteError``."""
    at = place.at("expect")
    free_texts = _read_judged_parameters(row.judged or {}, place.at("judged"), functions)
    # Of a call that YAML has split, all parts are wrong; the first says why.
    for field in at.elements():
        if isinstance(field.value, str):
            field.call()
    read_one = partial(_read_expected_call, functions=functions, language=category.language)
    calls = read_each(read_one, row.expect, at.elements())
    if category.kind not in PARALLEL and len(calls) != 1:
        raise at.error(f"has {len(calls)} calls; entries of {category.name} have exactly one")
    return ExpectedCalls(tuple(replace(call, judged=free_texts.get(call.name, ())) for call in calls))


def _read_judged_parameters(
    rows: Mapping[str, Sequence[str]], at: Field, functions: Mapping[str, FunctionDoc]
) -> Mapping[str, tuple[str, ...]]:
    """Read the parameters with free text by function. Raises ``SuiteError``."""
    for name, parameters in rows.items():
        if name not in functions:
            raise at.error(describe_unknown_name("function", name, functions))
        doc_parameters = functions[name].properties
        for number, parameter in enumerate(parameters):
            if parameter not in doc_parameters:
                place = at.at(name, number)
                raise place.error(describe_unknown_name("parameter", parameter, doc_parameters))
    return {name: tuple(parameters) for name, parameters in rows.items()}


def _read_expected_call(
    call: str | Mapping[str, Mapping[str, object] | None],
    at: Field,
    functions: Mapping[str, FunctionDoc],
    language: Language,
) -> ExpectedCall:
    """Read a call that is right. Raises ``SuiteError``."""
    is_text = isinstance(call, str)
    name, values = read_call(call, at, functions) if isinstance(call, str) else next(iter(call.items()))
    at_call = at if is_text else at.at(name)
    if name not in functions:
        raise at_call.error(describe_unknown_name("function", name, functions))
    doc = functions[name]

    def read_parameter(parameter: str, value: object) -> list[object]:
        place = at_call if is_text else at_call.at(parameter)
        if parameter not in doc.properties:
            raise place.error(describe_unknown_name("parameter", parameter, doc.properties))
        schema = doc.properties[parameter]
        # Members of a mapping have alternatives too, but not what is deeper: officially that has none.
        alternatives = [copy_into_lists(value)] if is_text else _wrap_value(value, schema, language)
        options = [_list_members(each, schema, language, is_literal=is_text) for each in alternatives]
        if not options:
            raise place.error("must have at least one element")
        for option in replace(place, value=options).elements():
            if doc.given is None:
                _check_accepted(option, schema, language)
            elif option.value != "" and (
                violation := describe_schema_violation(doc, parameter, choose_plain_value(option.value))
            ):
                raise place.error(f"is not what the schema of {parameter} allows: {violation}")
        return options

    values = values or {}
    options_by_name = dict(zip(values, read_each(read_parameter, values, values.values()), strict=True))
    for parameter in doc.required:
        if parameter not in options_by_name:
            raise at_call.error(f"has no accepted values for the required parameter {parameter!r}")
    # The schema can also limit several parameters together, such as which of them go with each other.
    firsts = {
        name: next((each for each in lists if each != ""), "") for name, lists in options_by_name.items()
    }
    arguments = {
        parameter: choose_plain_value(value)
        for parameter, value in firsts.items()
        if value != "" or parameter in doc.required
    }
    if violation := describe_call_violation(doc, arguments):
        raise at_call.error(f"is not what the schema of {name} allows: {violation}")
    return ExpectedCall(name, options_by_name)


def _list_members(value: object, schema: Schema, language: Language, *, is_literal: bool) -> object:
    if isinstance(value, list):
        items = as_mapping(schema.get("items"))
        return [_list_members(each, items, language, is_literal=is_literal) for each in value]
    if not isinstance(value, Mapping):
        return value
    properties = as_mapping(schema.get("properties"))
    # An empty list is a value here: without alternatives a member could not be right.
    return {
        key: [each] if is_literal else _wrap_value(each, as_mapping(properties.get(key)), language) or [each]
        for key, each in value.items()
    }


def _wrap_value(value: object, schema: Schema, language: Language) -> list[object]:
    """Return a list of values as it is, and one value as a list of it.

    For a parameter that takes a list, a list whose elements are no lists is one value.
    """
    if not isinstance(value, list):
        return [value]
    takes_list = TYPES[language].get(str(schema.get("type"))) is list
    are_values = not takes_list or not value or any(isinstance(each, list) or each == "" for each in value)
    return value if are_values else [value]


def _check_accepted(field: Field, schema: Schema, language: Language) -> None:
    """Check that a value has the declared type; inside a dict, each key has a list of accepted values."""
    value, members = field.value, as_mapping(schema.get("properties"))
    # Stands for a parameter that may be left out, so it need not have the declared type.
    if value == "":
        return
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        for element in field.elements():
            _check_accepted(element, items, language)
    elif isinstance(value, Mapping) and TYPES[language].get(str(schema.get("type"))) is dict:
        for key, place in field.members().items():
            if members and key not in members:
                raise place.error(describe_unknown_name("key", key, members))
            member = as_mapping(members.get(key))
            # Officially each key of a dict has alternatives of its own (``dict_checker``), but no deeper one.
            has_options = _wrap_value(place.value, member, language) is place.value
            for option in place.elements() if has_options else (place,):
                _check_accepted(option, member, language)
    elif not conforms_to_schema(value, schema, language):
        expected_type = schema.get("enum") or schema.get("type")
        raise field.error(f"{value!r} is not what the function doc declares ({expected_type})")
