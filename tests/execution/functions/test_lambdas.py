"""Functions written as text are read, never evaluated."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.execution.functions.lambdas import read_function


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "text",
    [
        "3*x**2",
        "def f(x): return x",
        "lambda: 1",
        "lambda x, y: x",
        "lambda x=1: x",
        "lambda *x: 1",
        "lambda x: y",
        "lambda x: 'a'",
        "lambda x: True",
        "lambda x: x.real",
        "lambda x: [x][0]",
        "lambda x: (lambda y: y)(x)",
        "lambda x: __import__('os').getpid()",
        "lambda x: ().__class__.__bases__[0].__subclasses__()",
        "lambda x: math.__dict__",
        "lambda x: math.factorial(100000)",
        "lambda x: open('/etc/passwd')",
        "lambda x: eval('1')",
        "lambda x: sum(i for i in range(10**9))",
        "lambda x: [0 for _ in iter(int, 1)]",
        "lambda x: 9**9**9",
        "lambda x: 1 << 10**9",
        "lambda x: (y := x)",
        "lambda x: x if x else 1",
        "lambda x: f'{x}'",
        "lambda x: " + "(" * 500 + "x" + ")" * 500,
        "lambda x: " + "x+" * 1500 + "x",
        "",
        "\0",
        "\udc80",
    ],
)
def test_what_is_no_function(text: str) -> None:
    with pytest.raises(Undecodable):
        read_function(text)(2.0)


@pytest.mark.parametrize("value", [None, 5, ["lambda x: x"], lambda x: x])
def test_what_is_no_text(value: object) -> None:
    with pytest.raises(Undecodable):
        read_function(value)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6), st.floats(-5, 5))
def test_polynomials_have_the_values_of_python(factors: list[int], x: float) -> None:
    body = " + ".join(f"{factor}*x**{power}" for power, factor in enumerate(factors))
    terms = [factor * x**power for power, factor in enumerate(factors)]
    assert read_function(f"lambda x: {body}")(x) == add_in_order(terms)
