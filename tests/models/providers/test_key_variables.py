"""What is told about the key of a model names its variable and never the key."""

from __future__ import annotations

import pytest

from pytest_fcbench.models.providers.key_variables import describe_key, find_variable, read_key_variables

VARIABLES = ("A_KEY_OF_TESTS", "ANOTHER_KEY_OF_TESTS")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_the_first_variable_that_holds_something_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[0], " ")
    assert find_variable(VARIABLES) is None
    monkeypatch.setenv(VARIABLES[1], "secret")
    assert find_variable(VARIABLES) == VARIABLES[1]
    assert describe_key("m", VARIABLES) == "the key came from ANOTHER_KEY_OF_TESTS"


def test_all_variables_are_named_where_none_holds_a_key() -> None:
    told = "no API key is set in A_KEY_OF_TESTS or ANOTHER_KEY_OF_TESTS"
    assert describe_key("m", VARIABLES) == told


def test_a_key_for_openai_is_told_where_it_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert describe_key("hosted_vllm/x", VARIABLES[:1]) == (
        "no API key is set in A_KEY_OF_TESTS (OPENAI_API_KEY is set, but not read for hosted_vllm/x)"
    )
    assert describe_key("gpt-4o", read_key_variables()["openai"]) == "the key came from OPENAI_API_KEY"
