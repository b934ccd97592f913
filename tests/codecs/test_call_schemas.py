"""Calls are counted by what they keep of the schemas that the model was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.codecs.call_schemas import count_calls, has_schema
from pytest_fcbench.codecs.presenting import build_first_request
from pytest_fcbench.domain.function_doc import FunctionDoc, GivenSchema
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import CallCounts, Completion, Fault, Step, ToolCall
from pytest_fcbench.suites.registry import open_suite
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_multi_turn, make_transcript, tool_calls

WORDING = open_suite("core", Path()).wording
FULL = make_doc(
    "a.full",
    {
        "n": {"type": "integer"},
        "x": {"type": "float"},
        "word": {"type": "string", "enum": ["on", "off"]},
        "many": {"type": "tuple", "items": {"type": "dict", "properties": {"k": {"type": "boolean"}}}},
        "open": {"type": "any"},
    },
    required=("n",),
)
GIVEN = replace(
    make_doc("given", {"n": {"type": "integer"}}),
    given=GivenSchema({"properties": {"n": {"type": "integer", "minimum": 3}, "many": {"type": "array"}}}),
)


def count_one(name: str, arguments: object, *docs: FunctionDoc) -> tuple[int, int, int, int]:
    counts = count_calls(
        make_entry(functions=docs or [FULL]), make_transcript(tool_calls((name, arguments))), WORDING
    )
    assert (counts.calls, counts.first) == (1, 1)
    return counts.valid_json, counts.known, counts.complete, counts.valid


@each_case(
    ("arguments", "counts"),
    [
        ('{"n": 1}', (1, 1, 1, 1)),
        ({"n": 1}, (1, 1, 1, 1)),
        ('{"n": 1.0, "x": 2, "open": [1], "extra": 1}', (1, 1, 1, 1)),
        ('{"n": 1, "word": "on", "many": [{"k": true}, {}]}', (1, 1, 1, 1)),
        ('{"n": 1', (0, 1, 0, 0)),
        ("", (0, 1, 0, 0)),
        ("Infinity", (0, 1, 0, 0)),
        ('{"n": 1, "x": NaN}', (0, 1, 0, 0)),
        ("[1]", (1, 1, 0, 0)),
        ('{"x": 1}', (1, 1, 0, 0)),
        ('{"n": "1"}', (1, 1, 1, 0)),
        ('{"n": true}', (1, 1, 1, 0)),
        ('{"n": null}', (1, 1, 1, 0)),
        ('{"n": 1, "word": "up"}', (1, 1, 1, 0)),
        ('{"n": 1, "many": [{"k": 1}]}', (1, 1, 1, 0)),
        ('{"n": 1, "many": {}}', (1, 1, 1, 0)),
    ],
)
def test_a_call_is_checked_against_its_doc(arguments: object, counts: tuple[int, ...]) -> None:
    assert count_one("a_full", arguments) == counts


@each_case(("name", "known"), [("a_full", 1), ("a.full", 1), ("a-full", 0), ("", 0)])
def test_a_function_is_known_by_its_shown_and_its_own_name(name: str, known: int) -> None:
    assert count_one(name, '{"n": 1}') == (1, known, known, known)


@each_case(("arguments", "valid"), [({"n": 3}, 1), ({"n": 2}, 0), ({"many": (3,)}, 1), ({"many": "3"}, 0)])
def test_a_given_schema_holds_whole(arguments: object, valid: int) -> None:
    assert count_one("given", arguments, GIVEN) == (1, 1, 1, valid)


@each_case(
    ("text", "counts"),
    [
        ("[a.full(n=1, many=({'k': True},))]", CallCounts(1, 1, 1, 1, 1, 1)),
        ("[a.full(n=1), a.full(n='1')]", CallCounts(2, 2, 2, 2, 2, 1)),
        ("[a.full(n=1", CallCounts(1, 1, 0, 0, 0, 0)),
        ("None of them helps.", CallCounts(0, 0, 0, 0, 0, 0)),
    ],
)
def test_calls_in_a_text_are_counted_too(text: str, counts: CallCounts) -> None:
    assert count_calls(make_entry(functions=[FULL]), make_transcript(text), WORDING) == counts


def test_a_call_that_the_server_could_not_read_is_no_json() -> None:
    unread, failed = (
        make_transcript(replace(tool_calls(), fault=fault))
        for fault in (Fault.UNREADABLE_CALL, Fault.OVERFLOW)
    )
    assert count_calls(make_entry(), unread, WORDING) == CallCounts(1, 1, 0, 0, 0, 0)
    assert count_calls(make_entry(), failed, WORDING).calls == 0


def test_a_function_is_known_from_the_turn_on_that_offers_it() -> None:
    entry = make_multi_turn(("", []), ("", []), withheld={1: [FULL]})
    call = Step(Completion(tool_calls=(ToolCall("a_full", '{"n": 1}'),)))
    transcript = replace(make_transcript(tool_calls()), turns=((call,), (call,)))
    assert count_calls(entry, transcript, WORDING) == CallCounts(2, 1, 2, 1, 1, 1)


def test_a_java_value_is_source_text() -> None:
    doc = make_doc("f", {"n": {"type": "integer"}})
    for value, valid in (("5", 1), (5, 0)):
        transcript = make_transcript(tool_calls(("f", {"n": value})))
        assert count_calls(make_entry("simple_java", functions=[doc]), transcript, WORDING).valid == valid


@each_case(
    ("arguments", "is_valid"),
    [
        ({"n": 1, "many": [{"k": True}]}, True),
        ({"n": 1.0}, True),
        ({"n": "1"}, False),
        ({"x": 1}, False),
        ({"n": 1, "many": [{"k": 1}]}, False),
        ({"n": 1, "more": 1}, False),
        # The tool names the type of the parameter a string.
        ({"n": 1, "open": 1}, False),
        ({"n": 1, "open": "1"}, True),
    ],
)
def test_arguments_are_declared_by_a_tool(arguments: Mapping[str, object], is_valid: bool) -> None:
    (tool,) = build_first_request(
        make_entry(functions=[FULL]), WORDING, Prompting.make_default(Mode.FC)
    ).tools
    assert has_schema(arguments, as_mapping(as_mapping(tool["function"])["parameters"])) == is_valid
