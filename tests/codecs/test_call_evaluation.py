"""A call written as text is carried out by known functions, and nothing is evaluated."""

from __future__ import annotations

import pytest

from pytest_fcbench.codecs.call_evaluation import Functions, NoCallError, carry_out_call
from pytest_fcbench.codecs.decoders.outcome import Undecodable

FUNCTIONS: Functions = {"add": lambda a, b=1: a + b, "pair": lambda *a, **b: [a, b], "api.same": lambda x: x}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("add(1)", 2),
        ("add(a=add(1), b=add(2, 3))", 7),
        (" \tadd(2*3, -1)", 5),
        ("api.same(x={'k': [1, (2, None), {3}]})", {"k": [1, (2, None), {3}]}),
        ("api.same(pair(1, b=2)[0])", (1,)),
        ("add(**{'a': 1})", 2),
        ("api.same(f'text')", "text"),
    ],
)
def test_a_call_returns_what_its_function_does(text: str, value: object) -> None:
    assert carry_out_call(text, FUNCTIONS) == value


@pytest.mark.parametrize(
    "text",
    [
        *(
            "1",
            "",
            "add",
            "add(1",
            "print(1)",
            "api.other(x=1)",
            "api.same.__class__(1)",
            "add(a=x)",
            "add(*[1])",
        ),
        *(
            "add(**1)",
            "add(**{'a': 1}, a=2)",
            "add([1 for _ in ()])",
            "add(1).real",
            "(lambda: 1)()",
            "add(1);add(1)",
        ),
        *("add(f'{1}')", "api.same({**{}})", "api.same('a'*10**9)", "add(9**9**9)"),
    ],
)
def test_a_text_that_is_no_plain_call_is_refused(text: str) -> None:
    with pytest.raises((NoCallError, Undecodable)):
        carry_out_call(text, FUNCTIONS)


def test_what_a_function_raises_comes_through() -> None:
    with pytest.raises(TypeError):
        carry_out_call("add()", FUNCTIONS)


def test_arguments_cannot_grow_without_end() -> None:
    text = "'" + "x" * 90_000 + "'"
    with pytest.raises(NoCallError, match="more than 1,000,000 characters"):
        carry_out_call(f"api.same(x=[{', '.join([text] * 12)}])", FUNCTIONS)
