"""Entries of one question, written by hand in YAML: the calls that answer it are read, not carried out.

category: multiple
functions:                 # docs, offered by name, in any form of ``function_docs``
  - name: weather.forecast
    description: ...
    parameters: {type: dict, properties: {...}, required: [...]}
entries:
  - id: multiple_0
    query: ...             # or messages: [{role: ..., content: ...}]
    functions: [weather.forecast, weather.history]    # or a doc itself, in place of a name
    expect:                # not for irrelevance and relevance
      - weather.forecast:
          city: Bergen     # a value, or a list of accepted values
          unit: [celsius, ""]   # "" means it may be left out
      - weather.history(city="Bergen", days=3)    # or the call as Python writes it
    judged: {weather.forecast: [wish]}    # optional: free text, which a judge may compare
    cluster: forecast      # optional: what paraphrases of one template share
    parents: [core:simple_python_0]    # optional: what code made it from
    check: checks:is_polite    # optional: a function of your own that must accept the answer too
    forbidden: [weather.alarm]    # optional: functions that must not be called

In ``next_call`` and ``next_reply`` the messages are a conversation that has begun: a message of the assistant
can have calls, which the messages of the role ``tool`` that follow have the results of, in the same order:

    messages:
      - {role: user, content: ...}
      - {role: assistant, calls: [weather.forecast(city="Bergen")]}
      - {role: tool, content: "rain"}

Where words are the answer (``chatable``) there are neither functions nor an expectation; where a call is one
of SQL there are tables beside the functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import ConfigDict, model_validator
from pydantic import Field as FieldOf

from pytest_fcbench.codecs.decoders.odd_names import OddNames
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.python import parse_corrected
from pytest_fcbench.codecs.function_docs.json_schema import describe_call_violation, describe_schema_violation
from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.categories import Category
from pytest_fcbench.domain.conformance import TYPES, conforms_to_schema
from pytest_fcbench.domain.entry import Entry, Expectation, Message, PastCall
from pytest_fcbench.domain.errors import describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc, Language, Schema
from pytest_fcbench.formats import function_docs, tables
from pytest_fcbench.formats.fields import Field, read_each
from pytest_fcbench.formats.function_docs import AnyFunctionRow, OfferedByRow
from pytest_fcbench.formats.rows import (
    EntryRow,
    Given,
    One,
    OneOf,
    Row,
    Some,
    TextOr,
    make_rule_error,
)
from pytest_fcbench.formats.tables import DatabaseTableRow
from pytest_fcbench.kinds.calls.shape import SHAPES, CallShape
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls, choose_plain_value
from pytest_fcbench.kinds.own_check.entries import read_check
from pytest_fcbench.kinds.own_check.truth import AnyAnswer
from pytest_fcbench.kinds.relevance.truth import AnyCall, NoCall

_WITHOUT_FUNCTIONS = frozenset({"irrelevance", "next_reply", "chat", "own_check"})
"""Kinds whose entries need not offer a function."""


class MessageRow(Row):
    """A message ahead of the answer."""

    role: Annotated[str, OneOf("role", ("system", "user", "assistant"))]
    content: str


class PastMessageRow(Row):
    """A message of a conversation that has begun."""

    role: Annotated[str, OneOf("role", ("system", "user", "assistant", "tool"))]
    content: Given[str] = None
    """The text of the message, or the result of a call."""
    calls: Given[Some[TextOr[One[dict[str, object]]]]] = None
    """Calls of the assistant, each the function's name with its arguments, or as Python writes it."""

    @model_validator(mode="after")
    def _check_message(self) -> PastMessageRow:
        if self.calls and self.role != "assistant":
            raise make_rule_error(f"has calls, but only the assistant makes calls, not the {self.role}")
        if self.content is None and not self.calls:
            raise make_rule_error("has no 'content'")
        return self


class SourcedRow(EntryRow):
    """An entry that may come from a template or from other entries."""

    cluster: Given[str] = None
    """The name of the template or of the conversation that entries share."""
    parents: Given[list[str]] = None
    """Keys of the entries that it was made from."""
    check: Given[str] = None
    """A function of your own, as module:function, that must accept the answer too."""
    forbidden: Given[Some[str]] = None
    """Offered functions that must not be called."""


class AskedRow(SourcedRow):
    """A question."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["query"]}, {"required": ["messages"]}]}
    )

    query: Given[str] = None
    """The user's question."""
    messages: Given[Some[MessageRow]] = None
    """In place of a query: the messages so far."""

    @model_validator(mode="after")
    def _check_question(self) -> AskedRow:
        if (self.query is None) == (self.messages is None):
            raise make_rule_error("needs either 'query' or 'messages'")
        return self


