"""The table of codes: every code that a matcher gives has a plain sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest_fcbench
from pytest_fcbench.domain.verdict import _ERRORS, Failed, Profile, Verdicts
from pytest_fcbench.present.failure_codes import (
    _read_causes,
    find_failure_code,
    group_by_cause,
    name_cause,
    read_failure_codes,
)
from tests.cases import each_case
from tests.factories import make_record

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


def test_causes_are_those_of_known_codes() -> None:
    assert _read_causes().keys() <= read_failure_codes().keys()


@each_case(
    ("code", "reason", "corrected", "cause"),
    [
        ("wrong_count", "1 call came, 3 expected", "wrong_count", "one call of several came"),
        ("wrong_count", "2 calls came, 3 expected", "wrong_count", "too few calls came"),
        ("wrong_count", "2 calls came, 1 expected", "wrong_count", "too many calls came"),
        ("wrong_count", "why", "wrong_count", "another number of calls came than expected"),
        ("ast_decoder:decoder_failed", "why", "no_call", "no call came, although one was expected"),
        ("ast_decoder:decoder_failed", "why", "unreadable", "a call came that cannot be read"),
        ("chat:empty", "why", "chat:empty", "The reply is empty"),
    ],
)
def test_a_cause_is_as_fine_as_the_verdicts_tell(code: str, reason: str, corrected: str, cause: str) -> None:
    verdicts = Verdicts(Failed(code, reason), Failed(corrected, reason))
    assert name_cause(verdicts, Profile.OFFICIAL) == cause


def test_the_most_frequent_cause_is_first_and_its_examples_differ() -> None:
    wrong, silent = Failed("wrong_count", "why"), Failed("no_call", "why")
    records = [make_record(silent), *(make_record(wrong, number=n) for n in (1, 2))]
    groups = group_by_cause([*records, make_record(wrong, category="parallel")], Profile.OFFICIAL)
    assert [[record.item_id for record in group] for group in groups.values()] == [
        ["core:simple_python_1", "core:parallel_0", "core:simple_python_2"],
        ["core:simple_python_0"],
    ]
