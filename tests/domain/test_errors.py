"""Errors are one tree, survive a process boundary, and name what would have been right."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pytest_fcbench.domain import errors
from pytest_fcbench.domain.errors import (
    FcbenchError,
    NotScoredError,
    PackError,
    PackMissing,
    SuiteError,
    UsageError,
    describe_unknown_name,
)
from tests.cases import each_case


@each_case("kind", [UsageError, SuiteError, PackError, PackMissing, NotScoredError])
def test_every_error_is_one_of_ours(kind: type[Exception]) -> None:
    assert issubclass(kind, FcbenchError)


def test_a_missing_pack_is_a_pack_error() -> None:
    assert issubclass(PackMissing, PackError)


def test_the_tree_in_the_docstring_names_every_class() -> None:
    classes = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    ]
    places = [(errors.__doc__ or "").find(f" {name} ") for name in classes if name != "FcbenchError"]
    assert -1 not in places
    assert all(first < second for first, second in pairwise(places))


def test_not_scored_tells_cause_and_reason() -> None:
    error = NotScoredError("timeout", "no answer in 600 s")
    assert (error.cause, error.reason, str(error)) == ("timeout", "no answer in 600 s", "no answer in 600 s")


@each_case(
    ("value", "sentence"),
    [
        pytest.param(
            "appel", "unknown fruit 'appel'. Did you mean 'apple'? Valid: apple, pear, peach.", id="one near"
        ),
        pytest.param(
            "pearch",
            "unknown fruit 'pearch'. Did you mean 'peach' or 'pear'? Valid: apple, pear, peach.",
            id="two near",
        ),
        pytest.param("fig", "unknown fruit 'fig'. Valid: apple, pear, peach.", id="none near"),
        pytest.param("", "unknown fruit ''. Valid: apple, pear, peach.", id="empty"),
        pytest.param("a\nb", "unknown fruit 'a\\nb'. Valid: apple, pear, peach.", id="control characters"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_and_all_valid_ones(value: str, sentence: str) -> None:
    assert describe_unknown_name("fruit", value, iter(["apple", "pear", "peach"])) == sentence


def test_a_great_many_names_are_counted() -> None:
    names = [f"parallel_{number}" for number in range(1_000)]
    assert describe_unknown_name("entry", "paralel_7", names) == (
        "unknown entry 'paralel_7'. Did you mean 'parallel_7' or 'parallel_97' or 'parallel_87'? "
        "There are 1,000 valid names; 'pytest --collect-only -q' lists them."
    )
    assert describe_unknown_name("fruit", "parallel", names).endswith("There are 1,000 valid names.")
    # Nothing else would say which there are.
    assert "Valid: parallel_0, parallel_1, " in describe_unknown_name("fruit", "fig", names)