class OfferedRow(AskedRow):
    """A question with functions, none of which has to be called in a certain way."""

    functions: list[TextOr[AnyFunctionRow]]
    """The functions that are offered: names, or docs."""


class ExpectingRow(OfferedRow):
    """A question with functions, and the calls that answer it."""

    expect: Some[TextOr[One[dict[str, object] | None]]]
    """The calls that are right, each the function's name with a value or a list of accepted values by
    parameter, or the call as Python writes it; "" among accepted values means that the parameter may be left
    out."""
    judged: Given[dict[str, list[str]]] = None
    """By function, the parameters with free text: a judge, if one is named, says whether another text means
    the same (corrected profile)."""


class NextReplyRow(SourcedRow):
    """A conversation that has begun, and the functions that are offered."""

    messages: Some[PastMessageRow]
    """The messages so far."""
    functions: list[TextOr[AnyFunctionRow]]
    """The functions that are offered: names, or docs."""


class NextCallRow(NextReplyRow):
    """A conversation that has begun, and the calls that come next."""

    expect: Some[TextOr[One[dict[str, object] | None]]]
    """The calls that are right, as in other categories."""
    judged: Given[dict[str, list[str]]] = None
    """By function, the parameters with free text, as in other categories."""


class CheckableFile(Row):
    """Entries that a function of your own may check."""

    check: Given[str] = None
    """A check of all entries that name none of their own."""


class ChatFile(CheckableFile):
    """Questions that words answer."""

    category: str
    entries: list[AskedRow]


class OfferedFile(CheckableFile):
    """Questions with functions that may or must not be called."""

    category: str
    entries: list[OfferedRow]
    functions: Given[list[AnyFunctionRow]] = None
    """Docs of functions, which entries offer by name."""
    server: Given[OfferedByRow] = None
    """The MCP server that the docs were read from."""


class ExpectingFile(CheckableFile):
    """Questions with the calls that answer them."""

    category: str
    entries: list[ExpectingRow]
    functions: Given[list[AnyFunctionRow]] = None
    """Docs of functions, which entries offer by name."""
    server: Given[OfferedByRow] = None
    """The MCP server that the docs were read from."""


class NextReplyFile(CheckableFile):
    """Conversations that go on with words."""

    category: str
    entries: list[NextReplyRow]
    functions: Given[list[AnyFunctionRow]] = None
    """Docs of functions, which entries offer by name."""
    server: Given[OfferedByRow] = None
    """The MCP server that the docs were read from."""


class NextCallFile(CheckableFile):
    """Conversations that go on with calls."""

    category: str
    entries: list[NextCallRow]
    functions: Given[list[AnyFunctionRow]] = None
    """Docs of functions, which entries offer by name."""
    server: Given[OfferedByRow] = None
    """The MCP server that the docs were read from."""


class OwnCheckRow(OfferedRow):
    """A question with functions; any answer is right that its check accepts."""

    functions: list[TextOr[AnyFunctionRow]] = FieldOf(default_factory=list)
    """The functions that are offered: names, or docs."""


class OwnCheckFile(CheckableFile):
    """Questions whose answers only your own checks judge."""

    category: str
    entries: list[OwnCheckRow]
    functions: Given[list[AnyFunctionRow]] = None
    """Docs of functions, which entries offer by name."""
    server: Given[OfferedByRow] = None
    """The MCP server that the docs were read from."""


class SqlFile(ExpectingFile):
    """Questions that statements of SQL answer."""

    tables: dict[str, DatabaseTableRow]
    """The tables that the statement acts on."""


