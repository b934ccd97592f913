"""The first screen: the verdict on each run, what changed, and categories by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.present.html import overview, sections
from pytest_fcbench.present.html.sections import ReportedModel
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import RuleOutcome
from tests.factories import make_record
from tests.present.html.test_sections import load_card, prepare_runs

WRONG = Failed("wrong_count", "2 calls came, 1 expected")
HELD = RuleOutcome("a>=0", "held", "yes")
BROKEN = RuleOutcome("b>=1", "broken", "no")
UNSURE = RuleOutcome("c>=1", "cannot tell", "perhaps")


def prepare_gated_run(folder: Path, *gate: RuleOutcome) -> tuple[ReportedModel, ...]:
    return sections.prepare_models([replace(load_card(folder, [make_record()]), gate=gate)])


@pytest.mark.parametrize(
    ("gate", "verdict", "broken"),
    [
        ((), None, 0),
        ((HELD,), ("gate held: 1 rule", "passed"), 0),
        ((HELD, BROKEN), ("gate broken: 1 held, 1 broken", "failed"), 1),
        ((HELD, UNSURE), ("gate cannot tell: 1 held, 1 cannot tell", "not_scored"), 1),
        ((UNSURE, BROKEN), ("gate broken: 1 cannot tell, 1 broken", "failed"), 2),
    ],
)
def test_the_verdict_is_that_of_the_gate(
    tmp_path: Path, gate: Sequence[RuleOutcome], verdict: tuple[str, str] | None, broken: int
) -> None:
    (run,) = overview.judge_runs(prepare_gated_run(tmp_path, *gate), Profile.OFFICIAL)
    assert run.verdict == verdict
    assert len(run.broken) == broken


def test_a_run_of_which_nothing_was_scored_says_so(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, [make_record(NotScored("timeout", ""))])
    (run,) = overview.judge_runs(models, Profile.OFFICIAL)
    assert run.verdict == ("nothing was scored", "not_scored")
    assert (run.passed, run.failed, run.not_scored) == (0, 0, 1)


def make_records(number: int, failed: int) -> list[Record]:
    return [make_record(*([WRONG] if n < failed else []), number=n) for n in range(number)]


def test_each_of_several_runs_is_compared_with_the_first(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, make_records(12, 0), make_records(12, 12), make_records(12, 0))
    first, worse, same = overview.judge_runs(models, Profile.OFFICIAL)
    assert first.change is None
    assert worse.change is not None
    assert (worse.change.better, worse.change.worse, worse.change.shown) == (0, 12, -1)
    assert worse.change.by_metric["simple_python"].difference.change == -1
    assert same.change is not None
    assert same.change.sentence == "none of 12 entries changed from test (card0)"


def test_runs_of_different_sizes_say_on_how_many_entries_they_are_compared(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, make_records(12, 0), make_records(15, 12), make_records(9, 0))
    told = [run.change.sentence for run in overview.judge_runs(models, Profile.OFFICIAL) if run.change]
    pairs = "; compared are the {} entries that both have scored, {} are only in test (card{})"
    assert told[0].endswith(pairs.format(12, 3, 1))
    assert told[1] == "none of 9 entries changed from test (card0)" + pairs.format(9, 3, 0)


def test_a_run_names_the_parts_of_overall_that_it_lacks(tmp_path: Path) -> None:
    shown = prepare_runs(tmp_path, [make_record(category="irrelevance")], [make_record(category="hotels")])
    part, other = (run.sentence for run in overview.judge_runs(shown, Profile.OFFICIAL))
    assert part.endswith("; no overall without non_live, live, multi_turn, agentic, live_irrelevance")
    assert "overall" not in other


def test_runs_without_a_common_entry_say_so(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, [make_record()], [make_record(number=1)])
    _, other = overview.judge_runs(models, Profile.OFFICIAL)
    assert other.change is not None
    assert other.change.sentence == "no scored entry in common with test (card0)"
    assert other.change.by_metric == {}


def test_categories_stand_in_their_groups(tmp_path: Path) -> None:
    live = replace(make_record(category="live_simple"), group="live")
    models = prepare_runs(tmp_path, [make_record(), make_record(WRONG, category="parallel"), live])
    found = list(overview.group_categories(models, Profile.OFFICIAL))
    assert [(block.group.name, [row.name for row in block.categories]) for block in found] == [
        ("non_live", ["simple_python", "parallel"]),
        ("live", ["live_simple"]),
    ]
    assert [row.failed for row in found[0].categories] == [0, 1]


def test_own_suites_are_groups_and_a_run_without_a_category_has_no_mark(tmp_path: Path) -> None:
    mine, yours = make_record(suite="mine"), make_record(suite="yours", category="parallel")
    models = prepare_runs(tmp_path, [mine], [mine, yours])
    first, second = overview.group_categories(models, Profile.OFFICIAL)
    assert (first.group.name, second.group.name) == ("mine", "yours")
    assert [mark.series for mark in first.categories[0].ranges] == [0, 1]
    assert [mark.series for mark in second.categories[0].ranges] == [1]
