"""A call written as text is carried out by known functions, and nothing is evaluated."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.call_evaluation import Functions, NoCallError, carry_out_call, read_function
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.arithmetic import add_in_order
from tests.cases import each_case

FUNCTIONS: Functions = {"add": lambda a, b=1: a + b, "pair": lambda *a, **b: [a, b], "api.same": lambda x: x}


@each_case(
    ("text", "value"),
    [
        ("add(1)", 2),
        ("add(a=add(1), b=add(2, 3))", 7),
        (" \tadd(2*3, -1)", 5),
        ("api.same(x={'k': [1, (2, None), {3}]})", {"k": [1, (2, None), {3}]}),
        ("api.same(pair(1, b=2)[0])", (1,)),
        ("add(**{'a': 1})", 2),
        ("api.same(f'text')", "text"),
        ("add(10 * round(3.1))", 31),
    ],
)
def test_a_call_returns_what_its_function_does(text: str, value: object) -> None:
    assert carry_out_call(text, FUNCTIONS) == value


@each_case(
    ("text", "reason"),
    [
        ("1", "not a function call: 1"),
        ("", "not a function call: invalid syntax"),
        ("add", "not a function call: add"),
        ("add(1", "not a function call: '(' was never closed"),
        ("print(1)", "there is no function print"),
        ("api.other(x=1)", "there is no function api.other"),
        ("api.same.__class__(1)", "there is no function api.same.__class__"),
        ("add(a=x)", "there is no value x"),
        ("add(*[1])", "Starred in arithmetic would have to be evaluated"),
        ("add(**1)", "the arguments of add are not one value for each name"),
        ("add(**{'a': 1}, a=2)", "the arguments of add are not one value for each name"),
        ("add([1 for _ in ()])", "ListComp in arithmetic would have to be evaluated"),
        ("add(1).real", "not a function call: add(1).real"),
        ("(lambda: 1)()", "there is no function lambda: 1"),
        ("add(1);add(1)", "not a function call: invalid syntax"),
        ("add(f'{1}')", "JoinedStr in arithmetic would have to be evaluated"),
        ("api.same({**{}})", "Dict in arithmetic would have to be evaluated"),
        ("api.same('a'*10**9)", "the result of the arithmetic is too large"),
        ("add(9**9**9)", "the result of the arithmetic is too large"),
        ("round(2.6)", "there is no function round"),
        ("add(str([1]))", "there is no function str"),
        ("add(1 + str([1]))", "arithmetic of list would have to be evaluated"),
        ("add({[1]})", "not a key: "),
        ("add({[1]: 2})", "not a key: "),
        (f"add([{'[0] * 9, ' * 21}])", "more than 20 texts or lists are repeated"),
        (f"add({'[' * 300}{']' * 300})", "not a function call: too many nested parentheses"),
    ],
)
def test_a_text_that_is_no_plain_call_is_refused(text: str, reason: str) -> None:
    with pytest.raises((NoCallError, Undecodable), match=re.escape(reason)):
        carry_out_call(text, FUNCTIONS)


def test_a_known_function_may_have_the_name_of_one_of_python() -> None:
    functions = {**FUNCTIONS, "round": lambda value: -value}
    assert carry_out_call("add(round(2))", functions) == -1


def test_what_a_function_raises_comes_through() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        carry_out_call("add()", FUNCTIONS)


def test_arguments_cannot_grow_without_end() -> None:
    text = "'" + "x" * 90_000 + "'"
    with pytest.raises(NoCallError, match="more than 1,000,000 characters"):
        carry_out_call(f"api.same(x=[{', '.join([text] * 12)}])", FUNCTIONS)


def test_long_integers_count_among_the_characters_of_an_argument() -> None:
    functions: Functions = {"make": lambda n: [2**64_000] * n, "count": lambda x: len(x)}
    assert carry_out_call("count(make(900))", functions) == 900
    with pytest.raises(NoCallError, match="more than 1,000,000 characters"):
        carry_out_call("count(make(1000))", functions)


@each_case(
    ("text", "value"),
    [
        ("lambda x: 3*x**2 + 2*x - 1", 15.0),
        ("lambda t : -t/4", -0.5),
        ("lambda x: +x % 3 // 1", 2.0),
        ("lambda x: math.sin(x) + math.pi", math.sin(2.0) + math.pi),
        ("lambda x: abs(-x) + max(x, 3)", 5.0),
        ("lambda x: 7", 7),
        (" lambda x: x ", 2.0),
    ],
)
def test_a_function_in_text_is_read(text: str, value: float) -> None:
    assert read_function(text)(2.0) == value


@each_case(
    ("text", "reason"),
    [
        ("3*x**2", "not a lambda of one parameter"),
        ("def f(x): return x", "not a function: invalid syntax"),
        ("lambda: 1", "not a lambda of one parameter"),
        ("lambda x, y: x", "not a lambda of one parameter"),
        ("lambda x=1: x", "not a lambda of one parameter"),
        ("lambda *x: 1", "not a lambda of one parameter"),
        ("lambda x: y", "y is not arithmetic"),
        ("lambda x: 'a'", "'a' is not arithmetic"),
        ("lambda x: True", "True is not arithmetic"),
        ("lambda x: x.real", "x.real is not arithmetic"),
        ("lambda x: [x][0]", "[x][0] is not arithmetic"),
        ("lambda x: (lambda y: y)(x)", "(lambda y: y)(x) is not arithmetic"),
        ("lambda x: __import__('os').getpid()", "__import__('os').getpid() is not arithmetic"),
        (
            "lambda x: ().__class__.__bases__[0].__subclasses__()",
            "().__class__.__bases__[0].__subclasses__() is not arithmetic",
        ),
        ("lambda x: math.__dict__", "math.__dict__ is not arithmetic"),
        ("lambda x: math.factorial(100000)", "math.factorial(100000) is not arithmetic"),
        ("lambda x: open('/etc/passwd')", "open('/etc/passwd') is not arithmetic"),
        ("lambda x: eval('1')", "eval('1') is not arithmetic"),
        ("lambda x: sum(i for i in range(10**9))", "sum((i for i in range(10 ** 9))) is not arithmetic"),
        ("lambda x: [0 for _ in iter(int, 1)]", "[0 for _ in iter(int, 1)] is not arithmetic"),
        ("lambda x: 9**9**9", "the result of the arithmetic is too large"),
        ("lambda x: 1 << 10**9", "1 << 10 ** 9 is not arithmetic"),
        ("lambda x: (y := x)", "(y := x) is not arithmetic"),
        ("lambda x: x if x else 1", "x if x else 1 is not arithmetic"),
        ("lambda x: f'{x}'", "f'{x}' is not arithmetic"),
        ("lambda x: " + "(" * 500 + "x" + ")" * 500, "not a function: too many nested parentheses"),
        ("lambda x: " + "x+" * 1500 + "x", "the function must be a short text"),
        ("", "not a function: invalid syntax"),
        ("\0", "not a function: source code string cannot contain null bytes"),
        (
            "\udc80",
            "not a function: 'utf-8' codec can't encode character '\\udc80'",
        ),
    ],
)
def test_what_is_no_function(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=re.escape(reason)):
        read_function(text)(2.0)


@each_case("value", [None, 5, ["lambda x: x"], lambda x: x])
def test_what_is_no_text(value: object) -> None:
    with pytest.raises(Undecodable, match="the function must be a short text"):
        read_function(value)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6), st.floats(-5, 5))
def test_polynomials_have_the_values_of_python(factors: list[int], x: float) -> None:
    body = " + ".join(f"{factor}*x**{power}" for power, factor in enumerate(factors))
    terms = [factor * x**power for power, factor in enumerate(factors)]
    assert read_function(f"lambda x: {body}")(x) == add_in_order(terms)
