"""JSON in answers, and calls in decoded objects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial

import pytest

from pytest_fcbench.codecs.decoders import syntax as wrapping
from pytest_fcbench.codecs.decoders.syntax import (
    DEEPEST,
    Undecodable,
    WrongFormat,
    as_call,
    check_depth,
    find_json_values,
    find_named_calls,
    from_json,
    read_members,
    read_named_calls,
)
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case
from tests.codecs.hostile import must_end

ONE = {"name": "f", "arguments": {"x": 1}}
OTHER = {"name": "g", "parameters": {"y": 2}}
F, G = Call("f", {"x": 1}), Call("g", {"y": 2})


def test_json_is_decoded() -> None:
    assert from_json(' {"a": [1, 2.5, null, true]} ') == {"a": [1, 2.5, None, True]}


@each_case(
    ("text", "words"),
    [
        pytest.param("", "Expecting value", id="empty"),
        pytest.param("{'a': 1}", "Expecting property name enclosed in double quotes", id="single quotes"),
        pytest.param('{"a": 1} 2', "Extra data", id="more behind"),
        pytest.param("[" * 100_000, "nested more than 200 deep", id="too deep"),
        pytest.param("9" * 5_000, "Exceeds the limit", id="too many digits"),
        pytest.param('"\n"', "Invalid control character at", id="control character"),
    ],
)
def test_what_is_no_json_is_refused_with_the_words_of_the_parser(text: str, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^not JSON: {words}"):
        from_json(text)


def nest_lists(depth: int) -> str:
    return '{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def nest_objects(depth: int) -> str:
    return '{"]": ' * depth + "2" + "}" * depth


def call_at_depth(depth: int, do: Callable[[], object]) -> object:
    return do() if depth == 0 else call_at_depth(depth - 1, do)


@each_case("decode", [from_json, find_json_values])
@each_case("nest", [nest_lists, nest_objects])
@each_case("used", [0, 400])
def test_the_depth_that_is_read_depends_on_nothing_else(
    decode: Callable[[str], object], nest: Callable[[int], str], used: int
) -> None:
    """Neither on the version of Python nor on the stack that is left."""
    deepest = nest(DEEPEST - 1)
    assert call_at_depth(used, partial(decode, f"[{deepest}, {deepest}]"))
    for deeper in (nest(DEEPEST + 1), nest(2 * DEEPEST), nest(50 * DEEPEST)):
        with pytest.raises(Undecodable, match=r"^not JSON: nested more than 200 deep$"):
            call_at_depth(used, partial(decode, deeper))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('["' + "[" * 500 + '\\"' + "[" * 500 + '"]', id="in a text"),
        pytest.param(f"[{', '.join(['[]'] * 500)}]", id="side by side"),
        pytest.param(f"[1] {'[' * 500}", id="behind the value"),
    ],
)
def test_other_brackets_are_not_deep(text: str) -> None:
    check_depth(text)


def test_the_depth_of_a_long_text_is_found_in_no_long_time() -> None:
    check_depth('["' + '\\"' * 500_000)
    assert len(find_json_values("[{}] " * 20_000)) == 20_000


@pytest.mark.parametrize("decode", [from_json, find_json_values])
def test_an_error_without_words_is_named(
    decode: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_silently(*given: object) -> object:
        raise RecursionError

    monkeypatch.setattr("json.loads", fail_silently)
    monkeypatch.setattr("json.JSONDecoder.raw_decode", fail_silently)
    with pytest.raises(Undecodable, match=r"^not JSON: RecursionError$"):
        decode('{"a": 1}')


# Decoded objects


def test_a_list_of_objects_or_one_object_are_calls() -> None:
    assert read_named_calls([ONE, {**ONE, "name": "h"}]) == (F, Call("h", {"x": 1}))
    assert read_named_calls(ONE) == (F,)
    assert read_named_calls([OTHER], "parameters") == (G,)
    assert read_named_calls({**ONE, "id": 3}) == (F,)
    assert read_named_calls({"name": 5, "arguments": {}}) == (Call("5", {}),)
    assert read_named_calls([]) == ()


@each_case(
    ("value", "key", "reason"),
    [
        ([ONE, {"name": "f"}], "arguments", 'expected objects with "name" and "arguments"'),
        ([ONE, {"arguments": {}}], "arguments", 'expected objects with "name" and "arguments"'),
        ([ONE, "name"], "arguments", 'expected objects with "name" and "arguments"'),
        (5, "arguments", 'expected objects with "name" and "arguments"'),
        (
            [{**ONE, "arguments": [1]}, {"name": ["f"], "arguments": {}}],
            "arguments",
            "a function's name is text",
        ),
        ({"name": {}, "arguments": {}}, "arguments", "a function's name is text"),
        ([ONE], "parameters", 'expected objects with "name" and "parameters"'),
    ],
)
def test_one_member_that_is_no_call_spoils_a_list(value: object, key: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}$"):
        read_named_calls(value, key)


def test_officially_all_members_are_looked_at_before_the_arguments_of_any() -> None:
    """Which of two errors is told decides the code of the verdict."""
    wrong = {"name": "f", "arguments": [1]}
    with pytest.raises(Undecodable, match="expected objects"):
        read_named_calls([wrong, 5])
    with pytest.raises(WrongFormat, match=r"^the arguments of 'f' are list, not an object$"):
        read_named_calls([wrong, ONE])


@each_case(("value", "calls"), [([ONE], (F,)), ([], ()), ("", ()), ({}, ())])
def test_members_of_anything_are_calls(value: object, calls: tuple[Call, ...]) -> None:
    assert read_members(value) == calls


@each_case(
    ("value", "reason"),
    [
        (5, "expected a JSON list of calls, found int"),
        (None, "expected a JSON list of calls, found NoneType"),
        ("f", 'expected objects with "name" and "arguments"'),
        (ONE, 'expected objects with "name" and "arguments"'),
    ],
)
def test_what_has_no_calls_for_members_is_refused(value: object, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}$"):
        read_members(value)


# JSON among words


@each_case(
    ("text", "values"),
    [
        ('See {"a": 1}, {"b": 2}.', [{"a": 1}, {"b": 2}]),
        ('[{"a": 1}, [2], 3] {"b": 2}', [{"a": 1}, [2], 3, {"b": 2}]),
        ('[\n {"a": 1}]', [{"a": 1}]),
        ('{ \n"a": 1}', [{"a": 1}]),
        ("see [1] and {x}: [ ]", []),
        ('{"a": {"b": 2}} {"c": 3}', [{"a": {"b": 2}}, {"c": 3}]),
    ],
)
def test_lists_and_objects_are_found_among_words(text: str, values: list[object]) -> None:
    assert find_json_values(text) == values


@each_case(
    ("text", "reason"),
    [
        ("no", "there is no JSON list of calls"),
        ("[1] {x}", "there is no JSON list of calls"),
        ('{"a": 1} {"b": ', "not JSON: Expecting value: line 1 column 16 (char 15)"),
        ('{"b": x} {"a": 1}', "not JSON: Expecting value: line 1 column 7 (char 6)"),
    ],
)
def test_nothing_is_found_where_there_is_none_or_one_is_broken(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}$"):
        find_json_values(text)


@each_case(
    ("value", "calls"),
    [
        ([ONE, OTHER], (F, G)),
        ({"tool_calls": [ONE, OTHER], "name": "h"}, (F, G)),
        ({"tool_calls": [], "name": "h"}, ()),
        ({"tool_calls": "two", "name": "h"}, (Call("h", {}),)),
        ({"tool_name": "g", "parameters": {"y": 2}}, (G,)),
        ({"name": "f", "tool_name": "g", "arguments": {"x": 1}, "parameters": {"y": 2}}, (F,)),
        ({"name": "f", "arguments": '{"x": 1}'}, (F,)),
        ({"name": "f"}, (Call("f", {}),)),
    ],
)
def test_calls_are_found_under_the_keys_of_every_vendor(value: object, calls: tuple[Call, ...]) -> None:
    assert find_named_calls(f"Well: {json.dumps(value)}.") == calls


@each_case(
    "value",
    [
        {"function": "f", "arguments": {}},
        {"name": 5, "arguments": {}},
        {"tool_calls": [ONE, "f"]},
        [ONE, [1]],
        [ONE, 5],
    ],
)
def test_one_object_without_a_name_spoils_the_answer(value: object) -> None:
    with pytest.raises(Undecodable, match=r'^expected objects with "name" and "arguments"$'):
        find_named_calls(json.dumps(value))


def test_found_arguments_are_an_object() -> None:
    with pytest.raises(WrongFormat, match=r"^the arguments of 'f' are list, not an object$"):
        find_named_calls('{"name": "f", "arguments": [1]}')
    with pytest.raises(Undecodable, match=r"^not JSON: Expecting property name"):
        find_named_calls('{"name": "f", "arguments": "{"}')


def test_names_of_arguments_are_text() -> None:
    """Literals of Python can have other keys."""
    assert as_call("f", {"x": 1, 2: [3], None: ()}) == Call("f", {"x": 1, "2": [3], "None": ()})


@each_case(("arguments", "kind"), [([("x", 1)], "list"), ('{"x": 1}', "str"), (None, "NoneType"), (1, "int")])
def test_arguments_that_are_no_object_are_of_the_wrong_format(arguments: object, kind: str) -> None:
    with pytest.raises(WrongFormat, match=f"^the arguments of 'f' are {kind}, not an object$"):
        as_call("f", arguments)


@each_case(
    ("text", "expected"),
    [
        pytest.param("f()", "[f()]", id="bare"),
        pytest.param("\n `[f()]` \n", "[f()]", id="spaces and backticks"),
        pytest.param("[f()", "[f()]", id="end missing"),
        pytest.param("f(x=[1])", "[f(x=[1])]", id="value in brackets"),
        pytest.param("f(x=[1]", "[f(x=[1]", id="bracket of a value taken for the end"),
        pytest.param("\t[f()]", "[\t[f()]", id="tab stays"),
        pytest.param("", "[]", id="empty"),
        pytest.param("X", "[X]", id="letter"),
    ],
)
def test_missing_brackets_are_added(text: str, expected: str) -> None:
    assert wrapping.add_brackets(text) == expected


@each_case(
    ("text", "expected"),
    [
        pytest.param(" \t\r\n[f()]\r\n", "[f()]", id="white space"),
        pytest.param("```\n[f()]\n```", "[f()]", id="bare fence"),
        pytest.param("```c++\n[f()]\n```\n", "[f()]", id="fence with a language"),
        pytest.param("```json  \n[f()]\n   ```", "[f()]", id="fence with spaces"),
        pytest.param("`f()`", "f()", id="single backticks"),
        pytest.param("a ```f()``` b", "a ```f()``` b", id="fence in the middle"),
        pytest.param("``````", "", id="empty fence"),
        pytest.param("f(x='```')", "f(x='```')", id="backticks in a value"),
        pytest.param("```[f()]```", "[f()]", id="fence on the line"),
        pytest.param("```python [f()]```", "[f()]", id="fence and language on the line"),
        pytest.param("```python```", "python", id="one word"),
        pytest.param("```f()\ng()```", "f()\ng()", id="no language in the first line"),
        pytest.param("```f()", "f()", id="opened only"),
        pytest.param("f()```", "f()", id="closed only"),
        pytest.param("Xf()X", "Xf()X", id="letters at both ends"),
    ],
)
def test_a_fence_is_stripped(text: str, expected: str) -> None:
    assert wrapping.strip_fence(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```" + " " * 20_000 + "x", id="spaces after an open fence"),
        pytest.param("```" + "a" * 100_000 + "x`", id="word after an open fence"),
    ],
)
def test_stripping_a_fence_ends_soon(text: str) -> None:
    must_end(lambda: wrapping.strip_fence(text))


@each_case(
    ("text", "expected"),
    [
        ("[f(), g()]", "f(), g()"),
        ("```\n[f()]\n```", "f()"),
        ("[ f() ,]", "f() "),
        ("f();,;", "f()"),
        ("[f()", "f()"),
        ("f()]", "f()"),
        ("X[f()]X", "X[f()]X"),
        ("", ""),
    ],
)
def test_brackets_around_all_of_a_text_are_stripped(text: str, expected: str) -> None:
    assert wrapping.strip_brackets(text) == expected


@each_case(
    ("text", "start", "expected"),
    [
        ("<a>x</a>", 0, (3, 4)),
        ("b<a></a>", 0, (4, 4)),
        ("<a>x</a><a>yz</a>", 0, (3, 4)),
        ("<a>x</a><a>yz</a>", 1, (11, 13)),
        ("</a><a>x</a>", 0, (7, 8)),
        ("<a>x", 0, None),
        ("x</a>", 0, None),
        ("<a>x</a>", 1, None),
    ],
)
def test_the_first_text_between_two_marks_is_found(
    text: str, start: int, expected: tuple[int, int] | None
) -> None:
    assert wrapping.find_between(text, "<a>", "</a>", start) == expected
    assert start or wrapping.find_between(text, "<a>", "</a>") == expected


@each_case(
    ("text", "expected"),
    [
        ("", []),
        ("<a>x</a>", ["x"]),
        ("<a>x</a> and <a></a><a>y", ["x", ""]),
        ("</a><a>x<a>y</a>z</a>", ["x<a>y"]),
        ("X<a></a><a>y</a>X", ["", "y"]),
    ],
)
def test_all_texts_between_two_marks_are_found(text: str, expected: list[str]) -> None:
    assert wrapping.find_all_between(text, "<a>", "</a>") == expected


def test_no_mark_is_part_of_two_texts() -> None:
    assert wrapping.find_all_between("|x|y|z|", "|", "|") == ["x", "z"]
    assert wrapping.find_all_between("ax\nab", "a", "\na") == ["x"]


def test_finding_all_texts_ends_soon() -> None:
    must_end(lambda: wrapping.find_all_between("<a></a>" * 50_000, "<a>", "</a>"))
