"""Functions written as text are read, never evaluated."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.execution.functions.lambdas import read_function
from tests.cases import each_case


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
