"""Python literals evaluated node by node: with the value that ``eval`` finds, and no text is run."""

from __future__ import annotations

import re

import pytest

from pytest_fcbench.codecs.decoders import python_literal
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.python_literal import evaluate_text
from tests.cases import each_case


@each_case(
    "text",
    [
        "{'a': [1, (2, {3}, {4: 5})], 'b': None}",
        " \t[1]",
        "()",
        "{'a': 1, 'c': 0} | {'b': 2, 'c': 3} | {}",
        "[1] + [2] * 2",
        "'a' 'b'",
        "-0.5",
        "[{'amount': 10 * round(310.23 * 1000) / 1000}]",
        "round(2.6)",
        "'round(' + str(6000.0) + ')'",
    ],
)
def test_a_literal_has_the_value_that_eval_finds(text: str) -> None:
    found, expected = evaluate_text(text), eval(text)
    assert (found, type(found)) == (expected, type(expected))


@each_case(
    ("text", "reason"),
    [
        ("", "not a Python literal: invalid syntax"),
        ("[1", "not a Python literal: '[' was never closed"),
        ("\f 1", "not a Python literal: unexpected indent"),
        ("'\0'", "not a Python literal: source code string cannot contain null bytes"),
        ("f()", "Call in arithmetic would have to be evaluated"),
        ("0 or 5", "BoolOp in arithmetic would have to be evaluated"),
        ("not 0", "UnaryOp in arithmetic would have to be evaluated"),
        ("{[1]}", "not a key: unhashable type: 'list'"),
        ("f'{1}'", "JoinedStr in arithmetic would have to be evaluated"),
        ("f'{'a'}'", ""),
        ("[1] | [2]", "BinOp in arithmetic would have to be evaluated"),
        ("true", "Name in arithmetic would have to be evaluated"),
        ("{'a': {**b}}", "Dict in arithmetic would have to be evaluated"),
        ("{[1]: 2}", "not a key: unhashable type: 'list'"),
        ("1 + 'a'", "arithmetic of int and str would have to be evaluated"),
        ("'a' * 10**9", "the result of the arithmetic is too large"),
        (f"[{'[0] * 9, ' * 21}]", "more than 20 texts or lists are repeated"),
    ],
)
def test_what_is_no_literal_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}"):
        evaluate_text(text)


def test_a_literal_too_deep_for_the_parser_names_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_silently(text: str) -> object:
        raise MemoryError

    monkeypatch.setattr(python_literal, "parse_expression", fail_silently)
    with pytest.raises(Undecodable, match=r"^not a Python literal: MemoryError$"):
        evaluate_text("[1]")
