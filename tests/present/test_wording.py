"""Names and numbers of tables about several scorecards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.wording import (
    describe_bill,
    describe_path_settings,
    format_dollars,
    format_limits,
    format_number,
    select_outermost,
)
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_steps
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from pytest_fcbench.scorecard.compare.comparison import name_scorecards, name_suite, name_suites
from pytest_fcbench.scorecard.record import Usage
from tests.factories import make_card

CARD = make_card({"parallel": [True]}, "m")


def test_a_model_is_told_apart_by_mode_then_by_file_then_by_folder() -> None:
    prompt = make_card({}, "m", mode="prompt")
    again = replace(CARD, path=Path("b.json"))
    below = replace(CARD, path=Path("old/b.json"))
    other = make_card({}, "n")
    assert name_scorecards([CARD, other]) == ["m", "n"]
    assert name_scorecards([CARD, prompt, other]) == ["m (fc)", "m (prompt)", "n"]
    assert name_scorecards([CARD, prompt, again]) == ["m (m.json)", "m (prompt)", "m (b.json)"]
    assert name_scorecards([again, below]) == ["m (b.json)", "m (old/b.json)"]
    assert name_scorecards([CARD, CARD]) == ["m (m.json)", "m (m.json)"]


def test_path_settings_are_told_in_words() -> None:
    assert describe_path_settings(None) == "-"
    assert describe_path_settings(PathSettings(Profile.OFFICIAL)) == (
        "by the official rules, judge builtin, similarity structured, recorded replies"
    )
    assert describe_path_settings(PathSettings(Profile.CORRECTED, "m", "bge", live=True)) == (
        "by the corrected rules, judge m, similarity bge, live replies"
    )


def test_path_settings_say_whose_words_were_used() -> None:
    ours = PathSettings(Profile.OFFICIAL, runner="qwen")
    told = "by the official rules, judge builtin, similarity structured, recorded replies, as runner qwen, "
    assert describe_path_settings(ours) == (
        f"{told}texts of pytest-fcbench, because 'fcbench pull complexfuncbench --code PATH' has read "
        "no others"
    )
    official = replace(ours, wording="c37b284")
    assert describe_path_settings(official) == f"{told}texts of the official code (c37b284)"


def test_an_interval_is_written_in_percent() -> None:
    assert format_limits(Interval(0.25, 1.0, "wilson")) == "25.0-100.0%"
    assert format_limits(None) == "-"


def test_few_clusters_are_named_beside_an_interval() -> None:
    few = [Interval(0.393, 1.0, "wilson", clusters) for clusters in (1, 5)]
    assert [format_limits(interval) for interval in few] == [
        "39.3-100.0% (1 cluster)",
        "39.3-100.0% (5 clusters)",
    ]


def test_what_stands_beside_a_name_tells_apart_too() -> None:
    cards = [CARD, make_card({}, "m", mode="prompt")]
    assert name_scorecards(cards, lambda card: card.facts.mode) == ["m", "m"]


def test_suites_are_told_with_version_and_content() -> None:
    assert name_suites(CARD) == "core version 1"
    told = {
        "core": {"version": "2", "pack_hash": "0123456789abcdef"},
        "bfcl": {"version": "4", "pack_hash": None},
    }
    assert name_suites(make_card({}, suites=told)) == "core version 2 (sha256 0123456789ab); bfcl version 4"


def test_the_hash_of_a_team_s_own_suite_is_said_once() -> None:
    assert (
        name_suite("mine", {"version": "0123456789ab", "pack_hash": "0123456789abcdef"})
        == "mine version 0123456789ab"
    )


def test_parts_of_a_missing_group_are_not_named() -> None:
    assert select_outermost(["live_simple", "live", "agentic", "live"]) == ["live", "agentic"]


def test_unknown_numbers_are_a_dash() -> None:
    assert (format_number(None), format_number(1200), format_number(0.5, ".1%")) == ("-", "1,200", "50.0%")


def test_a_model_without_a_price_has_no_dollars_for_a_thousand_calls() -> None:
    bill = replace(measure_steps([Usage(input_tokens=5), Usage(usd=0.5)]), usd_per_1000_calls=None)
    assert list(describe_bill(bill, ["judge"])) == [
        "bill with judge: $0.5000",
        "dollars cover 1 of 2 steps; the cost of the others is not known",
    ]


def test_dollars_have_as_many_decimals_as_they_need() -> None:
    dollars = [None, 0.0, 0.00003, 0.0123, 1234.567]
    assert list(map(format_dollars, dollars)) == ["-", "0.0000", "0.000030", "0.0123", "1,234.57"]
