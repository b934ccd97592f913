"""Expected errors: a test that expects an exception says what its message must be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.cases import each_case
from tests.house import ROOT

WITHOUT_MESSAGE = {"KeyboardInterrupt", "StopIteration", "TimeoutError"}
"""Exceptions whose class says all: they are raised without a message."""


def find_unchecked_errors(source: str) -> Iterator[int]:
    """Yield the line of each `pytest.raises` whose exception could have any message.

    It needs either `match=`, or `as NAME` and an assertion about NAME in the same function.
    """
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    expected = [
        (function, item)
        for function in functions
        for block in ast.walk(function)
        if isinstance(block, ast.With | ast.AsyncWith)
        for item in block.items
    ]
    for function, item in expected:
        call, name = item.context_expr, item.optional_vars
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "pytest.raises":
            continue
        if any(keyword.arg == "match" for keyword in call.keywords):
            continue
        if ast.unparse(call.args[0]) in WITHOUT_MESSAGE:
            continue
        if isinstance(name, ast.Name) and any(
            isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Load)
            for node in ast.walk(function)
        ):
            continue
        yield call.lineno


@each_case(
    ("block", "lines"),
    [
        ("with pytest.raises(ValueError): read()", [2]),
        ("with open_file() as file, pytest.raises(KeyError): read(file)", [2]),
        ("with pytest.raises(ValueError) as raised: read()", [2]),
        ("with pytest.raises(ValueError, match='no file'): read()", []),
        ("with pytest.raises(ValueError) as raised: read()\n  assert raised.value.args == (1,)", []),
        ("with pytest.raises(KeyboardInterrupt): read()", []),
        ("with open_file() as file: read(file)", []),
    ],
)
def test_an_error_with_any_message_is_found(block: str, lines: list[int]) -> None:
    assert list(find_unchecked_errors(f"def test_it():\n  {block}\n")) == lines


@pytest.mark.slow
def test_every_expected_error_is_checked() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line}: say what the message must be, with match= or an assertion"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in find_unchecked_errors(path.read_text(encoding="utf-8"))
    ] == []
