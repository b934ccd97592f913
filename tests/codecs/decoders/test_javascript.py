"""JavaScript text read as calls, and JavaScript literals read as values, in both readings."""

from __future__ import annotations

import itertools
import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders import javascript
from pytest_fcbench.codecs.decoders.syntax import Undecodable, WrongFormat
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, source_text, wild_text

KINDS = ("String", "integer", "float", "Bigint", "Boolean", "dict", "array", "any", "unknown")


def make_call(**arguments: str) -> tuple[Call, ...]:
    """Make the one call of ``f`` with these arguments."""
    return (Call("f", arguments),)


OFFICIAL_CALLS = {
    "brackets": ("[f(x=1)]", make_call(x="1")),
    "no brackets": ("f(x=1)", make_call(x="1")),
    "semicolon": ("f(x=1);", make_call(x="1")),
    "javascript fence": ("```javascript\nf(x=1)\n```", make_call(x="1")),
    "dotted name": ('a.b(x="c")', (Call("a.b", {"x": "c"}),)),
    "texts lose their quotes": ("""f(x='a', y="b c")""", make_call(x="a", y="b c")),
    "template stays": ("f(x=`a`)", make_call(x="`a`")),
    "escapes stay": (r"f(x='it\'s')", make_call(x=r"it\'s")),
    "not ASCII": ("f(x='é', y='ü')", make_call(x="é", y="ü")),
    "object": ("f(x={k: 'v', l: [1, 2]})", make_call(x="{k: 'v', l: [1, 2]}")),
    "array": ("f(x=[1, 'a'])", make_call(x="[1, 'a']")),
    "function": ("f(x=y => y + 1)", make_call(x="y => y + 1")),
    "call": ("f(x=g(y=1))", make_call(x="g(y=1)")),
    "no arguments": ("f()", make_call()),
    "identifier without a name": ("f(a)", (Call("f", {"**": "a"}),)),
    "true without a name": ("f(true)", (Call("f", {"**": "true"}),)),
    "literals without a name are dropped": ("f(false, null, 5, 'a', {b: 1})", make_call()),
    "only the first of two statements": ("f(x=1)\ng(y=2)", make_call(x="1")),
    "await in a value": ("f(x=await (g()))", make_call(x="await (g())")),
    "await within brackets": ("(await f)(x=1)", (Call("(await f)", {"x": "1"}),)),
    "a name that begins so": ("awaited(x=1)", (Call("awaited", {"x": "1"}),)),
    "after another statement": ("const y = 2; f(x=y)", make_call(x="y")),
}


@each_case(("text", "expected"), OFFICIAL_CALLS.values(), ids=OFFICIAL_CALLS)
def test_the_official_reading_finds_these_calls(text: str, expected: tuple[Call, ...]) -> None:
    assert javascript.parse_official(text) == expected


@each_case(
    ("text", "refusal", "reason"),
    [
        pytest.param("", WrongFormat, "no call statement in the text", id="empty"),
        pytest.param("[]", WrongFormat, "no call statement in the text", id="empty list"),
        pytest.param("hello", WrongFormat, "no call statement in the text", id="a name"),
        pytest.param("[f(x=1), g(y=2)]", WrongFormat, "no call statement in the text", id="two calls"),
        pytest.param("await f(x=1)", WrongFormat, "no call statement in the text", id="await"),
        pytest.param("await (f(x=1))", WrongFormat, "no call statement in the text", id="await in brackets"),
        pytest.param("await (0, f)(x=1)", WrongFormat, "no call statement in the text", id="await of a call"),
        pytest.param(
            "await (x).f(x=1)", WrongFormat, "no call statement in the text", id="await of a method"
        ),
        pytest.param("new F(x=1)", WrongFormat, "no call statement in the text", id="constructor"),
        pytest.param("const r = f(x=1)", WrongFormat, "no call statement in the text", id="declaration"),
        pytest.param("f(x=1, x=2)", Undecodable, "argument 'x' is given twice", id="argument twice"),
        pytest.param("f(a, true)", Undecodable, "argument '**' is given twice", id="two without a name"),
        pytest.param("f(x=)", Undecodable, "not valid javascript source", id="no value"),
        pytest.param("f(x=", Undecodable, "not valid javascript source", id="cut"),
        pytest.param('f(x="\ud800")', Undecodable, "a surrogate without its other half", id="surrogate"),
        pytest.param("I cannot help with that.", Undecodable, "not valid javascript source", id="prose"),
    ],
)
def test_the_official_reading_refuses_the_text(text: str, refusal: type[Exception], reason: str) -> None:
    with pytest.raises(refusal, match=re.escape(reason)):
        javascript.parse_official(text)