def entries(
    row: ChatFile | OfferedFile | ExpectingFile | NextCallFile | NextReplyFile | OwnCheckFile,
    file: Field,
    suite: str,
    category: Category,
) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    types = TYPES[category.language]
    described = None if isinstance(row, ChatFile) else row.functions
    docs = function_docs.read_function_docs(described, file.at("functions"), types)
    database = tables.read_tables(row.tables, file.at("tables")) if isinstance(row, SqlFile) else ()
    rows: Sequence[AskedRow | NextReplyRow] = row.entries
    common_check = read_check(file.at("check"))
    for asked, place in zip(rows, file.at("entries").elements(), strict=True):
        # First what nothing else depends on, so that an error in the rest does not hide its own.
        check = read_check(place.at("check")) or common_check
        listed = asked.functions if isinstance(asked, (OfferedRow, NextReplyRow)) else []
        offered = function_docs.choose_docs(listed, place.at("functions"), docs, types) if listed else {}
        forbidden = asked.forbidden or ()
        if forbidden:
            function_docs.choose_docs(forbidden, place.at("forbidden"), offered)
        if not offered and category.kind not in _WITHOUT_FUNCTIONS:
            raise place.at("functions").error("needs a function")
        if category.kind == "own_check" and not (check or forbidden):
            raise place.at("check").error(
                "is missing; give 'check' or 'forbidden', which alone judge answers"
            )
        if isinstance(asked, NextReplyRow):
            said = list(_read_past_messages(asked.messages, place.at("messages"), offered))
        else:
            said = [Message(each.role, each.content) for each in asked.messages or ()]
            said = said or [Message("user", asked.query or "")]
        expectation: Expectation = AnyCall() if category.kind not in _WITHOUT_FUNCTIONS else NoCall()
        if category.kind == "own_check":
            expectation = AnyAnswer()
        if isinstance(asked, (ExpectingRow, NextCallRow)):
            at = place.at("expect")
            judged = _read_judged_parameters(asked.judged or {}, place.at("judged"), offered, category)
            # Of a call that YAML has split, all parts are wrong; the first says why.
            for call in at.elements():
                if isinstance(call.value, str):
                    call.call()
            read_call = partial(_read_expected_call, offered=offered, language=category.language)
            calls = read_each(read_call, asked.expect, at.elements())
            if not SHAPES.get(category.kind, CallShape()).parallel and len(calls) != 1:
                raise at.error(f"has {len(calls)} calls; entries of {category.name} have exactly one")
            expectation = ExpectedCalls(
                tuple(replace(call, judged=judged.get(call.name, ())) for call in calls)
            )
        yield (
            place,
            Entry(
                suite=suite,
                id=asked.id,
                category=category,
                turns=(tuple(said),),
                functions=tuple(offered.values()),
                expectation=expectation,
                tables=database,
                cluster=asked.cluster,
                parents=tuple(asked.parents or ()),
                check=check,
                forbidden=tuple(forbidden),
            ),
        )


def _read_past_messages(
    rows: Sequence[PastMessageRow], at: Field, offered: Mapping[str, FunctionDoc]
) -> Iterator[Message]:
    """Read the messages of a conversation that has begun. Raises ``SuiteError``."""
    missing = 0
    for row, place in zip(rows, at.elements(), strict=True):
        if (row.role == "tool") != (missing > 0):
            told = (
                f"must be one of {missing} results"
                if missing
                else "is a result, but every call has one already"
            )
            raise place.error(f"{told}; give one message of the role 'tool' for each call, behind the calls")
        missing += len(row.calls or ()) if row.role != "tool" else -1
        calls = []
        for call, each in zip(
            row.calls or (), place.at("calls").elements() if row.calls else (), strict=True
        ):
            name, arguments = (
                _read_call(call, each, offered) if isinstance(call, str) else next(iter(call.items()))
            )
            calls.append(PastCall(name, arguments))
        yield Message(row.role, row.content or "", tuple(calls))
    if missing:
        raise at.error(f"end before {missing} results; give one message of the role 'tool' for each call")
    if rows[-1].role not in ("user", "tool"):
        raise at.error(f"end with the {rows[-1].role}; the last message must be of the user or of a tool")


def _read_judged_parameters(
    given: Mapping[str, Sequence[str]], at: Field, offered: Mapping[str, FunctionDoc], category: Category
) -> Mapping[str, tuple[str, ...]]:
    """Read the parameters with free text by function. Raises ``SuiteError``."""
    # A judge of texts knows nothing of what a statement does.
    if given and category.kind == "sql":
        raise at.error(f"is not for {category.name}, whose statements are carried out; leave it out")
    for name, parameters in given.items():
        if name not in offered:
            raise at.error(describe_unknown_name("function", name, offered))
        known = offered[name].properties
        for number, parameter in enumerate(parameters):
            if parameter not in known:
                place = at.at(name, number)
                raise place.error(describe_unknown_name("parameter", parameter, known))
    return {name: tuple(parameters) for name, parameters in given.items()}


