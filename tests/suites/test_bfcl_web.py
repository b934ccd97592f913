"""The web questions of the pack, where it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.kinds.answers.verdict import Answers
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.suite import Suite


@pytest.fixture(scope="module")
def suite(pack_cache: Path) -> Suite:
    return bfcl.open_suite(pack_cache)


@pytest.mark.parametrize("name", ["web_search_base", "web_search_no_snippet"])
def test_a_hundred_questions_with_answers_and_without_a_trail(suite: Suite, name: str) -> None:
    entries = suite.load(CATEGORIES[name])
    assert [entry.id for entry in entries] == [f"{name}_{number}" for number in range(100)]
    for entry in entries:
        assert isinstance(entry.expectation, Answers)
        assert entry.expectation.texts
        assert not entry.expectation.trail
        assert [doc.name for doc in entry.functions] == ["search_engine_query", "fetch_url_content"]
        assert entry.scene is not None
        assert entry.scene.config["web_search"]["show_snippet"] is (name == "web_search_base")


def test_they_are_about_the_web(suite: Suite) -> None:
    assert suite.web is None