CORRECTED_CALLS = {
    "empty": ("", ()),
    "empty list": ("[]", ()),
    "brackets": ("[f(x=1)]", make_call(x="1")),
    "semicolon": ("f(x=1);", make_call(x="1")),
    "two calls": ("[f(x=1), g(y=2)]", (*make_call(x="1"), Call("g", {"y": "2"}))),
    "two lines": ("f(x=1)\ng(y=2)", (*make_call(x="1"), Call("g", {"y": "2"}))),
    "two statements": ("f(x=1); g(y=2);", (*make_call(x="1"), Call("g", {"y": "2"}))),
    "fence": ("```js\nf(x=1)\n```", make_call(x="1")),
    "await": ("await f(x=1)", make_call(x="1")),
    "declaration": ("const r = await f(x=1);", make_call(x="1")),
    "declaration of the old form": ("var r = f(x=1)", make_call(x="1")),
    "parentheses": ("((f(x=1)))", make_call(x="1")),
    "source text is kept": ("""f(x='a', y="b c", z=[1])""", make_call(x="'a'", y='"b c"', z="[1]")),
    "positional": ("f(a, 5, y={b: 1})", (Call("f", {"y": "{b: 1}"}, ("a", "5")),)),
    "one bracket": ("[f(x=1)", make_call(x="1")),
    "semicolon behind brackets": ("[f(x=1)];", make_call(x="1")),
    "comment at the end": ("f(x=1) // done", make_call(x="1")),
    "repeated argument": ("f(x=1, x=2)", make_call(x="2")),
    "comments": ("// first\nf(x=1) /* done */", make_call(x="1")),
}


@each_case(("text", "expected"), CORRECTED_CALLS.values(), ids=CORRECTED_CALLS)
def test_the_corrected_reading_finds_these_calls(text: str, expected: tuple[Call, ...]) -> None:
    assert javascript.parse_corrected(text) == expected


@each_case(
    ("text", "reason"),
    [
        pytest.param("hello", "expected a call, found identifier", id="a name"),
        pytest.param("I cannot help with that.", "not valid javascript source", id="prose"),
        pytest.param("f(x=", "not valid javascript source", id="cut"),
        pytest.param("f(x=1", "not valid javascript source", id="cut before its end"),
        pytest.param("[f(x=1), 5]", "expected a call, found number", id="a literal among the calls"),
        pytest.param("new F(x=1)", "expected a call, found new expression", id="constructor"),
        pytest.param("const r = 5", "expected a call, found number", id="declaration of a literal"),
        pytest.param("const r;", "variable_declarator without value", id="declaration of nothing"),
        pytest.param("if (a) f(x=1)", "expected a call, found if statement", id="condition"),
    ],
)
def test_the_corrected_reading_refuses_the_text(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=re.escape(reason)):
        javascript.parse_corrected(text)


