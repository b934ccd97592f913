from __future__ import annotations

import pytest

from pytest_fcbench.codecs.decoders import wrapping
from tests.codecs.hostile import must_end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("f()", "[f()]", id="bare"),
        pytest.param("\n `[f()]` \n", "[f()]", id="spaces and backticks"),
        pytest.param("[f()", "[f()]", id="end missing"),
        pytest.param("f(x=[1])", "[f(x=[1])]", id="value in brackets"),
        pytest.param("f(x=[1]", "[f(x=[1]", id="bracket of a value taken for the end"),
        pytest.param("\t[f()]", "[\t[f()]", id="tab stays"),
        pytest.param("", "[]", id="empty"),
    ],
)
def test_missing_brackets_are_added(text: str, expected: str) -> None:
    assert wrapping.add_brackets(text) == expected


@pytest.mark.parametrize(
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
