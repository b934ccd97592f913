"""The official AST verdict, rule by rule, quirks included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from pytest_fcbench.codecs.decoders.syntax import WRONG_FORMAT, Calls, Unreadable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Passed, Verdict
from pytest_fcbench.kinds.calls import official
from tests.cases import each_case
from tests.factories import make_doc, make_entry

SIMPLE = "simple_function_checker"
MULTIPLE = "multiple_function_checker"
PARALLEL = "parallel_function_checker_no_order"


def judge_calls(entry: Entry, *calls: Call, names: Names = Names.DOTTED) -> Verdict:
    """Judge an answer of these calls."""
    return official.match_calls(entry, Calls(calls), names)


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

STRING, INTEGER, FLOAT, BOOLEAN, ANY, DICT = map(
    make_schema, ("string", "integer", "float", "boolean", "any", "dict")
)
INTEGERS, FLOATS, STRINGS = (
    make_schema("array", "integer"),
    make_schema("array", "float"),
    make_schema("array", "string"),
)
LISTS, DICTS, ANYTHING = make_schema("array", "array"), make_schema("array", "dict"), make_schema("array")

VALUES = {
    # id: (schema, accepted, value, code or None)
    "string": (STRING, ["New York"], "New York", None),
    "string, other spelling": (STRING, ["New York, NY"], "new-york_ny.", None),
    "string, quotes": (STRING, ["it's"], 'it"s', None),
    "string, second option": (STRING, ["a", "b"], "B", None),
    "string, another": (STRING, ["New York"], "York", "value_error:string"),
    "string, tab": (STRING, ["a b"], "a\tb", "value_error:string"),
    "string, brackets": (STRING, ["a"], "[a]", "value_error:string"),
    "string, number": (STRING, ["5"], 5, "type_error:simple"),
    "string, list": (STRING, ["a"], ["a"], "type_error:simple"),
    "string, None": (STRING, ["a"], None, "type_error:simple"),
    "string, empty for an optional": (STRING, ["a", ""], "", None),
    "string, dot for an optional": (STRING, ["a", ""], " .", None),
    "string, empty for a required": (STRING, ["a"], "", "value_error:string"),
    "string, nothing but left out": (STRING, [""], "a", "value_error:string"),
    "any, text": (ANY, ["a"], "A", None),
    "any, number": (ANY, ["5"], 5, "type_error:simple"),
    "any, number accepted": (ANY, [5], 5, None),
    "integer": (INTEGER, [5], 5, None),
    "integer, another": (INTEGER, [5], 6, "value_error:others"),
    "integer, float": (INTEGER, [5], 5.0, "type_error:simple"),
    "integer, True": (INTEGER, [1], True, "type_error:simple"),
    "integer, text": (INTEGER, [5], "5", "type_error:simple"),
    "integer, None": (INTEGER, [5], None, "type_error:simple"),
    "integer, variable": (INTEGER, ["limit"], "limit", None),
    "integer, variable in another case": (INTEGER, ["limit"], "Limit", "value_error:others"),
    "integer, number for a variable": (INTEGER, ["limit"], 5, "value_error:others"),
    "integer, variable second": (INTEGER, [5, "limit"], "limit", "type_error:simple"),
    "integer, float accepted": (INTEGER, [5.0], 5.0, None),
    "float": (FLOAT, [5.0], 5.0, None),
    "float, integer": (FLOAT, [5.0], 5, None),
    "float, integer accepted": (FLOAT, [5], 5, None),
    "float, another": (FLOAT, [5.0], 5.1, "value_error:others"),
    "float, True": (FLOAT, [1.0], True, "type_error:simple"),
    "float, text": (FLOAT, [5.0], "5.0", "type_error:simple"),
    "float, too large an integer": (FLOAT, [5.0], 10**400, "type_error:simple"),
    "boolean": (BOOLEAN, [False], False, None),
    "boolean, the other": (BOOLEAN, [False], True, "value_error:others"),
    "boolean, number": (BOOLEAN, [True], 1, "type_error:simple"),
    "boolean, text": (BOOLEAN, [True], "true", "type_error:simple"),
    "None, accepted first": (STRING, [None], None, None),
    "None, accepted second": (STRING, ["a", None], None, "type_error:simple"),
    "None, accepted after left out": (STRING, ["", None], None, None),
    "list": (INTEGERS, [[1, 2]], [1, 2], None),
    "list, other order": (INTEGERS, [[1, 2]], [2, 1], "value_error:list/tuple"),
    "list, element type": (INTEGERS, [[1, 2]], [1, "2"], "type_error:nested"),
    "list, floats for integers": (INTEGERS, [[1, 2]], [1.0, 2.0], "type_error:nested"),
    "list, True for integer": (INTEGERS, [[1]], [True], "type_error:nested"),
    "list, tuple": (INTEGERS, [[1, 2]], (1, 2), "type_error:simple"),
    "list, text": (INTEGERS, [[1, 2]], "[1, 2]", "type_error:simple"),
    "list, integers for floats": (FLOATS, [[1.0, 2.0]], [1, 2], "type_error:nested"),
    "list, integers for floats accepted": (FLOATS, [[1, 2]], [1, 2], None),
    "list, floats where integers are accepted": (FLOATS, [[1, 2]], [1.0, 2.0], None),
    "list, texts": (STRINGS, [["New York"]], ["new-york"], None),
    "list, other text": (STRINGS, [["New York"]], ["York"], "value_error:list/tuple"),
    "list, empty for an optional": (INTEGERS, [[1], ""], [], None),
    "list, empty for a required": (INTEGERS, [[1]], [], "value_error:list/tuple"),
    "list, left out first switches element types off": (
        INTEGERS,
        ["", [1, 2]],
        ["1", "2"],
        "value_error:list/tuple",
    ),
    "list, left out last as well": (INTEGERS, [[1, 2], ""], ["1", "2"], "value_error:list/tuple"),
    "list, elements of any type": (ANYTHING, [[1, "a"]], [1, "A"], None),
    "list, variable": (INTEGERS, ["numbers"], "numbers", None),
    "list, variable after a wrong element": (INTEGERS, ["numbers", [1]], ["1"], "value_error:others"),
    "list of lists": (LISTS, [[[1], [2]]], [[1], [2]], None),
    "list of lists, texts are exact": (LISTS, [[["a"]]], [["A"]], "value_error:list/tuple"),
    "list of lists, numbers are equal": (LISTS, [[[1]]], [[True]], None),
    "list of lists, one text": (LISTS, [[[1]]], ["[1]"], "type_error:nested"),
    "tuple": (make_schema("tuple", "integer"), [[1, 2]], (1, 2), None),
    "tuple, list": (make_schema("tuple", "integer"), [[1, 2]], [1, 2], None),
    "tuple, another": (make_schema("tuple", "integer"), [[1, 2]], (1, 3), "value_error:list/tuple"),
    "dict": (DICT, [{"a": [1, 2], "b": ["x y"]}], {"a": 2, "b": "X-Y"}, None),
    "dict, wrong value": (DICT, [{"a": ["x"]}], {"a": "y"}, "value_error:dict_value"),
    "dict, further key": (DICT, [{"a": ["x"]}], {"a": "x", "b": 1}, "value_error:dict_key"),
    "dict, missing key": (DICT, [{"a": ["x"], "b": [1]}], {"a": "x"}, "value_error:dict_key"),
    "dict, optional key left out": (DICT, [{"a": ["x"], "b": [1, ""]}], {"a": "x"}, None),
    "dict, missing key outweighs wrong value": (
        DICT,
        [{"a": ["x"], "b": [1]}],
        {"a": "y"},
        "value_error:dict_key",
    ),
    "dict, all keys optional": (DICT, [{"a": ["x", ""]}], {}, None),
    "dict, True equals 1": (DICT, [{"a": [1]}], {"a": True}, None),
    "dict, float equals integer": (DICT, [{"a": [1]}], {"a": 1.0}, None),
    "dict, texts in a list are exact": (DICT, [{"a": [["x"]]}], {"a": ["X"]}, "value_error:dict_value"),
    "dict, tuple in it is no list": (DICT, [{"a": [[1]]}], {"a": (1,)}, "value_error:dict_value"),
    "dict, nested": (DICT, [{"a": [{"b": 1}]}], {"a": {"b": 1}}, None),
    "dict, text instead of a list, one letter": (DICT, [{"a": "xyz"}], {"a": "y"}, None),
    "dict, text instead of a list, all of it": (
        DICT,
        [{"a": "xyz"}],
        {"a": "xyz"},
        "value_error:dict_value",
    ),
    "dict, text instead of a list, left out": (DICT, [{"a": "xyz"}], {}, None),
    "dict, dict instead of a list": (DICT, [{"a": {"b": [1]}}], {"a": {"b": 1}}, "value_error:dict_value"),
    "dict, second option": (DICT, [{"a": [1]}, {"b": [2]}], {"b": 2}, None),
    "dict, code of the last option": (DICT, [{"b": [1]}, {"a": [1]}], {"a": 2}, "value_error:dict_value"),
    "dict, nothing accepted": (DICT, [""], {}, "dict_checker:unclear"),
    "dict, list": (DICT, [{"a": [1]}], [["a", 1]], "type_error:simple"),
    "list of dicts": (DICTS, [[{"a": [1]}, {"a": [2]}]], [{"a": 1}, {"a": 2}], None),
    "list of dicts, other order": (
        DICTS,
        [[{"a": [1]}, {"a": [2]}]],
        [{"a": 2}, {"a": 1}],
        "value_error:dict_value",
    ),
    "list of dicts, missing key": (DICTS, [[{"a": [1]}]], [{}], "value_error:dict_key"),
    "list of dicts, count": (DICTS, [[{"a": [1]}]], [], "value_error:list_dict_count"),
    "list of dicts, second option": (DICTS, [[{"a": [1]}], [{"a": [2]}]], [{"a": 2}], None),
    "list of dicts, empty for an optional": (DICTS, ["", [{"a": [1]}]], [], None),
    "list of dicts, text among them": (DICTS, [[{"a": [1]}]], ["a"], "type_error:nested"),
    "list of dicts, text where types are off": (
        DICTS,
        [[{"a": [1]}], ""],
        ["a"],
        "value_error:list_dict_count",
    ),
    "type beside the official table": (make_schema("number"), [5.0], 5, None),
    "type beside the official table, wrong": (
        make_schema("object"),
        [{"a": [1]}],
        {"a": 2},
        "value_error:dict_value",
    ),
    "unknown type is a string": (make_schema("date"), ["2024-01-02"], "2024 01 02", None),
    "no type is a string": ({}, ["a"], "A", None),
    "value outside a list": (INTEGER, 5, 5, None),
    "value outside a list, wrong": (INTEGER, 5, 6, "value_error:others"),
    "text outside a list is taken letter by letter": (STRING, "abc", "b", None),
    "text outside a list, all of it": (STRING, "abc", "abc", "value_error:string"),
}


@each_case(("schema", "accepted", "value", "expected"), VALUES.values(), ids=VALUES)
def test_a_value_has_the_official_verdict(
    schema: Mapping[str, object], accepted: object, value: object, expected: str | None
) -> None:
    assert read_code(judge_value(schema, accepted, value)) == expected


@each_case(("schema", "value"), [(INTEGER, 5), (BOOLEAN, True), (FLOAT, 1.5), (INTEGERS, [1])], ids=str)
def test_a_text_outside_a_list_does_not_match_a_number(schema: Mapping[str, object], value: object) -> None:
    """The official code crashes here; then "the answer does not match" (module docstring)."""
    assert read_code(judge_value(schema, "abc", value)) == "value_error:others"


@pytest.mark.parametrize("schema", [INTEGER, STRING], ids=["integer", "string"])
def test_a_value_that_cannot_be_written_is_just_wrong(schema: Mapping[str, object]) -> None:
    assert read_code(judge_value(schema, [5], 10**5_000)) == "value_error:others"


# Values of Java and JavaScript calls

SOURCES = {
    # id: (category, schema, accepted, source, code or None)
    "java integer": ("simple_java", INTEGER, [5], "5", None),
    "java integer, number": ("simple_java", INTEGER, [5], 5, "type_error:java"),
    "java integer, fraction": ("simple_java", INTEGER, [5], "5.0", "type_error:simple"),
    "java integer, another": ("simple_java", INTEGER, [5], "6", "value_error:others"),
    "java long": ("simple_java", make_schema("long"), [5], "5L", None),
    "java long without suffix": ("simple_java", make_schema("long"), [5], "5", "type_error:simple"),
    "java float": ("simple_java", make_schema("float"), [2.5], "2.5f", None),
    "java float without suffix": ("simple_java", make_schema("float"), [2.5], "2.5", "type_error:simple"),
    "java double, whole": ("simple_java", make_schema("double"), [2.0], "2", None),
    "java boolean": ("simple_java", make_schema("boolean"), [True], "true", None),
    "java boolean, Python's": ("simple_java", make_schema("boolean"), [True], "True", "type_error:simple"),
    "java String": ("simple_java", make_schema("String"), ["a b"], "A-B", None),
    "java String, wrong": ("simple_java", make_schema("String"), ["a b"], "c", "value_error:string"),
    "java char keeps its quotes": ("simple_java", make_schema("char"), ["c"], "'c'", "value_error:string"),
    "java variable": ("simple_java", INTEGER, ["limit"], "limit", None),
    "java array": ("simple_java", make_schema("Array", "integer"), [[1, 2]], "new int[]{1, 2}", None),
    "java array, wrong": (
        "simple_java",
        make_schema("Array", "integer"),
        [[1, 2]],
        "new int[]{1}",
        "value_error:list/tuple",
    ),
    "java array of texts keeps quotes": (
        "simple_java",
        make_schema("Array", "String"),
        [["a"]],
        'new String[]{"a"}',
        "value_error:list/tuple",
    ),
    "java array, not as asked": (
        "simple_java",
        make_schema("Array", "integer"),
        [[1]],
        "{1}",
        "type_error:simple",
    ),
    "java array, element": (
        "simple_java",
        make_schema("Array", "integer"),
        [[1]],
        "new int[]{x}",
        "type_error:nested",
    ),
    "java list": (
        "simple_java",
        make_schema("ArrayList", "String"),
        [["a", "b"]],
        'new ArrayList<>(Arrays.asList("a", "b"))',
        None,
    ),
    "java list by factory": (
        "simple_java",
        make_schema("ArrayList", "String"),
        [["a"]],
        'List.of("a")',
        "type_error:simple",
    ),
    "java map": (
        "simple_java",
        make_schema("HashMap"),
        [{"a": ["x"]}],
        'new HashMap<>() {{ put("a", "x"); }}',
        None,
    ),
    "java map, dropped body": (
        "simple_java",
        make_schema("HashMap"),
        [{"a": ["x"]}],
        "new HashMap<>()",
        "value_error:dict_key",
    ),
    "javascript String": ("simple_javascript", make_schema("String"), ["a b"], "'A b'", None),
    "javascript integer": ("simple_javascript", INTEGER, [5], "5", None),
    "javascript integer, number": ("simple_javascript", INTEGER, [5], 5, "type_error:js"),
    "javascript dict, object": ("simple_javascript", DICT, [{"a": [1]}], {"a": 1}, "type_error:js"),
    "javascript float, exponent": ("simple_javascript", FLOAT, [1000.0], "1e3", "type_error:simple"),
    "javascript Bigint": ("simple_javascript", make_schema("Bigint"), [5], "5n", None),
    "javascript Bigint without suffix": (
        "simple_javascript",
        make_schema("Bigint"),
        [5],
        "5",
        "type_error:simple",
    ),
    "javascript Boolean": ("simple_javascript", make_schema("Boolean"), [True], "true", None),
    "javascript array": (
        "simple_javascript",
        make_schema("array", "String"),
        [["a", "b"]],
        "['a', 'b']",
        None,
    ),
    "javascript array, comma in a text": (
        "simple_javascript",
        make_schema("array", "String"),
        [["a,b"]],
        "['a,b']",
        "value_error:list/tuple",
    ),
    "javascript dict": ("simple_javascript", DICT, [{"a": ["x"]}], "{a: 'x'}", None),
    "javascript dict, quoted number": (
        "simple_javascript",
        DICT,
        [{"a": ["5"]}],
        "{a: '5'}",
        "value_error:dict_value",
    ),
    "javascript dict, nested": (
        "simple_javascript",
        DICT,
        [{"a": [{"b": 1}]}],
        "{a: {b: 1}}",
        "value_error:dict_value",
    ),
}


@each_case(("category", "schema", "accepted", "source", "expected"), SOURCES.values(), ids=SOURCES)
def test_value_of_another_language(
    category: str, schema: Mapping[str, object], accepted: object, source: object, expected: str | None
) -> None:
    assert read_code(judge_value(schema, accepted, source, category)) == expected


# One call

NUMBERED = {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}}


def make_numbered_entry(category: str = "simple_python") -> Entry:
    """Make an entry whose function requires ``a``, takes ``b``, which may be left out, and knows ``c``."""
    return make_entry(
        category,
        functions=[make_doc("f.g", NUMBERED, ["a"])],
        expect=[{"f.g": {"a": [1], "b": [2, ""]}}],
    )


CALLS = {
    # id: (call, code or None)
    "all": (Call("f.g", {"a": 1, "b": 2}), None),
    "optional left out": (Call("f.g", {"a": 1}), None),
    "other order": (Call("f.g", {"b": 2, "a": 1}), None),
    "positional is not seen": (Call("f.g", {"b": 2}, (1,)), f"{SIMPLE}:missing_required"),
    "surplus positional is not seen": (Call("f.g", {"a": 1}, (7,)), None),
    "name": (Call("g", {"a": 1}), f"{SIMPLE}:wrong_func_name"),
    "name, case": (Call("F.g", {"a": 1}), f"{SIMPLE}:wrong_func_name"),
    "name, underscored": (Call("f_g", {"a": 1}), f"{SIMPLE}:wrong_func_name"),
    "required": (Call("f.g", {"b": 2}), f"{SIMPLE}:missing_required"),
    "nothing": (Call("f.g", {}), f"{SIMPLE}:missing_required"),
    "not in the doc": (Call("f.g", {"a": 1, "z": 3}), f"{SIMPLE}:unexpected_param"),
    "not in the answer": (Call("f.g", {"a": 1, "c": 3}), f"{SIMPLE}:unexpected_param"),
    "without a name": (Call("f.g", {"a": 1, "**": "d"}), f"{SIMPLE}:unexpected_param"),
    "value": (Call("f.g", {"a": 5, "b": 2}), "value_error:others"),
    "name before required": (Call("g", {}), f"{SIMPLE}:wrong_func_name"),
    "required before unexpected": (Call("f.g", {"z": 3}), f"{SIMPLE}:missing_required"),
    "first wrong parameter, value": (Call("f.g", {"a": 5, "z": 3}), "value_error:others"),
    "first wrong parameter, unexpected": (Call("f.g", {"z": 3, "a": 5}), f"{SIMPLE}:unexpected_param"),
}


@each_case(("call", "expected"), CALLS.values(), ids=CALLS)
@each_case("category", ["simple_python", "multiple", "live_simple", "live_multiple"])
def test_a_call_has_the_official_verdict(category: str, call: Call, expected: str | None) -> None:
    assert read_code(judge_calls(make_numbered_entry(category), call)) == expected


def test_a_fixed_optional_must_be_given() -> None:
    entry = make_entry(functions=[make_doc("f", NUMBERED, ["a"])], expect=[{"f": {"a": [1], "b": [2]}}])
    assert read_code(judge_calls(entry, Call("f", {"a": 1}))) == f"{SIMPLE}:missing_optional"
    assert read_code(judge_calls(entry, Call("f", {"a": 5}))) == "value_error:others"
    assert read_code(judge_calls(entry, Call("f", {"a": 1, "b": 2}))) is None


@pytest.mark.parametrize(
    ("names", "shown", "hidden"), [(Names.DOTTED, "f.g", "f_g"), (Names.UNDERSCORED, "f_g", "f.g")]
)
def test_a_name_must_come_as_it_was_shown(names: Names, shown: str, hidden: str) -> None:
    assert read_code(judge_calls(make_numbered_entry(), Call(shown, {"a": 1}), names=names)) is None
    assert (
        read_code(judge_calls(make_numbered_entry(), Call(hidden, {"a": 1}), names=names))
        == f"{SIMPLE}:wrong_func_name"
    )


def test_the_function_of_a_simple_entry_is_its_first() -> None:
    entry = make_entry(functions=[make_doc("f", NUMBERED), make_doc("g", NUMBERED)], expect=[{"g": {}}])
    assert read_code(judge_calls(entry, Call("f", {}))) is None
    assert read_code(judge_calls(entry, Call("g", {}))) == f"{SIMPLE}:wrong_func_name"


def test_an_expected_function_that_is_not_offered_cannot_be_matched() -> None:
    entry = make_entry("multiple", functions=[make_doc("f", NUMBERED)], expect=[{"g": {}}])
    assert read_code(judge_calls(entry, Call("g", {}))) == f"{SIMPLE}:unclear"


REASONS = {
    # id: (call, reason, details)
    "name": (
        Call("g", {}),
        "g was called, f.g expected",
        {"function": "f.g", "found": "g"},
    ),
    "required": (
        Call("f.g", {}),
        "f.g: required parameter a is missing",
        {"function": "f.g", "parameter": "a"},
    ),
    "unknown": (
        Call("f.g", {"a": 1, "z": "x"}),
        "f.g: z is not a parameter (came: 'x')",
        {"function": "f.g", "parameter": "z", "found": "'x'"},
    ),
    "unexpected": (
        Call("f.g", {"a": 1, "c": 3}),
        "f.g: c should not be given (came: 3)",
        {"function": "f.g", "parameter": "c", "found": "3"},
    ),
    "value": (
        Call("f.g", {"a": 1, "b": "two"}),
        "f.g: b is 'two', accepted: [2, '']",
        {"function": "f.g", "parameter": "b", "found": "'two'", "accepted": "[2, '']"},
    ),
}


@each_case(("call", "reason", "details"), REASONS.values(), ids=REASONS)
def test_a_reason_names_function_parameter_and_values(
    call: Call, reason: str, details: Mapping[str, object]
) -> None:
    verdict = judge_calls(make_numbered_entry(), call)
    assert isinstance(verdict, Failed)
    assert verdict.reason == reason
    assert verdict.details == details


def test_a_reason_for_a_missing_optional_names_what_was_expected() -> None:
    entry = make_entry(functions=[make_doc("f", NUMBERED)], expect=[{"f": {"b": [2, 3]}}])
    assert (
        str(judge_calls(entry, Call("f", {})))
        == f"{SIMPLE}:missing_optional: f: b is missing, expected [2, 3]"
    )


def test_a_long_value_is_shortened_in_the_reason() -> None:
    verdict = judge_value(STRING, ["a"], "b" * 1_000)
    assert isinstance(verdict, Failed)
    assert len(verdict.reason) < 250
    assert "bbb…, accepted: ['a']" in verdict.reason


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(Call("g" * 10_000, {"a": 1}), id="function"),
        pytest.param(Call("f.g", {"a": 1, "z" * 10_000: 1}), id="parameter"),
        pytest.param(Call("f.g", {"a": 1, "z": "x" * 10_000}), id="value of an unknown parameter"),
    ],
)
def test_everything_a_model_wrote_is_shortened_in_the_reason(call: Call) -> None:
    verdict = judge_calls(make_numbered_entry(), call)
    assert isinstance(verdict, Failed)
    assert len(verdict.reason) < 1_000


def test_a_reason_can_be_printed() -> None:
    verdict = judge_calls(make_numbered_entry(), Call("\x1b[31mg\ud800", {}))
    assert isinstance(verdict, Failed)
    assert verdict.reason == r"\x1b[31mg\ud800 was called, f.g expected"


@each_case(
    ("value", "shown"),
    [("a", "'a'"), ([1, 2], "[1, 2]"), ("x" * 10, "'xxx…"), ("x" * 3, "'xxx'")],
    ids=["text", "list", "long", "just short enough"],
)
def test_a_long_value_is_shown_shortened(value: object, shown: str) -> None:
    assert official.show_value(value, 7 if shown.startswith("[") else 5) == shown


# How many calls


@each_case(
    ("category", "expected"),
    [
        ("simple_python", f"{SIMPLE}:wrong_count"),
        ("simple_java", f"{SIMPLE}:wrong_count"),
        ("live_simple", f"{SIMPLE}:wrong_count"),
        ("multiple", f"{MULTIPLE}:wrong_count"),
        ("live_multiple", f"{MULTIPLE}:wrong_count"),
        ("parallel", f"{PARALLEL}:wrong_count"),
        ("parallel_multiple", f"{PARALLEL}:wrong_count"),
        ("live_parallel", f"{PARALLEL}:wrong_count"),
        ("live_parallel_multiple", f"{PARALLEL}:wrong_count"),
    ],
)
@each_case("count", [0, 2])
def test_another_number_of_calls_is_a_wrong_count(category: str, expected: str, count: int) -> None:
    assert read_code(judge_calls(make_numbered_entry(category), *[Call("f.g", {"a": 1})] * count)) == expected


def test_the_reason_for_a_wrong_count_names_the_calls() -> None:
    verdict = judge_calls(make_numbered_entry(), Call("f.g", {}), Call("h", {}))
    assert isinstance(verdict, Failed)
    assert verdict.reason == "2 calls came, 1 expected"
    assert verdict.details == {"found": ["f.g", "h"], "expected": ["f.g"]}
    alone = judge_calls(make_entry("parallel", expect=[{"f": {}}, {"f": {}}]), Call("f", {}))
    assert isinstance(alone, Failed)
    assert alone.reason == "1 call came, 2 expected"


def test_thousands_of_calls_are_not_listed() -> None:
    verdict = judge_calls(make_numbered_entry(), *[Call("f.g", {})] * 5_000)
    assert isinstance(verdict, Failed)
    assert len(str(verdict.details)) < 500


# Several functions


@each_case("position", [0, 1, 2])
@each_case(("call", "expected"), CALLS.values(), ids=CALLS)
def test_other_offered_functions_do_not_matter(position: int, call: Call, expected: str | None) -> None:
    entry = make_numbered_entry("multiple")
    others = [make_doc("g", {"z": {"type": "integer"}}, ["z"]), make_doc("f", NUMBERED, ["a", "b", "c"])]
    offered = (*others[:position], *entry.functions, *others[position:])
    assert read_code(judge_calls(replace(entry, functions=offered), call)) == expected


# Calls in parallel


def make_parallel_entry(*accepted: Sequence[int], category: str = "parallel") -> Entry:
    """Make an entry that expects a call of ``f`` with one of these numbers each."""
    return make_entry(
        category,
        functions=[make_doc("f", {"n": {"type": "integer"}}, ["n"])],
        expect=[{"f": {"n": list(numbers)}} for numbers in accepted],
    )


def make_number_calls(*values: int) -> list[Call]:
    return [Call("f", {"n": value}) for value in values]


@each_case("order", list(permutations((1, 2, 3))), ids=str)
def test_parallel_calls_may_come_in_any_order(order: Sequence[int]) -> None:
    assert read_code(judge_calls(make_parallel_entry([1], [2], [3]), *make_number_calls(*order))) is None


def test_a_parallel_call_is_used_once() -> None:
    assert read_code(judge_calls(make_parallel_entry([1], [1]), *make_number_calls(1, 1))) is None
    assert (
        read_code(judge_calls(make_parallel_entry([1], [1]), *make_number_calls(1, 2)))
        == f"{PARALLEL}:cannot_find_match"
    )


def test_overlapping_calls_are_matched_greedily() -> None:
    """The first expected call takes the first that fits, though only that one fits the second."""
    entry = make_parallel_entry([1, 2], [1])
    assert read_code(judge_calls(entry, *make_number_calls(2, 1))) is None
    assert read_code(judge_calls(entry, *make_number_calls(1, 2))) == f"{PARALLEL}:cannot_find_match"


def test_the_reason_for_no_match_names_the_nearest_miss() -> None:
    verdict = judge_calls(make_parallel_entry([1], [2]), Call("f", {"n": 1}), Call("f", {"n": 3}))
    assert isinstance(verdict, Failed)
    assert verdict.reason == "no call matches the expected f; nearest: f: n is 3, accepted: [2]"
    assert verdict.details == {
        "function": "f",
        "expected": 1,
        "misses": [{"found": 1, "code": "value_error:others", "reason": "f: n is 3, accepted: [2]"}],
    }


def test_the_reason_for_no_match_says_when_no_call_of_the_function_is_left() -> None:
    verdict = judge_calls(make_parallel_entry([1], [2]), Call("f", {"n": 1}), Call("g", {"n": 2}))
    assert isinstance(verdict, Failed)
    assert verdict.reason == "no call matches the expected f; no call of that function is left"


def test_parallel_calls_of_several_functions() -> None:
    entry = make_entry(
        "parallel_multiple",
        functions=[make_doc("f.a", NUMBERED, ["a"]), make_doc("g.b", NUMBERED, ["b"])],
        expect=[{"g.b": {"b": [2]}}, {"f.a": {"a": [1]}}],
    )
    right = [Call("f_a", {"a": 1}), Call("g_b", {"b": 2})]
    assert read_code(judge_calls(entry, *right, names=Names.UNDERSCORED)) is None
    wrong = [Call("f_a", {"a": 1}), Call("g_b", {"b": 1})]
    assert read_code(judge_calls(entry, *wrong, names=Names.UNDERSCORED)) == f"{PARALLEL}:cannot_find_match"


# What cannot be read


@each_case("category", ["simple_python", "multiple", "parallel"])
@each_case("kind", ["ast_decoder:decoder_failed", WRONG_FORMAT])
def test_an_unreadable_answer_fails_with_the_decoders_code(category: str, kind: str) -> None:
    entry = make_numbered_entry(category)
    verdict = official.match_calls(entry, Unreadable("not JSON", kind), Names.DOTTED)
    assert verdict == Failed(kind, "cannot be read as calls: not JSON")
