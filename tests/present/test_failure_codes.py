"""The table of codes: every code that a matcher gives has a plain sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest_fcbench
from pytest_fcbench.domain.verdict import _ERRORS
from pytest_fcbench.present.failure_codes import find_failure_code, read_failure_codes
from tests.cases import each_case

_CODE = re.compile(r"[a-z_]+(:[a-z_/]+)+")
_PACKAGE = Path(pytest_fcbench.__file__).parent


def find_codes(folder: str) -> set[str]:
    """Find the texts of a room that are written as codes are."""
    return {
        node.value
        for path in (_PACKAGE / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CODE.fullmatch(node.value)
    }


def test_every_code_of_a_matcher_is_explained() -> None:
    found = (find_codes("kinds") | set(_ERRORS)) - {"unpaired", "http://"}
    assert len(found) > 40
    # Some are written without the checker's name, which is put in front of them.
    unknown = {code for code in found if not any(known.endswith(code) for known in read_failure_codes())}
    assert sorted(unknown) == []


def test_a_code_that_nobody_explained_would_be_found() -> None:
    assert "sql:wrong_result" in find_codes("kinds")
    assert "value_error:strange" not in read_failure_codes()


@each_case("code", list(read_failure_codes()))
def test_a_meaning_is_a_sentence_and_the_advice_goes_on(code: str) -> None:
    meaning, advice = find_failure_code(code)
    assert re.fullmatch(r"[A-Z].*\.", meaning)
    assert re.fullmatch(r"[a-z].*[^.]", advice)


def test_a_code_of_another_package_says_so() -> None:
    assert "another package" in find_failure_code("mine:strict").meaning
