"""Questions, written by hand in YAML, that one answer follows: what the files of several kinds share.

category: irrelevance
functions:                 # docs, offered by name, in any form of ``function_docs``
  - name: weather.forecast
    description: ...
    parameters: {type: dict, properties: {...}, required: [...]}
check: checks:is_polite    # optional: a function of your own that must accept each answer too
entries:
  - id: irrelevance_0
    query: ...             # or messages: [{role: ..., content: ...}]
    functions: [weather.forecast, weather.history]    # or a doc itself, in place of a name
    cluster: forecast      # optional: what paraphrases of one template share
    parents: [core:simple_python_0]    # optional: what code made it from
    check: checks:is_polite    # optional, as for the file
    forbidden: [weather.alarm]    # optional: functions that must not be called

The messages may be a conversation that has begun: a message of the assistant can have calls, which the
messages of the role ``tool`` that follow have the results of, in the same order:

    messages:
      - {role: user, content: ...}
      - {role: assistant, calls: [weather.forecast(city="Bergen")]}
      - {role: tool, content: "rain"}

The kind of an entry adds what a right answer is, and reads it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Generic, TypeVar

from pydantic import ConfigDict, model_validator

from pytest_fcbench.codecs.decoders.python import parse_corrected
from pytest_fcbench.codecs.decoders.registry import OddNames
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.entry import Category, Entry, Expectation, Message, PastCall
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc
from pytest_fcbench.formats import function_docs
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.function_docs import AnyFunctionRow, OfferedByRow
from pytest_fcbench.formats.rows import EntryRow, Given, One, OneOf, Row, Some, TextOr, make_rule_error


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


class NextReplyRow(SourcedRow):
    """A conversation that has begun, and the functions that are offered."""

    messages: Some[PastMessageRow]
    """The messages so far."""
    functions: list[TextOr[AnyFunctionRow]]
    """The functions that are offered: names, or docs."""


R = TypeVar("R", bound=SourcedRow)


class CheckableFile(Row, Generic[R]):
    """Questions whose answers a function of your own may check."""

    check: Given[str] = None
    """A check of all entries that name none of their own."""
    category: str
    entries: list[R]


class OfferingFile(CheckableFile[R], Generic[R]):
    """Questions with functions."""

    functions: Given[list[AnyFunctionRow]] = None
    """Docs of functions, which entries offer by name."""
    server: Given[OfferedByRow] = None
    """The MCP server that the docs were read from."""


def read_questions(
    row: CheckableFile[R],
    file: Field,
    suite: str,
    category: Category,
    read_expectation: Callable[[R, Field, Mapping[str, FunctionDoc]], Expectation],
    *,
    needs_function: bool = True,
) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file with their places. Raises ``SuiteError``.

    ``read_expectation`` takes an entry of the file, its place and the functions that it offers by name.
    """
    types = TYPES[category.language]
    doc_rows = row.functions if isinstance(row, OfferingFile) else None
    docs = function_docs.read_function_docs(doc_rows, file.at("functions"), types)
    file_check = read_check(file.at("check"))
    for question, place in zip(row.entries, file.at("entries").elements(), strict=True):
        # The check first: nothing else depends on it, and an error in the rest must not hide its own.
        check = read_check(place.at("check")) or file_check
        rows = question.functions if isinstance(question, (OfferedRow, NextReplyRow)) else []
        functions = function_docs.choose_docs(rows, place.at("functions"), docs, types) if rows else {}
        if question.forbidden:
            function_docs.choose_docs(question.forbidden, place.at("forbidden"), functions)
        if needs_function and not functions:
            raise place.at("functions").error("needs a function")
        if isinstance(question, NextReplyRow):
            messages = list(_read_past_messages(question.messages, place.at("messages"), functions))
        else:
            assert isinstance(question, AskedRow)
            messages = [Message(each.role, each.content) for each in question.messages or ()]
            messages = messages or [Message("user", question.query or "")]
        yield (
            place,
            Entry(
                suite=suite,
                id=question.id,
                category=category,
                turns=(tuple(messages),),
                functions=tuple(functions.values()),
                expectation=read_expectation(question, place, functions),
                cluster=question.cluster,
                parents=tuple(question.parents or ()),
                check=check,
                forbidden=tuple(question.forbidden or ()),
            ),
        )


def _read_past_messages(
    rows: Sequence[PastMessageRow], at: Field, functions: Mapping[str, FunctionDoc]
) -> Iterator[Message]:
    """Read the messages of a conversation that has begun. Raises ``SuiteError``."""
    missing = 0
    for row, place in zip(rows, at.elements(), strict=True):
        if (row.role == "tool") != (missing > 0):
            surplus = "is a result, but every call has one already"
            rule = f"must be one of {missing} results" if missing else surplus
            raise place.error(f"{rule}; give one message of the role 'tool' for each call, behind the calls")
        missing += len(row.calls or ()) if row.role != "tool" else -1
        places = place.at("calls").elements() if row.calls else ()
        calls = [
            read_call(call, at_call, functions) if isinstance(call, str) else next(iter(call.items()))
            for call, at_call in zip(row.calls or (), places, strict=True)
        ]
        yield Message(row.role, row.content or "", tuple(PastCall(*call) for call in calls))
    if missing:
        raise at.error(f"end before {missing} results; give one message of the role 'tool' for each call")
    if rows[-1].role not in ("user", "tool"):
        raise at.error(f"end with the {rows[-1].role}; the last message must be of the user or of a tool")


def read_call(text: str, at: Field, functions: Mapping[str, FunctionDoc]) -> tuple[str, Mapping[str, object]]:
    """Read a call as Python writes it. Raises ``SuiteError``."""
    at.call()
    try:
        calls = OddNames.find(functions.values(), functions).read_calls(text, parse_corrected)
    except Undecodable as error:
        raise at.error(f"{text!r} cannot be read as a call: {error}; write name(parameter=value)") from None
    if len(calls) != 1:
        raise at.error(f"{text!r} is {len(calls)} calls; write each as an element of its own")
    if calls[0].positional:
        raise at.error(f"{text!r} has an argument without a name; write name(parameter=value)")
    return calls[0].name, calls[0].arguments


_PARAMETERS = ("entry", "answer")


def read_check(field: Field) -> Callable[..., object] | None:
    """Import the check that a field names; None where it names none. Raises ``SuiteError``."""
    if field.value is None:
        return None
    # Imported here, because few suites have checks.
    from pytest_fcbench.codecs.function_docs import python_code

    name = field.text().replace(".py:", ":").removeprefix("./").replace("/", ".")
    if ":" not in name:
        raise field.error(f"{name!r} names no function; write module:function, e.g. checks:is_polite")
    try:
        check = python_code.find_object(name, field.path.parent.absolute())
    except UsageError as error:
        raise field.error(str(error)) from None
    if not callable(check) or isinstance(check, type):
        raise field.error(f"{name} is not a function; name one that takes 'answer'")
    if inspect.iscoroutinefunction(check):
        raise field.error(f"{name} is asynchronous; write it as a plain function, with asyncio.run inside")
    try:
        signature = inspect.signature(check)
        parameters = [each for each in _PARAMETERS if each in signature.parameters]
        signature.bind(**dict.fromkeys(parameters))
    except (TypeError, ValueError):
        parameters = []
    if not parameters:
        raise field.error(
            f"{name} cannot be called as {name}(answer=...); name its parameters 'answer' and, if needed, "
            "'entry', and give any other a default"
        )
    return check
