from __future__ import annotations

import pytest

from pytest_fcbench.codecs.decoders import wrapping
from tests.cases import each_case
from tests.codecs.hostile import must_end


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
        ("[f()", "[f()"),
        ("f()]", "f()]"),
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
