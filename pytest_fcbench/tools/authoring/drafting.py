"""First entries of a suite, from examples in a text: a question, and below it the calls that answer it.

    What do three bags of salt cost?
    >>> price(item="salt", count=3)
    4.5

The question is the line above; what follows the call is not read. Several calls below one question are all
needed. A README or a docstring may hold such lines among others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.conformance import conforms_to_schema
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls, list_alternatives

_PROMPT = ">>>"
_ORNAMENT = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+|^[\s\"'`*_]+|[\s\"'`*_]+$")
"""List marks, quotes and emphasis around a question."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the text of the calls that answer it, each with its place (``file:line``)."""

    question: str
    calls: tuple[tuple[str, str], ...]


def find_examples(text: str, where: str) -> Iterator[Example]:
    """Yield all examples of a text, in its order; calls without a question above them are skipped."""
    question, calls = "", list[tuple[str, str]]()
    for number, line in enumerate((*text.splitlines(), ""), 1):
        if (call := line.strip()).startswith(_PROMPT):
            calls.append((f"{where}:{number}", call.removeprefix(_PROMPT).strip()))
            continue
        if question and calls:
            yield Example(question, tuple(calls))
        if calls:
            question, calls = "", []
        # Twice, because a list mark can stand before quotes.
        plain = _ORNAMENT.sub("", _ORNAMENT.sub("", line))
        if re.search(r"\w{2}", plain):
            question = plain


def draft_entries(examples: Iterable[Example], docs: Sequence[FunctionDoc], suite: str) -> Iterator[Entry]:
    """Draft an entry for each example, with the functions that it needs; ``augmentation`` can add others.

    Other code, such as an import, is skipped. Raises ``UsageError`` with the place of a call that does not
    fit the docs.
    """
    questions = (
        DraftedQuestion(
            example.question,
            tuple(call for place, text in example.calls for call in _read_calls(place, text, docs)),
        )
        for example in examples
    )
    return draft_questions((question for question in questions if question.calls), suite)


@dataclass(frozen=True, slots=True)
class DraftedQuestion:
    """A question, and the calls that answer it, each with the doc of its function."""

    text: str
    calls: tuple[tuple[Call, FunctionDoc], ...]


def draft_questions(questions: Iterable[DraftedQuestion], suite: str) -> Iterator[Entry]:
    """Draft an entry for each question, numbered within its category."""
    numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
    for question in questions:
        offered_docs = {doc.name: doc for _, doc in question.calls}
        expected_calls = []
        for call, doc in question.calls:
            # Of parameters that are not given, the default or leaving them out is accepted.
            accepted_values: dict[str, object] = {}
            for name, schema in doc.properties.items():
                if name in call.arguments:
                    accepted_values[name] = [list_alternatives(call.arguments[name])]
                elif "default" in schema:
                    accepted_values[name] = [schema["default"], ""]
            expected_calls.append(ExpectedCall(call.name, accepted_values))
        several = "parallel" if len(offered_docs) == 1 else "parallel_multiple"
        category = "simple_python" if len(question.calls) == 1 else several
        yield Entry(
            suite=suite,
            id=f"{category}_{next(numbers[category])}",
            category=CATEGORIES[category],
            turns=((Message("user", question.text),),),
            functions=tuple(offered_docs.values()),
            expectation=ExpectedCalls(tuple(expected_calls)),
        )


def _read_calls(place: str, text: str, docs: Sequence[FunctionDoc]) -> Iterator[tuple[Call, FunctionDoc]]:
    """Yield the calls of a line, positional arguments under their names; none where the line has none."""
    try:
        calls = python.parse_corrected(text)
    # A line such as an import is not a call, but no mistake either.
    except Undecodable:
        return
    # Reversed, so that the first of several functions with one name is taken.
    by_name = {_drop_module(doc.name): doc for doc in reversed(docs)}
    for call in calls:
        name = _drop_module(call.name)
        if name not in by_name:
            known_names = [_drop_module(doc.name) for doc in docs]
            raise UsageError(f"{place}: {describe_unknown_name('function', name, known_names)}")
        doc = by_name[name]
        normalised_call = OfferedFunctions((doc,), Names.DOTTED).normalise_call(replace(call, name=doc.name))
        where = f"{place}: {doc.name}"
        if normalised_call.positional:
            raise UsageError(
                f"{where} gets a parameter twice, or too many parameters; give each parameter once"
            )
        for parameter, value in normalised_call.arguments.items():
            if parameter not in doc.properties:
                raise UsageError(f"{where}: {describe_unknown_name('parameter', parameter, doc.properties)}")
            schema = doc.properties[parameter]
            if not conforms_to_schema(value, schema):
                declaration = schema.get("enum") or schema.get("type")
                raise UsageError(
                    f"{where}: {parameter} is {value!r:.60}, but the function doc declares {declaration}; "
                    "correct one of them"
                )
        for parameter in doc.required:
            if parameter not in normalised_call.arguments:
                raise UsageError(f"{where} needs the parameter {parameter!r}")
        yield normalised_call, doc


def _drop_module(name: str) -> str:
    return name.rpartition(".")[2]