def _read_expected_call(
    call: str | Mapping[str, Mapping[str, object] | None],
    at: Field,
    offered: Mapping[str, FunctionDoc],
    language: Language,
) -> ExpectedCall:
    """Read a call that is right. Raises ``SuiteError``."""
    is_text = isinstance(call, str)
    name, given = _read_call(call, at, offered) if isinstance(call, str) else next(iter(call.items()))
    at_call = at if is_text else at.at(name)
    if name not in offered:
        raise at_call.error(describe_unknown_name("function", name, offered))
    doc = offered[name]

    def read_parameter(parameter: str, value: object) -> list[object]:
        options = at_call if is_text else at_call.at(parameter)
        if parameter not in doc.properties:
            raise options.error(describe_unknown_name("parameter", parameter, doc.properties))
        schema = doc.properties[parameter]
        # Members of a mapping have alternatives too, but not what is deeper: officially that has none.
        given_values = _wrap_value([value] if is_text else value, schema, language)
        listed = [_list_members(each, schema, language) for each in given_values]
        if not listed:
            raise options.error("must have at least one element")
        for option in replace(options, value=listed).elements():
            if doc.given is None:
                _check_accepted(option, schema, language)
            elif option.value != "" and (
                violated := describe_schema_violation(doc, parameter, choose_plain_value(option.value))
            ):
                raise options.error(f"is not what the schema of {parameter} allows: {violated}")
        return listed

    given = given or {}
    accepted = dict(zip(given, read_each(read_parameter, given, given.values()), strict=True))
    for parameter in doc.required:
        if parameter not in accepted:
            raise at_call.error(f"has no accepted values for the required parameter {parameter!r}")
    # What is said of several parameters together, such as which of them go with each other.
    first = {parameter: next((o for o in listed if o != ""), "") for parameter, listed in accepted.items()}
    arguments = {
        parameter: choose_plain_value(value)
        for parameter, value in first.items()
        if value != "" or parameter in doc.required
    }
    if violated := describe_call_violation(doc, arguments):
        raise at_call.error(f"is not what the schema of {name} allows: {violated}")
    return ExpectedCall(name, accepted)


def _read_call(text: str, at: Field, offered: Mapping[str, FunctionDoc]) -> tuple[str, Mapping[str, object]]:
    """Read a call as Python writes it. Raises ``SuiteError``."""
    at.call()
    try:
        calls = OddNames.find(offered.values(), offered).read_calls(text, parse_corrected)
    except Undecodable as error:
        raise at.error(f"{text!r} cannot be read as a call: {error}; write name(parameter=value)") from None
    if len(calls) != 1:
        raise at.error(f"{text!r} is {len(calls)} calls; write each as an element of its own")
    if calls[0].positional:
        raise at.error(f"{text!r} has an argument without a name; write name(parameter=value)")
    return calls[0].name, calls[0].arguments


def _list_members(value: object, schema: Schema, language: Language) -> object:
    if isinstance(value, list):
        return [_list_members(each, as_mapping(schema.get("items")), language) for each in value]
    if not isinstance(value, Mapping):
        return value
    known = as_mapping(schema.get("properties"))
    # An empty list is a value here: without alternatives a member could not be right.
    return {
        key: _wrap_value(each, as_mapping(known.get(key)), language) or [each] for key, each in value.items()
    }


def _wrap_value(given: object, schema: Schema, language: Language) -> list[object]:
    """Return a list of values as it is, and one value as a list of it.

    For a parameter that takes a list, a list whose elements are no lists is one value.
    """
    if not isinstance(given, list):
        return [given]
    takes_list = TYPES[language].get(str(schema.get("type"))) is list
    are_values = not takes_list or not given or any(isinstance(each, list) or each == "" for each in given)
    return given if are_values else [given]


def _check_accepted(field: Field, schema: Schema, language: Language) -> None:
    """Check that a value has the declared type; inside a dict, each key has a list of accepted values."""
    value, properties = field.value, schema.get("properties")
    # Stands for a parameter that may be left out, so it need not have the declared type.
    if value == "":
        return
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        for element in field.elements():
            _check_accepted(element, items, language)
    elif isinstance(value, Mapping) and TYPES[language].get(str(schema.get("type"))) is dict:
        for key, options in field.members().items():
            known = properties if isinstance(properties, Mapping) else {}
            if known and key not in known:
                raise options.error(describe_unknown_name("key", key, known))
            # Officially each key of a dict has alternatives of its own (``dict_checker``).
            listed = options.elements() if isinstance(options.value, list) else (options,)
            for option in listed:
                _check_accepted(option, known.get(key, {}), language)
    elif not conforms_to_schema(value, schema, language):
        allowed = schema.get("enum") or schema.get("type")
        raise field.error(f"{value!r} is not what the function doc declares ({allowed})")
