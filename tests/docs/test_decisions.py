"""Each decision has a short section: the problem, the choice, its cost."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGES = sorted((ROOT / "docs" / "project").glob("decisions-*.md"))
SECTIONS = [
    pytest.param(section, id=section.partition("\n")[0])
    for path in PAGES
    for section in path.read_text(encoding="utf-8").split("\n## ")[1:]
]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_decision_states_problem_choice_and_cost(section: str) -> None:
    assert re.findall(r"^\*\*(\w+)\.\*\*", section, re.MULTILINE) == ["Problem", "Choice", "Cost"]
    assert len(section.split()) < 500, "one page, not an essay"


def test_there_are_pages_of_decisions() -> None:
    assert len(SECTIONS) > 40
