"""Executable entries written by hand in YAML.

category: exec_parallel
entries:
  - id: exec_parallel_0
    query: How many litres for 300 km at 6 litres, and for 80 km at 9?
    functions: [fuel_needed]       # of ``execution.functions.everyday``, which have the docs
    expect:
      - fuel_needed(distance_km=300, litres_per_100_km=6)    # its result, exactly
      - {call: "fuel_needed(distance_km=80, litres_per_100_km=9)", kind: real_time_match}
  - id: exec_parallel_1
    query: What do two and three boxes weigh?
    functions: [shop:weight]       # of a module of your own, looked for beside the file first
    expect: [shop.weight(boxes=2), shop.weight(boxes=3)]
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import FunctionType
from typing import Annotated

from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.entry import Category, Entry, Message
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.execution.functions.everyday import EVERYDAY
from pytest_fcbench.formats import function_docs
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import EntryRow, OneOf, Row, Some, TextOr
from pytest_fcbench.kinds.execution.verdict import ExpectedResults, ResultRule
from pytest_fcbench.kinds.state.entries import check_call

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


def entries(
    rows: ExecutableFile, file: Field, suite: str, category: Category
) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        own_docs = {
            field.text(): _document_own(field)
            for field in place.at("functions").elements()
            if ":" in field.text()
        }
        docs = {name: _document_once(function) for name, function in EVERYDAY.items()} | own_docs
        offered_docs = function_docs.choose_docs(row.functions, place.at("functions"), docs)
        calls_and_rules = [
            (call, ResultRule.EXACT) if isinstance(call, str) else (call.call, ResultRule(call.kind))
            for call in row.expect
        ]
        for call, at in zip(row.expect, place.at("expect").elements(), strict=True):
            check_call(at if isinstance(call, str) else at.at("call"), offered_docs)
        entry = Entry(
            suite=suite,
            id=row.id,
            category=category,
            turns=((Message("user", row.query),),),
            functions=tuple(offered_docs.values()),
            expectation=ExpectedResults(
                calls=tuple(call for call, _ in calls_and_rules),
                kinds=tuple(kind for _, kind in calls_and_rules),
                # The process that carries calls out imports these by name.
                own=tuple(doc.name for doc in own_docs.values()),
            ),
        )
        yield place, entry


def _document_own(field: Field) -> FunctionDoc:
    """Return the doc of a team's own function, which is carried out in a process of its own."""
    name = field.text()
    dotted_name = name.replace(":", ".")
    try:
        function = python_code.find_object(name, field.path.parent.absolute())
        if not isinstance(function, FunctionType):
            raise UsageError(f"{name} is not a function; name one")
        doc = python_code.document_function(function, dotted_name)
    except UsageError as error:
        raise field.error(str(error)) from None
    return doc
