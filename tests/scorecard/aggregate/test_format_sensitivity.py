"""How much of a score is the format in which entries are put."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import comb, sqrt

import pytest

from pytest_fcbench.domain.prompting import FORMATS, PLAIN, AnswerNotation, PromptFormat, Style
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.present import score_tables as format_tables
from pytest_fcbench.present.tables import render_text
from pytest_fcbench.scorecard.aggregate.format_sensitivity import (
    Sensitivity,
    SpreadLimits,
    group_by_format,
    measure_sensitivity,
    measure_spread,
)
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_format_record, make_record

WRONG = Failed("wrong_count", "2 calls came")
LOST = NotScored("timeout", "no answer came")
NO_LIMITS = SpreadLimits(
    None, None, "they take two formats, and two independent entries that were scored in all formats"
)


def make_records(right: Callable[[int, PromptFormat], bool], entries: int = 20) -> list[Record]:
    """Make the Records of a model that is right where it is said."""
    return [
        make_format_record(entry, number, None if right(entry, chosen) else WRONG)
        for entry in range(entries)
        for number, chosen in enumerate(FORMATS)
    ]


def measure_records(found: list[Record], profile: Profile = Profile.OFFICIAL) -> Sensitivity:
    sensitive = measure_sensitivity(found, profile)
    assert sensitive is not None
    return sensitive


def test_the_spread_is_rounded_as_officially() -> None:
    """Sample deviation and variance, of points."""
    assert measure_spread([0.5, 0.25, 0.9]) == {"max_delta": 65.0, "std": 32.79, "variance": 1075.0}
    assert measure_spread([1 / 3, 2 / 3]) == {"max_delta": 33.33, "std": 23.57, "variance": 555.56}


@pytest.mark.parametrize("accuracies", [[], [0.4]])
def test_nothing_is_apart_of_a_single_format(accuracies: list[float]) -> None:
    assert measure_spread(accuracies) == {"max_delta": 0.0, "std": 0.0, "variance": 0.0}


def test_records_by_format_come_in_the_official_order() -> None:
    found = group_by_format([*reversed(make_records(lambda entry, chosen: True, entries=2)), make_record()])
    assert list(found) == list(FORMATS)
    assert {len(part) for part in found.values()} == {2}


def test_without_variations_nothing_is_told() -> None:
    assert measure_sensitivity([make_record()], Profile.OFFICIAL) is None
    assert measure_sensitivity([make_format_record(0, 0, LOST)], Profile.OFFICIAL) is None
    assert list(format_tables.tabulate_formats([make_record()], Profile.OFFICIAL)) == []


def test_entries_of_a_cluster_are_drawn_together() -> None:
    """Five entries of a cluster that pass and fail alike tell no more than one."""
    alone = make_records(
        lambda entry, chosen: entry // 5 % 4 == 0 or chosen.returned is not AnswerNotation.JSON, entries=100
    )
    together = [replace(r, cluster=f"story_{n // len(FORMATS) // 5}") for n, r in enumerate(alone)]
    first, second = measure_records(alone), measure_records(together)
    assert first.max_delta == second.max_delta
    assert first.intervals.max_delta is not None
    assert second.intervals.max_delta is not None
    narrow, wide = (high - low for low, high in (first.intervals.max_delta, second.intervals.max_delta))
    assert narrow < 0.7 * wide
    assert [cost.difference for cost in first.costs] == [cost.difference for cost in second.costs]


def test_one_cluster_alone_has_no_limits() -> None:
    found = make_records(lambda entry, chosen: entry % 2 == 0)
    assert measure_records([replace(r, cluster="story") for r in found]).intervals == NO_LIMITS


def test_a_model_that_cannot_write_json() -> None:
    found = measure_records(
        make_records(lambda entry, chosen: entry < 10 and chosen.returned is not AnswerNotation.JSON)
    )
    accuracies = {chosen.returned: score.accuracy for chosen, score in found.formats.items()}
    assert accuracies == {"python": 0.5, "json": 0.0, "verbose_xml": 0.5, "concise_xml": 0.5}
    assert found.max_delta == 50.0
    assert found.intervals.max_delta is not None
    assert found.intervals.max_delta[0] < 50.0 < found.intervals.max_delta[1]
    assert found.max_delta_by_chance is not None
    assert found.max_delta_by_chance < 50.0
    dearest = found.costs[0]
    assert (dearest.dimension, dearest.value, dearest.usual) == ("returned", "json", "python")
    assert (dearest.pairs, dearest.gained, dearest.lost, dearest.difference) == (120, 0, 60, -0.5)
    assert dearest.interval.low < -0.5 < dearest.interval.high < 0
    assert {(cost.gained, cost.lost) for cost in found.costs[1:]} == {(0, 0)}


def test_the_pairs_of_each_dimension() -> None:
    found = measure_records(make_records(lambda entry, chosen: chosen.style is Style.CLASSIC))
    pairs = {(cost.dimension, cost.value): cost.pairs for cost in found.costs}
    assert pairs == {
        ("returned", "json"): 120,
        ("returned", "verbose_xml"): 120,
        ("returned", "concise_xml"): 120,
        ("tagged", "True"): 240,
        ("docs", "python"): 160,
        ("docs", "xml"): 160,
        ("layout", "markdown"): 20,
        ("style", "experimental"): 20,
    }
    assert found.costs[0].difference == -1.0


def test_a_model_that_does_not_care_is_within_what_chance_makes() -> None:
    """Wrong at every seventh place, wherever that is."""
    found = measure_records(make_records(lambda entry, chosen: (entry * 26 + FORMATS.index(chosen)) % 7 > 0))
    assert found.max_delta_by_chance is not None
    assert 0 < found.max_delta <= found.max_delta_by_chance


def test_entries_that_were_not_scored_are_out() -> None:
    made = make_records(lambda entry, chosen: True, entries=3)
    plain = FORMATS.index(PLAIN)
    made[plain] = make_format_record(0, plain, LOST)
    found = measure_records(made)
    assert found.formats[PLAIN].scored == 2
    assert found.formats[FORMATS[0]].scored == 3
    markdown = next(cost for cost in found.costs if cost.value == "markdown")
    assert markdown.pairs == 2


def test_trials_of_an_entry_are_paired_by_number() -> None:
    made = [
        make_format_record(
            entry, FORMATS.index(chosen), WRONG if chosen is FORMATS[24] and trial == 2 else None, trial=trial
        )
        for entry in range(3)
        for chosen in (PLAIN, FORMATS[24])
        for trial in (1, 2)
    ]
    (cost,) = measure_records(made).costs
    assert (cost.value, cost.pairs, cost.lost, cost.gained) == ("markdown", 6, 3, 0)
    # Every entry says the same, but three tell little of others.
    assert cost.interval.low < -0.5 < cost.interval.high


def test_a_single_entry_has_no_intervals() -> None:
    found = measure_records(make_records(lambda entry, chosen: chosen.tagged, entries=1))
    assert (found.max_delta, found.max_delta_by_chance) == (100.0, None)
    assert found.intervals == NO_LIMITS
    assert min(cost.interval.high - cost.interval.low for cost in found.costs) > 1.8


def test_profiles_are_told_apart() -> None:
    made = [make_format_record(0, 0, None, WRONG), make_format_record(0, 1, None)]
    assert measure_records(made).max_delta == 0.0
    assert measure_records(made, Profile.CORRECTED).max_delta == 100.0


@pytest.mark.parametrize(
    ("entries", "right", "reason"),
    [
        (19, 1, "19 independent entries in all formats, of which a bootstrap needs 20"),
        (20, 1, None),
        (20, 0, "the formats make the same difference in every entry"),
    ],
)
def test_limits_that_would_lie_too_close_are_not_given(entries: int, right: int, reason: str | None) -> None:
    made = make_records(lambda entry, chosen: chosen is FORMATS[0] or entry < right, entries)
    found = measure_records(made)
    assert found.intervals.reason == reason
    assert (found.intervals.max_delta is None, found.intervals.std is None) == (bool(reason), bool(reason))
    assert found.max_delta_by_chance is not None


def _find_binomial_quantile(tries: int, chance: float, share: float) -> int:
    """Find the lowest number of hits that at most so many tries have in this share of all cases."""
    below = 0.0
    for hits in range(tries + 1):
        below += comb(tries, hits) * chance**hits * (1 - chance) ** (tries - hits)
        if below >= share:
            return hits
    return tries


def test_the_limits_leave_out_a_fortieth_at_each_end() -> None:
    """A draw has each of 40 entries as often as a binomial says; one format is wrong on seven of them."""
    made = [
        make_format_record(entry, number, WRONG if number and entry < 7 else None)
        for entry in range(40)
        for number in range(2)
    ]
    found = measure_records(made)
    low, high = (100 / 40 * _find_binomial_quantile(40, 7 / 40, share) for share in (0.025, 0.975))
    assert (found.max_delta, found.intervals.max_delta) == (17.5, (low, high))
    assert found.intervals.std == (round(low / sqrt(2), 2), round(high / sqrt(2), 2))
    # Dealt by chance, seven entries differ by 5 or less in 126 of 128 cases, by 3 or less in 112.
    assert found.max_delta_by_chance == 100 / 40 * 5


def test_the_maximum_delta_by_chance_is_rounded() -> None:
    """However a single wrong answer is dealt, two formats are one of three entries apart."""
    made = [
        make_format_record(entry, number, WRONG if entry == number == 1 else None)
        for entry in range(3)
        for number in range(2)
    ]
    assert measure_records(made).max_delta_by_chance == 33.33


def test_the_same_records_give_the_same_limits_in_every_version() -> None:
    """Of 2,000 draws with one seed, rounded to two digits."""
    found = measure_records(
        make_records(lambda entry, chosen: (entry**2 + 3 * FORMATS.index(chosen) * entry) % 7 > 2)
    )
    assert found.intervals == SpreadLimits(max_delta=(35.0, 70.0), std=(12.73, 23.24))
    assert found.max_delta_by_chance == 50.0


def test_a_trial_that_only_one_format_scored_is_no_pair() -> None:
    other = FORMATS[24]
    made = [
        make_format_record(0, FORMATS.index(PLAIN), None, trial=1),
        make_format_record(0, FORMATS.index(other), None, trial=1),
        make_format_record(0, FORMATS.index(other), WRONG, trial=2),
    ]
    (cost,) = measure_records(made).costs
    assert (cost.pairs, cost.gained, cost.lost) == (1, 0, 0)


@pytest.mark.parametrize(("profile", "lost"), [(Profile.OFFICIAL, 0), (Profile.CORRECTED, 1)])
def test_verdicts_of_the_profile_are_compared(profile: Profile, lost: int) -> None:
    made = [
        make_format_record(0, FORMATS.index(each), Passed(), bad)
        for each, bad in ((PLAIN, None), (FORMATS[24], WRONG))
    ]
    (cost,) = measure_records(made, profile).costs
    assert (cost.gained, cost.lost) == (0, lost)


def test_of_trials_the_share_is_drawn() -> None:
    """In one format each entry passes both of its trials; in the other one of them, but the first entry."""
    made = [
        make_format_record(entry, number, WRONG if number and trial == 2 and entry else None, trial=trial)
        for entry in range(20)
        for number in range(2)
        for trial in (1, 2)
    ]
    limits = measure_records(made).intervals.max_delta
    assert limits is not None
    assert limits[1] == 50.0


def test_of_trials_the_share_is_permuted() -> None:
    """Each entry passes half of its two trials in each format, so nothing can come apart by chance."""
    made = [
        make_format_record(entry, number, None if trial == 1 else WRONG, trial=trial)
        for entry in range(3)
        for number in range(2)
        for trial in (1, 2)
    ]
    assert measure_records(made).max_delta_by_chance == 0.0


def _render_lines(made: list[Record]) -> Iterator[str]:
    for table in format_tables.tabulate_formats(made, Profile.CORRECTED):
        yield from render_text(table)
        yield ""


def test_the_tables_tell_accuracy_spread_and_cost() -> None:
    made = [
        *(
            make_format_record(entry, 5, None if entry else WRONG, None if entry else WRONG)
            for entry in range(4)
        ),
        *(make_format_record(entry, 11, WRONG, WRONG if entry % 2 else Passed()) for entry in range(4)),
    ]
    assert list(_render_lines(made)) == [
        "format sensitivity: accuracy by prompt format (counts and intervals of the corrected profile)",
        "calls as           scored  passed  official  corrected  95% interval",
        "--------------------------------------------------------------------",
        "python, JSON docs       4       3    75.00%     75.00%    30.1-95.4%",
        "JSON, JSON docs         4       2     0.00%     50.00%    15.0-85.0%",
        "",
        "differences between formats, in points (intervals of the corrected profile)",
        "measure             official  corrected  95% interval",
        "-----------------------------------------------------",
        "maximum delta          75.00      25.00             -",
        "standard deviation     53.03      17.68             -",
        "variance             2812.50     312.50             -",
        "no intervals: 4 independent entries in all formats, of which a bootstrap needs 20",
        "if the format had no influence, the maximum delta would be below 75.00 points in 95% of such runs",
        "",
        "accuracy that a format costs on the same entries, largest loss first (corrected profile)",
        "dimension      value  instead of  pairs  gained  lost  points       95% interval",
        "--------------------------------------------------------------------------------",
        "return format  json   python          4       1     2  -25.00  -100.00 to +77.16",
        "",
    ]