OFFICIAL_VALUES = {
    # id: (source, type, element type, value)
    "text": ("'a'", "String", None, "a"),
    "text, double quotes": ('"a"', "String", None, "a"),
    "text without quotes": ("a b", "String", None, "a b"),
    "quotes that do not match": ("'a\"", "String", None, "'a\""),
    "integer": ("-5", "integer", None, -5),
    "integer with fraction": ("5.0", "integer", None, "5.0"),
    "float": ("2.5", "float", None, 2.5),
    "float, whole": ("5", "float", None, 5.0),
    "float with exponent": ("1e3", "float", None, "1e3"),
    "Bigint": ("5n", "Bigint", None, 5),
    "Bigint without suffix": ("5", "Bigint", None, "5"),
    "Boolean": ("false", "Boolean", None, False),
    "Boolean, Python's": ("True", "Boolean", None, "True"),
    "any": ("5", "any", None, "5"),
    "unknown type": ("5", "unknown", None, "5"),
    "array": ("[1, x]", "array", "integer", [1, "x"]),
    "array of texts": ("['a', \"b\"]", "array", "String", ["a", "b"]),
    "array of texts with comma": ("['a,b']", "array", "String", ["'a", "b'"]),
    "array of untyped": ("[1, 2.5, 'a', true, x]", "array", None, [1, 2.5, "a", True, "x"]),
    "array and more": ("[1, 2].map(f)", "array", "integer", [1, 2]),
    "empty array": ("[]", "array", "integer", []),
    "array of rows": ("[[1, 'a'], [true]]", "array", None, [[1, "a"], [True]]),
    "array of one row": ("[ [1] ]", "array", "array", [[1]]),
    "array by constructor": ("new Array(1, 2)", "array", "integer", [1, 2]),
    "rows by constructor": ("new Array([1], [2])", "array", None, [[1], [2]]),
    "array of objects": ("[{a: 1}, {b: 2}]", "array", "dict", [{"a": 1}, {"b": 2}]),
    "array of objects with two keys": ("[{a: 1, b: 2}]", "array", "dict", ["{a: 1", "b: 2}"]),
    "array of an unknown type": ("[1]", "array", "unknown", "[1]"),
    "no array": ("x", "array", "integer", "x"),
    "object": ("{a: 1, 'b': 2.5, \"c\": true, d: e}", "dict", None, {"a": 1, "b": 2.5, "c": True, "d": "e"}),
    "quoted number in an object": ("{a: '5'}", "dict", None, {"a": 5}),
    "array in an object": ("{a: [1, 2]}", "dict", None, {"a": [1, 2]}),
    "object in an object": ("{a: {b: 1}}", "dict", None, {"a": "{b: 1"}),
    "object over two lines": ("{a: 1\n}", "dict", None, "{a: 1\n}"),
    "empty object": ("{}", "dict", None, {}),
    "no object": ("x", "dict", None, "x"),
}


@each_case(("source", "kind", "element", "expected"), OFFICIAL_VALUES.values(), ids=OFFICIAL_VALUES)
def test_the_official_reading_gives_this_value(
    source: str, kind: str, element: str | None, expected: object
) -> None:
    value = javascript.parse_official_literal(source, kind, element)
    assert (repr(value), value) == (repr(expected), expected)


@pytest.mark.parametrize(("digits", "kind"), [("9" * 4_400, "integer"), ("9" * 4_400 + "n", "Bigint")])
def test_an_integer_of_too_many_digits_stays_text(digits: str, kind: str) -> None:
    assert javascript.parse_official_literal(digits, kind) == digits


VALUES = {
    "integer": ("5", 5),
    "negative": ("-5", -5),
    "plus": ("+5", 5),
    "Bigint": ("5n", 5),
    "hexadecimal Bigint": ("0xFFn", 255),
    "float": ("2.5", 2.5),
    "exponent": ("1e3", 1000.0),
    "hexadecimal": ("0x1F", 31),
    "octal": ("0o17", 15),
    "binary": ("0b11", 3),
    "underscores": ("1_000", 1000),
    "boolean": ("false", False),
    "null": ("null", None),
    "undefined": ("undefined", None),
    "text": ("'a, [b]'", "a, [b]"),
    "text, double quotes": ('"a"', "a"),
    "escapes": (r"'\n\x41\u0042\u{43}\'\q'", "\nABC'q"),
    "two escapes of one character": (r"'\ud83d\ude00'", "😀"),
    "continued line": ("'a\\\nb'", "ab"),
    "not ASCII": ("'é'", "é"),
    "template": ("`a`", "a"),
    "parentheses": ("(5)", 5),
    "array": ("[1, 'a,b', [true]]", [1, "a,b", [True]]),
    "empty array": ("[]", []),
    "array by constructor": ("new Array(1, 2)", [1, 2]),
    "object": ("{a: 1, 'b': 2, 3: 4}", {"a": 1, "b": 2, "3": 4}),
    "object in an object": ("{a: {b: [1]}}", {"a": {"b": [1]}}),
    "object over two lines": ("{\n  a: 1\n}", {"a": 1}),
    "objects in an array": ("[{a: 1, b: 2}, {}]", [{"a": 1, "b": 2}, {}]),
    "names in an array": ("[red, f(1)]", ["red", "f(1)"]),
    "empty object": ("{}", {}),
}


@each_case(("source", "expected"), VALUES.values(), ids=VALUES)
def test_the_corrected_reading_gives_this_value(source: str, expected: object) -> None:
    value = javascript.parse_literal(source)
    assert (repr(value), value) == (repr(expected), expected)


