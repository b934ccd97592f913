"""The curve of scores over levels of pressure, and where it breaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.domain.pressure import PressureKind
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdicts
from pytest_fcbench.present.charts.plots import Point, draw_levels
from pytest_fcbench.present.score_tables import tabulate_pressure
from pytest_fcbench.scorecard.aggregate.pressure import BreakingPoint, fit_breaking_point, measure_pressure
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record
from tests.scorecard.aggregate.simulate_pressure import MODELS, main

LEVELS = (0, 8, 32, 128)
WRONG = Failed("value_error:string", "wrong")
UNSCORED = NotScored("timeout", "too slow")


def make_curve(
    passes: Callable[[int, int], bool], entries: int = 30, levels: Sequence[int] = LEVELS
) -> list[Record]:
    """Make Records of entries at each level, of which ``passes`` says whether they pass."""
    records = []
    for number in range(entries):
        for level in levels:
            record = make_record(Passed() if passes(number, level) else WRONG, number=number)
            records.append(replace(record, entry=f"{record.entry}+distractors={level}"))
    return records


def measure(records: Sequence[Record]) -> BreakingPoint:
    return measure_pressure(records, Profile.CORRECTED)[PressureKind.DISTRACTORS].breaking_point


def test_a_model_that_breaks_between_two_levels_has_all_between_them_in_its_interval() -> None:
    """Nothing says where between 8 and 32 it breaks, and the interval says so."""
    point = measure(make_curve(lambda number, level: level < 20))
    assert point.low is not None
    assert point.high is not None
    assert 8 <= point.low < 9
    assert 29 < point.high <= 32
    assert point.level is not None
    assert point.low < point.level < point.high
    assert point.start == 1
    assert str(point).startswith("breaks at 1")


def test_a_model_that_breaks_nowhere_is_not_reached() -> None:
    """Above which level the score is not halved stands in the interval."""
    point = measure(make_curve(lambda number, level: number % 10 > 0))
    assert point.level is point.high is None
    assert point.low is not None
    assert point.low > 64
    assert str(point).startswith("breaking point not reached (95% CI ")
    rising = measure(make_curve(lambda number, level: level > 10 or number < 10))
    assert rising.level is None


def test_a_break_that_chance_explains_is_not_named() -> None:
    """Few entries pass, and one of them is lost at the highest level."""
    records = make_curve(lambda number, level: number < 2 and (number > 0 or level < 128))
    point = measure(records)
    assert point.level is not None
    assert point.high is None
    assert re.fullmatch(r"breaking point not certain \(95% CI [\d.]+ or more\)", str(point))
    table = tabulate_pressure(records, Profile.CORRECTED)
    assert table
    assert table.rows[-1][3] == "not certain"


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        (make_curve(lambda number, level: level < 20, levels=(0, 32)), "a curve needs 3 levels"),
        (
            [
                record
                if record.entry.endswith("=0")
                else replace(record, verdicts=Verdicts(UNSCORED, UNSCORED))
                for record in make_curve(lambda number, level: level < 20)
            ],
            "a curve needs 3 levels",
        ),
        (make_curve(lambda number, level: level < 20, entries=9), "a curve needs 10 independent entries"),
        (make_curve(lambda number, level: False), "no entry passed at any level"),
    ],
)
def test_too_little_for_a_curve_is_said(records: list[Record], reason: str) -> None:
    """No breaking point is made up."""
    point = measure(records)
    assert (point.level, point.low, point.high, point.reason) == (None, None, None, reason)
    assert str(point) == f"no breaking point, {reason}"


def test_entries_of_a_cluster_widen_the_interval() -> None:
    """Entries that pass and fail together say less about the point than independent ones."""
    counts = [[(5, 5), (5, 5), (5, 5) if n % 2 else (0, 5), (0, 5)] for n in range(20)]
    apart = [[(each, 1) for each in (1, 1, n % 2, 0)] for n in range(100)]
    together, alone = (fit_breaking_point(LEVELS, each) for each in (counts, apart))
    assert together.level == alone.level
    limits = [(each.low, each.high) for each in (together, alone)]
    (low, high), (own_low, own_high) = [(low or 0.0, high or 1e9) for low, high in limits]
    assert low < own_low
    assert own_high < high


def test_levels_have_scores_of_their_own() -> None:
    """Levels come in order; what was not scored counts in none, and other entries belong to no level."""
    records = make_curve(lambda number, level: level < 20 and number % 2 == 0)
    records[0] = replace(records[0], verdicts=replace(records[0].verdicts, corrected=UNSCORED))
    (curve,) = measure_pressure([*records, make_record(WRONG)], Profile.CORRECTED).values()
    assert [*curve.levels] == ["0", "8", "32", "128"]
    assert [(of.passed, of.scored) for of in curve.levels.values()] == [(14, 29), (15, 30), (0, 30), (0, 30)]
    assert measure_pressure([make_record(WRONG)], Profile.CORRECTED) == {}


def test_the_table_has_a_row_for_each_level_and_the_breaking_point() -> None:
    """Rows of two runs can stand beside each other by their names."""
    table = tabulate_pressure(make_curve(lambda number, level: level < 20), Profile.CORRECTED)
    assert table
    names = [row[0] for row in table.rows]
    assert names == [*(f"distractors {level}" for level in LEVELS), "distractors breaks at"]
    assert table.rows[1][1:4] == ("30", "30", "100.0%")
    assert table.rows[-1][3:] == ("16.4", "8.19 to 31")
    assert not tabulate_pressure([make_record(WRONG)], Profile.CORRECTED)
    few = tabulate_pressure(make_curve(lambda number, level: True, entries=2), Profile.CORRECTED)
    assert few
    assert few.rows[-1][3:] == ("-", "-")
    assert few.notes[0] == "distractors: no breaking point, a curve needs 10 independent entries"


def test_the_chart_joins_the_levels_of_each_model() -> None:
    """Levels stand at their logarithms, with their numbers below."""
    points = [Point(series, x, 0.5, 0.4, 0.6) for series in (0, 1) for x in (0.0, 3.0, 5.0)]
    chart = draw_levels(points, {0.0: "0", 3.0: "8", 5.0: "32"}, "distractors", "By level.")
    assert all(f">{text}<" in chart for text in ("0", "8", "32", "distractors"))
    assert chart.count("<polyline") > 6


@pytest.mark.slow
def test_intervals_hold_the_known_breaking_point() -> None:
    """A few of the runs whose table stands in docs/project/simulations.md."""
    for model in MODELS[:3]:
        runs = [model.run(seed) for seed in range(40)]
        assert sum((run.low or 0) <= model.point <= (run.high or 1e9) for run in runs) >= 36


def test_a_simulation_of_a_wrong_point_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals that hold another point than the model's are told apart."""
    place = "tests.scorecard.aggregate.simulate_pressure"
    monkeypatch.setattr(f"{place}.MODELS", MODELS[:1])
    assert main(["--runs", "5"]) == 0
    monkeypatch.setattr(f"{place}.fit_breaking_point", lambda *_: BreakingPoint(5, 4, 6, 0.9))
    assert main(["--runs", "5"]) == 1
