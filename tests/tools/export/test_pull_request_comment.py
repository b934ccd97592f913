"""Comments on pull requests: found again by their mark, and never longer than GitHub takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.scorecard.run_facts import BROKEN, WORDS, RuleOutcome
from pytest_fcbench.tools.export.pull_request_comment import LONGEST, MARK, render_text
from tests.factories import make_record
from tests.hostile_texts import HOSTILE_TEXTS
from tests.present.test_hostile_texts import describe_markdown
from tests.tools.export.runs import make_order, make_run


def test_a_comment_begins_with_its_mark() -> None:
    lines = list(render_text(make_order()))
    assert lines[0] == f"{MARK}\n"
    assert any(line.startswith("| parallel | 2 | 1 | 1 | 0 | 50.00% |") for line in lines)


def test_a_comment_lists_what_became_worse() -> None:
    before = make_run("before")
    better = [replace(each, verdicts=make_record(Passed()).verdicts) for each in before.records]
    text = "".join(render_text(make_order(baseline=replace(before, records=tuple(better)))))
    assert "Worse than the baseline (2)" in text
    assert "core:parallel\\_1" in text


def test_a_comment_is_cut_at_the_limit() -> None:
    outcomes = tuple(RuleOutcome(f"overall>=0.{n}", WORDS[BROKEN], "x" * 500) for n in range(200))
    text = "".join(render_text(make_order(replace(make_run(), gate=outcomes))))
    assert len(text) <= LONGEST
    assert text.endswith("The rest is too long for a comment; the scorecard has it.\n")


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_a_comment_has_the_form_of_a_harmless_one(text: str) -> None:
    hostile, harmless = (
        describe_markdown("".join(render_text(make_order(make_run(text=said)))).splitlines()[1:])
        for said in (text, "word")
    )
    assert hostile == harmless
