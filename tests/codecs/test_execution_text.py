"""Calls become the Python text that is carried out, as the official handlers write it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fcbench.codecs.call_texts import CallWriter, write_joined, write_nested, write_spaced
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.execution_text import list_calls_to_make
from pytest_fcbench.domain.transcript import Call, Completion, ToolCall
from tests.cases import each_case
from tests.factories import tool_calls

TEXT_SYNTAXES = ("python", "hermes", "xlam", "glm")

# Texts


@each_case(
    ("arguments", "of_tool_call", "of_text"),
    [
        pytest.param({}, "f()", "f()", id="none"),
        pytest.param({"a": 1, "b": "it's"}, """f(a=1,b="it's")""", """f(a=1, b="it's")""", id="two"),
        pytest.param({"a": None, "b": True}, "f(a=None,b=True)", "f(a=None, b=True)", id="constants"),
        pytest.param({"a": [1, (2.5,)]}, "f(a=[1, (2.5,)])", "f(a=[1, (2.5,)])", id="lists"),
        pytest.param({"a": "g()"}, "f(a='g()')", "f(a='g()')", id="call in a text"),
        pytest.param({"a": {"b": 1}}, "f(a={'b': 1})", "f(a={'b': 1})", id="dict"),
        pytest.param(
            {"a": {"g": {"b": 1, "c": "d"}}},
            "f(a={'g': {'b': 1, 'c': 'd'}})",
            "f(a=g(b=1, c='d'))",
            id="dict of a dict",
        ),
        pytest.param({"a": {"g": {}}}, "f(a={'g': {}})", "f(a=g())", id="dict of an empty dict"),
        pytest.param(
            {"a": {"g": {"b": {"h": {"c": 1}}}}},
            "f(a={'g': {'b': {'h': {'c': 1}}}})",
            "f(a=g(b=h(c=1)))",
            id="twice",
        ),
        pytest.param(
            {"a": {"g": {"b": 1}, "h": {"c": 2}}},
            "f(a={'g': {'b': 1}, 'h': {'c': 2}})",
            "f(a=g(b=1))",
            id="all but the first dict are lost",
        ),
        pytest.param(
            {"a": {"g": {"b": 1}, "c": 2}},
            "f(a={'g': {'b': 1}, 'c': 2})",
            "f(a={'g': {'b': 1}, 'c': 2})",
            id="not all are dicts",
        ),
        pytest.param(
            {"a": {"b": 1, "g": {"h": {"c": 2}}}},
            "f(a={'b': 1, 'g': {'h': {'c': 2}}})",
            "f(a={'b': 1, 'g': h(c=2)})",
            id="dict of a dict in a dict",
        ),
        pytest.param(
            {"a": [{"g": {"b": 1}}]}, "f(a=[{'g': {'b': 1}}])", "f(a=[{'g': {'b': 1}}])", id="in a list"
        ),
    ],
)
def test_a_call_as_text(arguments: Mapping[str, object], of_tool_call: str, of_text: str) -> None:
    assert write_joined([Call("f", arguments)]) == (of_tool_call,)
    assert write_nested([Call("f", arguments)]) == (of_text,)


def test_keys_of_a_dict_in_a_text_become_texts() -> None:
    """Of a dict of dicts they are names, and in a list they stay as they are."""
    arguments = {"a": {1: 2, None: 3}, "b": {1: {2: 3}}, "c": [{1: 2}]}
    assert write_nested([Call("f", arguments)]) == ("f(a={'1': 2, 'None': 3}, b=1(2=3), c=[{1: 2}])",)
    assert write_joined([Call("f", {"a": {1: 2}})]) == ("f(a={1: 2})",)


@pytest.mark.parametrize("write", [write_joined, write_spaced, write_nested])
def test_calls_keep_their_order_and_names(write: CallWriter) -> None:
    calls = [Call("b.c", {}), Call("a", {"x": 1}), Call("b.c", {})]
    assert write(calls) == ("b.c()", "a(x=1)", "b.c()")
    assert write([]) == ()


def test_arguments_stand_behind_commas_with_or_without_a_space() -> None:
    calls = [Call("f", {"x": 1, "y": 2})]
    assert (write_joined(calls), write_spaced(calls)) == (("f(x=1,y=2)",), ("f(x=1, y=2)",))


def test_arguments_without_a_name_are_lost() -> None:
    assert write_nested([Call("f", {"a": 1}, (2, 3))]) == ("f(a=1)",)


@each_case("arguments", [{"a": {}}, {"b": 1, "a": {}}, {"a": {"g": {"b": {}}}}, {"a": {"b": 1, "c": {}}}])
def test_an_empty_dict_makes_a_text_undecodable_but_no_tool_call(arguments: Mapping[str, object]) -> None:
    with pytest.raises(Undecodable, match="an empty dict reads as a call without a name"):
        write_nested([Call("g", {}), Call("f", arguments)])
    (text,) = write_joined([Call("f", arguments)])
    assert "{}" in text


@pytest.mark.parametrize("write", [write_joined, write_nested])
def test_arguments_must_be_a_dict(write: CallWriter) -> None:
    with pytest.raises(Undecodable, match="the arguments of f are list"):
        write([Call("f", [1])])  # type: ignore[arg-type]


# What an answer wants carried out


@each_case(
    ("completion", "calls"),
    [
        pytest.param(
            tool_calls(("f", '{"a": 1, "b": null}'), ("g", "{}")), ("f(a=1,b=None)", "g()"), id="JSON"
        ),
        pytest.param(tool_calls(("f", {"a": {"g": {}}})), ("f(a={'g': {}})",), id="objects"),
        pytest.param(Completion(text="So.", tool_calls=(ToolCall("f", "{}"),)), ("f()",), id="beside a text"),
        pytest.param(tool_calls(("f", '{"a": ')), (), id="cut"),
        pytest.param(tool_calls(("f", "{}"), ("g", "{")), (), id="the second is cut"),
        pytest.param(tool_calls(("f", "")), (), id="no JSON"),
        pytest.param(tool_calls(("f", "[1]")), (), id="a list"),
        pytest.param(tool_calls(("f", "null")), (), id="null"),
        pytest.param(tool_calls(("f", "[" * 100_000)), (), id="nested"),
        pytest.param(Completion(tool_calls=("f()", ToolCall("f", "{}"))), (), id="a text among them"),
        pytest.param(Completion(tool_calls=()), (), id="none"),
        pytest.param(Completion(text="[f(a=1)]"), (), id="text"),
        pytest.param(Completion(text=""), (), id="empty text"),
        pytest.param(Completion(), (), id="nothing"),
    ],
)
def test_tool_calls_are_written_as_texts_to_carry_out(completion: Completion, calls: tuple[str, ...]) -> None:
    assert list_calls_to_make(completion, "tool_calls") == calls


@each_case(
    ("text", "calls"),
    [
        pytest.param("[f(a=1,b='x'), g()]", ("f(a=1, b='x')", "g()"), id="calls"),
        pytest.param("f(a=g(b=h(c=1)))", ("f(a=g(b=h(c=1)))",), id="nested"),
        pytest.param("[f(a={'g': {'b': 1}})]", ("f(a=g(b=1))",), id="a dict of a dict"),
        pytest.param("[f(a={'b': 1})]", ("f(a={'b': 1})",), id="a dict"),
        pytest.param("[f(a={})]", (), id="an empty dict"),
        pytest.param("[g(), f(a={})]", (), id="an empty dict in the second"),
        pytest.param("[]", (), id="empty list"),
        pytest.param("[f(a=1]", (), id="cut"),
        pytest.param("I have done it.", (), id="prose"),
        pytest.param("", (), id="empty"),
        pytest.param(f"[f(a={'{1: ' * 3000}2{'}' * 3000})]", (), id="deep"),
    ],
)
def test_the_calls_in_a_text_stay_as_they_are_written(text: str, calls: tuple[str, ...]) -> None:
    assert list_calls_to_make(Completion(text=text), "python") == calls
    assert list_calls_to_make(Completion(text=text, tool_calls=(ToolCall("h", "{}"),)), "python") == calls


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"a": {"g": {"b": 1}}, "c": 2}}\n</tool_call>'),
        ("xlam", '[{"name": "f", "arguments": {"a": {"g": {"b": 1}}, "c": 2}}]'),
    ],
)
def test_calls_in_a_syntax_of_its_own_are_written_as_texts(syntax: str, text: str) -> None:
    assert list_calls_to_make(Completion(text=text), syntax) == ("f(a=g(b=1), c=2)",)
    assert list_calls_to_make(Completion(text=text[:-1]), syntax) != ("f(a=g(b=1), c=2)",)


def test_without_a_text_nothing_is_carried_out() -> None:
    assert list_calls_to_make(Completion(tool_calls=(ToolCall("f", "{}"),)), "python") == ()
