"""What is ordered: the score that is shown, and the time at which a run ended."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.tools.export.formats import FORMATS, describe_conditions, find_end
from tests.cases import each_case
from tests.factories import make_card
from tests.tools.export.runs import make_order, make_records, make_run


def test_the_main_score_is_shown_by_default() -> None:
    assert make_order().find_metric() == "all"
    assert make_order(metric="simple").find_metric() == "simple"
    one, other = (make_card({name: [True]}) for name in ("parallel", "multiple"))
    assert make_order(one, one).find_metric() == "parallel"
    assert make_order(one, other).find_metric() == "all"


def test_a_formula_of_which_parts_were_not_run_has_a_score_where_it_is_asked_for() -> None:
    run = make_run()
    assert make_order().find_score(run, "non_live") is None
    assert (score := make_order(metric="non_live").find_score(run, "non_live"))
    assert score.accuracy == pytest.approx((0.5 / 3 + 1 + 0.5 + 0) / 4)


def test_a_score_that_no_run_has_is_refused() -> None:
    with pytest.raises(UsageError, match="--metric=live: unknown metric 'live'"):
        make_order(metric="live").find_metric()


def test_names_of_a_scorecard_are_printable_in_the_refusal() -> None:
    record = replace(make_records()[0], category="own\x1b]0;title\x07\u202e")
    with pytest.raises(UsageError) as refused:
        make_order(replace(make_run(), records=(record,)), metric="nope").find_metric()
    assert str(refused.value).isprintable()
    assert r"own\x1b]0;title\x07\u202e" in str(refused.value)


def test_a_score_of_nothing_is_none() -> None:
    unscored = replace(make_run(), records=(make_records()[2],))
    order = make_order(unscored)
    assert order.find_score(unscored, "simple_python") is None
    assert order.find_score(make_run(), "nothing") is None


def test_a_part_of_a_shard_is_told_as_both() -> None:
    run = make_run()
    both = replace(run, facts=replace(run.facts, narrowed_by="-k", shard="1/2"))
    assert describe_conditions(both)[:2] == [
        "only the entries selected by -k",
        "only the entries selected by shard 1/2",
    ]


@each_case(
    ("created_s", "end"),
    [(0.0, datetime(1970, 1, 1, tzinfo=UTC)), (None, None), (1e18, None), (float("nan"), None)],
)
def test_the_end_of_a_run_is_a_time_or_not_known(created_s: float | None, end: datetime | None) -> None:
    assert find_end(replace(make_run(), created_s=created_s)) == end


def test_a_package_that_cannot_be_imported_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # It is found, so the extra counts as installed, but a library that it needs is not.
    (tmp_path / "inspect_ai.py").write_text("raise ImportError('libone.so is missing')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [each for each in sys.modules if each.partition(".")[0] == "inspect_ai"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "pytest_fcbench.tools.export.inspect_log", raising=False)
    monkeypatch.delattr("pytest_fcbench.tools.export.inspect_log", raising=False)
    with pytest.raises(ImportError, match=r"libone\.so is missing"):
        FORMATS["inspect"].write_path(make_order(), tmp_path / "run.json")