@each_case(
    "source",
    [
        *("", "hello world", "foo", "a.b", "f(1)", "new Date()", "x => x", "1 + 2", "`a${b}`", "/a/g"),
        *("1; 2", "1, 2", "'open", r"'\u{110000}'", "9" * 5_000, "5 // five"),
    ],
)
def test_any_other_expression_stays_text(source: str) -> None:
    assert javascript.parse_literal(source) == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [("[1, /* one */ 2]", [1, 2]), ("{/* one */ a: 1}", {"a": 1})],
    ids=["array", "object"],
)
def test_a_comment_is_no_element(source: str, expected: object) -> None:
    assert javascript.parse_literal(source) == expected


PLAIN_ROWS = re.compile(
    r"\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]|\bnew\s+Array\(\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\s*\)"
)
"""The official patterns for an array of rows. Ours take linear time and must accept the same."""


def find_extent(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    """Find where a pattern matches from the start of a text."""
    found = pattern.match(text)
    return found.span() if found else None


@pytest.mark.parametrize("start", ["", "[[", "new Array(["])
def test_short_rows_are_found_where_the_plain_pattern_finds_them(start: str) -> None:
    for length in range(6):
        for characters in itertools.product("[],1 \n", repeat=length):
            text = start + "".join(characters)
            assert find_extent(javascript._ARRAY_2D, text) == find_extent(PLAIN_ROWS, text), text


@given(
    start=st.sampled_from(["[[", "[ [", "new Array(["]),
    middle=st.text(alphabet="[],1 \n", max_size=20),
    end=st.sampled_from(["", "]", "]]", "])", "]\n]"]),
)
@settings(deadline=None, max_examples=10 * settings().max_examples)
def test_rows_are_found_where_the_plain_pattern_finds_them(start: str, middle: str, end: str) -> None:
    text = start + middle + end
    assert find_extent(javascript._ARRAY_2D, text) == find_extent(PLAIN_ROWS, text)


@given(rows=st.lists(st.lists(st.integers(), min_size=1), min_size=1), gap=st.sampled_from(["", " ", "\n"]))
@settings(deadline=None)
def test_an_array_of_rows_of_integers_is_read_as_it_is_written(rows: list[list[int]], gap: str) -> None:
    text = "[" + f"{gap},{gap}".join(str(row) for row in rows) + f"{gap}]"
    assert javascript.parse_official_literal(text, "array", "array") == rows
    assert javascript.parse_literal(text) == rows


@each_case(
    "text",
    [
        pytest.param("[[1]" + ",[1]" * 1_200 + "!", id="rows without an end"),
        pytest.param("[[1]" + " ,[1]" * 900 + "\n!", id="rows and a line end"),
        pytest.param("[[" + "1],[" * 1_200, id="a row that stays open"),
        pytest.param("[[1" + "]" * 4_900, id="brackets"),
        pytest.param("[[1]" + " " * 4_900, id="spaces"),
        pytest.param("new Array([1]" + ",[1]" * 1_200, id="constructor"),
    ],
)
def test_rows_are_read_or_refused_at_once(text: str) -> None:
    must_end(lambda: javascript.parse_official_literal(text, "array", "array"))


@each_case(
    "text",
    [
        pytest.param("{" + "a" * 4_900 + "}", id="no colon"),
        pytest.param("{" + "a:," * 1_600 + "}", id="no values"),
        pytest.param("{a:" + ", " * 2_400 + "}", id="commas"),
        pytest.param("{a:" + " " * 4_900 + "}", id="spaces"),
    ],
)
def test_an_object_is_read_or_refused_at_once(text: str) -> None:
    must_end(lambda: javascript.parse_official_literal(text, "dict"))


def read_or_refused(text: str) -> bool:
    """Whether both readers of calls answer or refuse; anything else is raised."""
    for reader in (javascript.parse_official, javascript.parse_corrected):
        with suppress(Undecodable, WrongFormat):
            reader(text)
    return True


@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_read_or_refused_at_once(text: str) -> None:
    must_end(lambda: read_or_refused(text))


@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_literal_is_read_at_once(text: str) -> None:
    def read_as_every_kind() -> None:
        javascript.parse_literal(text)
        for kind in KINDS:
            javascript.parse_official_literal(text, kind, "integer")

    must_end(read_as_every_kind)


@given(text=wild_text)
@settings(deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    assert read_or_refused(text)


@given(text=source_text)
@settings(deadline=None)
def test_any_text_has_a_value(text: str) -> None:
    javascript.parse_literal(text)
    for kind in KINDS:
        javascript.parse_official_literal(text, kind, "String")
