"""The corrected AST verdict: the official rules with their quirks repaired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.syntax import Calls, Prose, Unreadable
from pytest_fcbench.codecs.function_docs.json_schema import describe_function
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Passed, Verdict
from pytest_fcbench.kinds.calls import verdict as corrected
from pytest_fcbench.kinds.calls.truth import values_agree
from tests.cases import each_case
from tests.factories import make_doc, make_entry

SIMPLE = "simple_function_checker"


def judge_calls(entry: Entry, *calls: Call) -> Verdict:
    """Judge an answer of these calls."""
    return corrected.match_calls(entry, Calls(calls))


def read_code(verdict: Verdict) -> str | None:
    """Return the code of a failure, None for a pass."""
    assert isinstance(verdict, Passed | Failed)
    return verdict.code if isinstance(verdict, Failed) else None


def judge_value(
    schema: Mapping[str, object], accepted: object, value: object, category: str = "simple_python"
) -> Verdict:
    """Judge one call of ``f`` with one argument ``x``."""
    entry = make_entry(category, functions=[make_doc("f", {"x": schema})], expect=[{"f": {"x": accepted}}])
    return judge_calls(entry, Call("f", {"x": value}))


def make_schema(kind: str, element: str | None = None) -> Mapping[str, object]:
    """Make a schema of a type, with elements of a type."""
    return {"type": kind} if element is None else {"type": kind, "items": {"type": element}}


# Values of Python calls

STRING, INTEGER, FLOAT, BOOLEAN, DICT = map(make_schema, ("string", "integer", "float", "boolean", "dict"))
INTEGERS, FLOATS, STRINGS = (
    make_schema("array", "integer"),
    make_schema("array", "float"),
    make_schema("array", "string"),
)
LISTS, DICTS = make_schema("array", "array"), make_schema("array", "dict")

VALUES = {
    # id: (schema, accepted, value, code or None)
    "string": (STRING, ["New York"], "new-york", None),
    "string, another": (STRING, ["New York"], "York", "value_error:string"),
    "string, decomposed": (STRING, ["Köln"], "Ko\u0308ln", None),
    "string, curly quote and another hyphen": (STRING, ["it's a+b-c"], "it’s a+b\u2011c", None),
    "string, another letter": (STRING, ["Köln"], "Koln", "value_error:string"),
    "dict, decomposed key and value": (DICT, [{"ö": ["ö"]}], {"o\u0308": "o\u0308"}, None),
    "string, number": (STRING, ["5"], 5, "type_error:simple"),
    "string, empty for an optional": (STRING, ["a", ""], "", "value_error:string"),
    "string, dot for an optional": (STRING, ["a", ""], " .", "value_error:string"),
    "string, empty where only that is accepted": (STRING, [""], "", None),
    "string, other where only empty is accepted": (STRING, [""], "a", "value_error:string"),
    "string, empty as the default": ({"type": "string", "default": ""}, ["a", ""], "", None),
    "integer": (INTEGER, [5], 5, None),
    "integer, another": (INTEGER, [5], 6, "value_error:number"),
    "integer, whole float": (INTEGER, [5], 5.0, None),
    "integer, other float": (INTEGER, [5], 5.5, "value_error:number"),
    "integer, True": (INTEGER, [1], True, "type_error:simple"),
    "integer, text": (INTEGER, [5], "5", "type_error:simple"),
    "integer, None": (INTEGER, [5], None, "type_error:simple"),
    "integer, empty text for an optional": (INTEGER, [5, ""], "", "type_error:simple"),
    "integer, variable": (INTEGER, ["limit"], "limit", None),
    "integer, variable in another case": (INTEGER, ["max_limit"], "MaxLimit", None),
    "integer, other variable": (INTEGER, ["limit"], "bound", "value_error:string"),
    "integer, variable second": (INTEGER, [5, "limit"], "limit", None),
    "float": (FLOAT, [5.0], 5.0, None),
    "float, integer": (FLOAT, [5.0], 5, None),
    "float, huge integer": (FLOAT, [5.0], 10**400, "value_error:number"),
    "float, True": (FLOAT, [1.0], True, "type_error:simple"),
    "boolean": (BOOLEAN, [True], True, None),
    "boolean, the other": (BOOLEAN, [True], False, "value_error:boolean"),
    "boolean, number": (BOOLEAN, [True], 1, "type_error:simple"),
    "boolean, text": (BOOLEAN, [True], "true", "type_error:simple"),
    "None, accepted": (STRING, ["a", None], None, None),
    "None, not accepted": (STRING, ["a"], None, "type_error:simple"),
    "list": (INTEGERS, [[1, 2]], [1, 2], None),
    "list, other order": (INTEGERS, [[1, 2]], [2, 1], "value_error:list"),
    "list, shorter": (INTEGERS, [[1, 2]], [1], "value_error:list"),
    "list, tuple": (INTEGERS, [[1, 2]], (1, 2), None),
    "list, floats for integers": (INTEGERS, [[1, 2]], [1.0, 2.0], None),
    "list, integers for floats": (FLOATS, [[1.0, 2.0]], [1, 2], None),
    "list, True for integer": (INTEGERS, [[1]], [True], "value_error:list"),
    "list, texts for integers": (INTEGERS, ["", [1, 2]], ["1", "2"], "value_error:list"),
    "list, texts": (STRINGS, [["New York"]], ["new-york"], None),
    "list, text": (INTEGERS, [[1, 2]], "[1, 2]", "type_error:simple"),
    "list, empty for an optional": (INTEGERS, [[1], ""], [], "value_error:list"),
    "list, empty where only that is accepted": (INTEGERS, [[]], [], None),
    "list, empty where only left out is accepted": (INTEGERS, [""], [], "type_error:simple"),
    "list of lists, integers for floats": (LISTS, [[[1.0]]], [[1]], None),
    "list of lists, texts": (LISTS, [[["New York"]]], [("new york",)], None),
    "list of lists, True for 1": (LISTS, [[[1]]], [[True]], "value_error:list"),
    "tuple": (make_schema("tuple", "integer"), [[1, 2]], (1, 2), None),
    "tuple, accepted as tuple": (make_schema("tuple", "integer"), [(1, 2)], [1, 2], None),
    "dict": (DICT, [{"a": [1, 2], "b": ["x y"]}], {"a": 2.0, "b": "X-Y"}, None),
    "dict, wrong value": (DICT, [{"a": ["x"]}], {"a": "y"}, "value_error:dict"),
    "dict, further key": (DICT, [{"a": ["x"]}], {"a": "x", "b": 1}, "value_error:dict"),
    "dict, missing key": (DICT, [{"a": ["x"], "b": [1]}], {"a": "x"}, "value_error:dict"),
    "dict, optional key left out": (DICT, [{"a": ["x"], "b": [1, ""]}], {"a": "x"}, None),
    "dict, True for 1": (DICT, [{"a": [1]}], {"a": True}, "value_error:dict"),
    "dict, second option": (DICT, [{"a": [1]}, {"b": [2]}], {"b": 2}, None),
    "dict, list of alternatives": (DICT, [{"a": [["x"], ["y"]]}], {"a": ["Y"]}, None),
    "dict, list as it is": (DICT, [{"a": ["x", "y"]}], {"a": ["X", "Y"]}, None),
    "dict, tuple in it": (DICT, [{"a": [[1]]}], {"a": (1,)}, None),
    "dict, text instead of a list": (DICT, [{"a": "xyz"}], {"a": "XYZ"}, None),
    "dict, letter of a text": (DICT, [{"a": "xyz"}], {"a": "y"}, "value_error:dict"),
    "dict, text instead of a list, left out": (DICT, [{"a": "xyz"}], {}, "value_error:dict"),
    "dict, empty text instead of a list, left out": (DICT, [{"a": ""}], {}, None),
    "dict, nested with alternatives": (DICT, [{"a": [{"b": [1, 2]}]}], {"a": {"b": 2}}, None),
    "dict, nested without a list": (DICT, [{"a": {"b": [1]}}], {"a": {"b": 1}}, None),
    "dict, nested, wrong": (DICT, [{"a": {"b": [1]}}], {"a": {"b": 2}}, "value_error:dict"),
    "dict, list": (DICT, [{"a": [1]}], [["a", 1]], "type_error:simple"),
    "list of dicts": (DICTS, [[{"a": [1, 2]}, {"b": ["x"]}]], [{"a": 2}, {"b": "X"}], None),
    "list of dicts, other order": (
        DICTS,
        [[{"a": [1]}, {"a": [2]}]],
        [{"a": 2}, {"a": 1}],
        "value_error:list",
    ),
    "value outside a list": (INTEGER, 5, 5, None),
    "text outside a list": (STRING, "abc", "ABC", None),
    "letter of a text outside a list": (STRING, "abc", "b", "value_error:string"),
    "number for a text outside a list": (INTEGER, "abc", 5, "type_error:simple"),
}


@each_case(("schema", "accepted", "value", "expected"), VALUES.values(), ids=VALUES)
def test_a_value_has_the_corrected_verdict(
    schema: Mapping[str, object], accepted: object, value: object, expected: str | None
) -> None:
    assert read_code(judge_value(schema, accepted, value)) == expected


@pytest.mark.parametrize("value", ["", " ."])
def test_an_empty_text_does_not_pass_for_an_optional_key(value: str) -> None:
    """As for an optional parameter: a key that may be left out still wants a value when it is there."""
    assert read_code(judge_value(DICT, [{"a": ["x", ""]}], {"a": value})) == "value_error:dict"


@pytest.mark.parametrize("schema", [INTEGER, STRING], ids=["integer", "string"])
def test_a_value_that_cannot_be_written_is_just_wrong(schema: Mapping[str, object]) -> None:
    assert read_code(judge_value(schema, [5], 10**5_000)) == "value_error:number"


def test_the_reason_names_function_parameter_and_values() -> None:
    verdict = judge_value(INTEGER, [5, 6, ""], 7)
    assert isinstance(verdict, Failed)
    assert verdict.reason == "f: x is 7, accepted: [5, 6]"
    assert verdict.details == {"function": "f", "parameter": "x", "found": "7", "accepted": "[5, 6]"}


# Values of Java and JavaScript calls

SOURCES = {
    # id: (category, schema, accepted, source, code or None)
    "java integer": ("simple_java", INTEGER, [5], "5", None),
    "java integer, number": ("simple_java", INTEGER, [5], 5, "type_error:java"),
    "java integer, another": ("simple_java", INTEGER, [5], "6", "value_error:number"),
    "java integer, quoted": ("simple_java", INTEGER, [5], '"5"', None),
    "java long without suffix": ("simple_java", make_schema("long"), [5], "5", None),
    "java float without suffix": ("simple_java", make_schema("float"), [2.5], "2.5", None),
    "java String": ("simple_java", make_schema("String"), ["a b"], "A-B", None),
    "java String, quoted": ("simple_java", make_schema("String"), ["a b"], '"a b"', None),
    "java String, wrong": ("simple_java", make_schema("String"), ["a b"], '"c"', "value_error:string"),
    "java String like a number": ("simple_java", make_schema("String"), ["5"], "5", None),
    "java char": ("simple_java", make_schema("char"), ["c"], "'c'", None),
    "java variable": ("simple_java", INTEGER, ["limit"], "limit", None),
    "java constant": ("simple_java", make_schema("any"), ["Color.RED"], "Color.RED", None),
    "java array": ("simple_java", make_schema("Array", "integer"), [[1, 2]], "{1, 2}", None),
    "java array of texts": (
        "simple_java",
        make_schema("Array", "String"),
        [["a,b"]],
        'new String[]{"a,b"}',
        None,
    ),
    "java array of bare texts": (
        "simple_java",
        make_schema("Array", "String"),
        [["a b"]],
        "new String[]{a b}",
        None,
    ),
    "java array, wrong": (
        "simple_java",
        make_schema("Array", "integer"),
        [[1]],
        "new int[]{2}",
        "value_error:list",
    ),
    "java list by factory": (
        "simple_java",
        make_schema("ArrayList", "String"),
        [["a"]],
        'List.of("a")',
        None,
    ),
    "java list in a text": ("simple_java", make_schema("ArrayList", "integer"), [[1]], '"List.of(1)"', None),
    "java map": (
        "simple_java",
        make_schema("HashMap"),
        [{"a": ["x"]}],
        'new HashMap<String, String>() {{ put("a", "x"); }}',
        None,
    ),
    "java map by factory": ("simple_java", make_schema("HashMap"), [{"a": [1]}], 'Map.of("a", 1)', None),
    "java map, wrong": (
        "simple_java",
        make_schema("HashMap"),
        [{"a": [1]}],
        'Map.of("a", 2)',
        "value_error:dict",
    ),
    "java constant without its class": ("simple_java", make_schema("any"), ["a.Unit.DAYS"], "DAYS", None),
    "java constant with its class": ("simple_java", make_schema("any"), ["DAYS"], "Unit.DAYS", None),
    "java constant of another name": (
        "simple_java",
        make_schema("any"),
        ["Unit.DAYS"],
        "Unit.HOURS",
        "value_error:string",
    ),
    "java field in small letters": (
        "simple_java",
        make_schema("any"),
        ["unit.days"],
        "days",
        "value_error:string",
    ),
    "java String that looks like a constant": (
        "simple_java",
        make_schema("String"),
        ["Unit.DAYS"],
        '"DAYS"',
        "value_error:string",
    ),
    "javascript constant without its class": (
        "simple_javascript",
        make_schema("any"),
        ["Unit.DAYS"],
        "DAYS",
        "value_error:string",
    ),
    "javascript integer, number": ("simple_javascript", INTEGER, [5], 5, "type_error:js"),
    "javascript float, exponent": ("simple_javascript", FLOAT, [1000.0], "1e3", None),
    "javascript String, quoted": ("simple_javascript", make_schema("String"), ["a b"], "'A b'", None),
    "javascript String, template": ("simple_javascript", make_schema("String"), ["a b"], "`a b`", None),
    "javascript Bigint without suffix": ("simple_javascript", make_schema("Bigint"), [5], "5", None),
    "javascript array": ("simple_javascript", make_schema("array", "String"), [["a,b"]], "['a,b']", None),
    "javascript array of objects": (
        "simple_javascript",
        make_schema("array", "dict"),
        [[{"a": [1], "b": [2]}]],
        "[{a: 1, b: 2}]",
        None,
    ),
    "javascript dict, quoted number": ("simple_javascript", DICT, [{"a": ["5"]}], "{a: '5'}", None),
    "javascript dict, nested": ("simple_javascript", DICT, [{"a": [{"b": 1}]}], "{a: {b: 1}}", None),
    "javascript dict, two lines": ("simple_javascript", DICT, [{"a": [1]}], "{\n  a: 1\n}", None),
    "javascript dict, wrong": ("simple_javascript", DICT, [{"a": [1]}], "{a: 2}", "value_error:dict"),
    "javascript function": ("simple_javascript", make_schema("any"), ["x => x"], "x => x", None),
    "javascript text where a list is expected": (
        "simple_javascript",
        make_schema("array", "integer"),
        [[1]],
        "none",
        "type_error:simple",
    ),
}


@each_case(("category", "schema", "accepted", "source", "expected"), SOURCES.values(), ids=SOURCES)
def test_value_of_another_language(
    category: str, schema: Mapping[str, object], accepted: object, source: object, expected: str | None
) -> None:
    assert read_code(judge_value(schema, accepted, source, category)) == expected


# One call

NUMBERED = {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}}

CALLS = {
    # id: (call, code or None)
    "all": (Call("f.g", {"a": 1, "b": 2}), None),
    "optional left out": (Call("f.g", {"a": 1}), None),
    "name": (Call("g", {"a": 1}), f"{SIMPLE}:wrong_func_name"),
    "shown name": (Call("f_g", {"a": 1}), f"{SIMPLE}:wrong_func_name"),
    "required": (Call("f.g", {"b": 2}), f"{SIMPLE}:missing_required"),
    "not in the doc": (Call("f.g", {"a": 1, "z": 3}), f"{SIMPLE}:unexpected_param"),
    "not in the answer": (Call("f.g", {"a": 1, "c": 3}), f"{SIMPLE}:unexpected_param"),
    "surplus positional": (Call("f.g", {"a": 1, "b": 2}, (7,)), f"{SIMPLE}:unexpected_param"),
    "value": (Call("f.g", {"a": 5}), "value_error:number"),
}


@each_case(("call", "expected"), CALLS.values(), ids=CALLS)
@each_case("category", ["simple_python", "multiple", "parallel"])
def test_a_call_has_the_corrected_verdict(category: str, call: Call, expected: str | None) -> None:
    """A reading gives functions their own names, so the name that was shown is no name of theirs."""
    entry = make_entry(
        category,
        functions=[make_doc("f.g", NUMBERED, ["a"])],
        expect=[{"f.g": {"a": [1], "b": [2, ""]}}],
    )
    assert read_code(judge_calls(entry, call)) == expected


def test_a_fixed_optional_must_be_given() -> None:
    entry = make_entry(functions=[make_doc("f", NUMBERED)], expect=[{"f": {"b": [2]}}])
    assert read_code(judge_calls(entry, Call("f", {}))) == f"{SIMPLE}:missing_optional"
    assert read_code(judge_calls(entry, Call("f", {"b": 2}))) is None


@each_case(
    ("kind", "default", "accepted", "given", "expected"),
    [
        # To leave it out is to give the default.
        ("integer", 2, [2], {}, None),
        ("integer", 2, [3], {}, f"{SIMPLE}:missing_optional"),
        ("integer", 2, [3, 2], {}, None),
        ("boolean", False, [False], {}, None),
        ("integer", True, [1], {}, f"{SIMPLE}:missing_optional"),
        ("string", "Metric", ["metric"], {}, None),
        # To give the default is to leave it out.
        ("integer", 2, [""], {"b": 2}, None),
        ("integer", 2, [3, ""], {"b": 2}, None),
        ("integer", 2, None, {"b": 2}, None),
        ("integer", 2, None, {"b": 3}, f"{SIMPLE}:unexpected_param"),
        ("integer", 2, [3], {"b": 2}, "value_error:number"),
        ("integer", 2, [""], {"b": 3}, "type_error:simple"),
    ],
)
def test_a_default_is_the_same_written_out_and_left_out(
    kind: str, default: object, accepted: list[object] | None, given: dict[str, object], expected: str | None
) -> None:
    doc = make_doc("f", {"b": {"type": kind, "default": default}})
    entry = make_entry(functions=[doc], expect=[{"f": {} if accepted is None else {"b": accepted}}])
    assert read_code(judge_calls(entry, Call("f", given))) == expected


@each_case("value, expected", [(None, None), ("f", "value_error:string"), (1, "type_error:simple")])
def test_null_stands_for_what_is_left_out_where_a_schema_says_so(value: object, expected: str | None) -> None:
    unit = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    doc = describe_function("f", "", {"type": "object", "properties": {"unit": unit}})
    for accepted in ({"unit": ["c", ""]}, {"unit": ["c", None]}):
        entry = make_entry(functions=[doc], expect=[{"f": accepted}])
        assert read_code(judge_calls(entry, Call("f", {"unit": value}))) == expected
        assert read_code(judge_calls(entry, Call("f", {}))) is None


def test_a_required_parameter_with_a_default_must_be_given() -> None:
    doc = make_doc("f", {"b": {"type": "integer", "default": 2}}, ["b"])
    entry = make_entry(functions=[doc], expect=[{"f": {"b": [2]}}])
    assert read_code(judge_calls(entry, Call("f", {}))) == f"{SIMPLE}:missing_required"


@pytest.mark.parametrize("default", ['"metric"', "metric"])
def test_a_default_of_java_is_source_text_or_its_value(default: str) -> None:
    doc = make_doc("f", {"b": {"type": "String", "default": default}})
    entry = make_entry("simple_java", functions=[doc], expect=[{"f": {"b": ["metric"]}}])
    assert read_code(judge_calls(entry, Call("f", {}))) is None
    assert read_code(judge_calls(entry, Call("f", {"b": '"imperial"'}))) == "value_error:string"


def test_the_expected_function_is_looked_up_by_name_in_every_category() -> None:
    entry = make_entry(functions=[make_doc("f", NUMBERED), make_doc("g", NUMBERED)], expect=[{"g": {}}])
    assert read_code(judge_calls(entry, Call("g", {}))) is None
    assert read_code(judge_calls(entry, Call("f", {}))) == f"{SIMPLE}:wrong_func_name"


def test_an_expected_function_that_is_not_offered_cannot_be_matched() -> None:
    entry = make_entry(functions=[make_doc("f", NUMBERED)], expect=[{"g": {}}])
    assert read_code(judge_calls(entry, Call("g", {}))) == "unclear"


# How many calls, and which for which


@each_case("category", ["simple_python", "multiple", "parallel", "parallel_multiple"])
@each_case("count", [0, 2])
def test_another_number_of_calls_is_a_wrong_count(category: str, count: int) -> None:
    entry = make_entry(category, functions=[make_doc("f", NUMBERED)], expect=[{"f": {}}])
    assert read_code(judge_calls(entry, *[Call("f", {})] * count)) == "wrong_count"


def make_parallel_entry(accepted: Sequence[Sequence[int]]) -> Entry:
    """Make an entry that expects a call of ``f`` with one of these numbers each."""
    return make_entry(
        "parallel",
        functions=[make_doc("f", {"n": {"type": "integer"}}, ["n"])],
        expect=[{"f": {"n": list(numbers)}} for numbers in accepted],
    )


def make_calls(numbers: Sequence[int]) -> list[Call]:
    return [Call("f", {"n": number}) for number in numbers]


@pytest.mark.parametrize("order", list(permutations((1, 2))), ids=str)
def test_overlapping_calls_are_matched_whatever_their_order(order: Sequence[int]) -> None:
    """Both fit the first expected call, only 1 fits the second."""
    assert read_code(judge_calls(make_parallel_entry([[1, 2], [1]]), *make_calls(order))) is None
    assert read_code(judge_calls(make_parallel_entry([[1], [1, 2]]), *make_calls(order))) is None


def test_a_chain_of_overlapping_calls_is_matched() -> None:
    entry = make_parallel_entry([[1, 2], [2, 3], [3, 4], [1]])
    assert read_code(judge_calls(entry, *make_calls([1, 2, 3, 4]))) is None
    assert read_code(judge_calls(entry, *make_calls([2, 2, 3, 4]))) == "cannot_find_match"


def test_a_call_is_used_once() -> None:
    assert read_code(judge_calls(make_parallel_entry([[1], [1]]), *make_calls([1, 2]))) == "cannot_find_match"


def test_the_reason_for_no_match_names_the_nearest_miss() -> None:
    verdict = judge_calls(make_parallel_entry([[1], [2]]), *make_calls([1, 3]))
    assert isinstance(verdict, Failed)
    assert verdict.reason.startswith("no call matches the expected f; nearest: f: n is ")


expectations = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=4)


@given(accepted=expectations, data=st.data())
@settings(deadline=None)
def test_parallel_calls_pass_exactly_when_some_assignment_fits(
    accepted: list[list[int]], data: st.DataObject
) -> None:
    numbers = data.draw(st.lists(st.integers(1, 4), min_size=len(accepted), max_size=len(accepted)))
    fits = any(
        all(number in options for number, options in zip(order, accepted, strict=True))
        for order in permutations(numbers)
    )
    assert isinstance(judge_calls(make_parallel_entry(accepted), *make_calls(numbers)), Passed) == fits


@given(accepted=expectations, data=st.data())
@settings(deadline=None)
def test_the_order_of_the_calls_does_not_matter(accepted: list[list[int]], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(1, 4), max_size=5))
    order = data.draw(st.permutations(numbers))
    wanted = data.draw(st.permutations(accepted))
    assert read_code(judge_calls(make_parallel_entry(accepted), *make_calls(numbers))) == read_code(
        judge_calls(make_parallel_entry(wanted), *make_calls(order))
    )


# What is no call


def test_an_unreadable_call_fails() -> None:
    entry = make_entry()
    verdict = corrected.match_calls(entry, Unreadable("not JSON"))
    assert verdict == Failed("unreadable", "the answer tries to call but cannot be read: not JSON")


def test_prose_fails_as_no_call() -> None:
    entry = make_entry()
    verdict = corrected.match_calls(entry, Prose("I cannot."))
    assert verdict == Failed("no_call", "the answer calls nothing: 'I cannot.'")


# Agreement

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=values)
def test_every_value_agrees_with_itself(value: object) -> None:
    assert values_agree(value, value)


@given(value=values, other=values)
def test_a_value_agrees_with_no_value_of_another_kind(value: object, other: object) -> None:
    if values_agree(value, other):
        numbers = isinstance(value, int | float) and not isinstance(value, bool)
        assert type(value) is type(other) or (numbers and isinstance(other, int | float))


@each_case(
    ("option", "value"),
    [
        pytest.param(float("nan"), float("nan"), id="nan"),
        pytest.param(1, True, id="one and True"),
        pytest.param(0, None, id="zero and None"),
        pytest.param(0, "", id="zero and empty text"),
        pytest.param([], {}, id="empty list and dict"),
        pytest.param("1", 1, id="text and number"),
        pytest.param(["ab"], "ab", id="list and text"),
        pytest.param({}, {"a": 1}, id="further key"),
        pytest.param(b"a", "a", id="bytes and text"),
    ],
)
def test_look_alikes_do_not_agree(option: object, value: object) -> None:
    assert not values_agree(option, value)
