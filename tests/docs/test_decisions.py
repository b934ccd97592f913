"""Each decision has a short page: the problem, the choice, its cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = sorted(path for path in (ROOT / "docs" / "decisions").glob("*.md") if path.stem != "index")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_decision_states_problem_choice_and_cost(path: Path) -> None:
    title, *paragraphs = path.read_text(encoding="utf-8").strip().split("\n\n")
    assert title.startswith("# ")
    parts = [text.partition(".**")[0] for text in paragraphs if text.startswith("**")]
    assert parts == ["**Problem", "**Choice", "**Cost"]
    assert sum(len(text.split()) for text in paragraphs) < 500, "one page, not an essay"
    index = (path.parent / "index.md").read_text(encoding="utf-8")
    assert f"]({path.name})" in index
