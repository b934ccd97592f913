"""Names and numbers for trackers."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pytest_fcbench.tools.export.trackers import collect_numbers, collect_settings, name_value
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import EARLY, ENDED_EARLY, make_run


def test_numbers_are_named_by_profile_and_score() -> None:
    numbers = collect_numbers(make_run())
    assert numbers["official/category/parallel/accuracy"] == 0.5
    assert numbers["official/group/simple/scored"] == 2.0
    assert numbers["official/overall/not_scored"] == 1.0
    assert numbers["usage/usd"] == pytest.approx(0.003)


def test_what_is_not_known_has_no_number() -> None:
    assert "official/group/live/accuracy" not in collect_numbers(make_run())


def test_settings_name_suites_and_labels() -> None:
    run = make_run()
    settings = collect_settings(replace(run, facts=replace(run.facts, against=EARLY)))
    assert (settings["suite.core"], settings["label.step"], settings["mode"]) == ("1", "1", "fc")
    assert settings["conditions"] == ENDED_EARLY


@pytest.mark.parametrize(("name", "expected"), [("live_simple", "live_simple"), ("a.b-c", "a.b-c")])
def test_a_plain_name_stays(name: str, expected: str) -> None:
    assert name_value(name) == expected


def test_every_text_has_a_plain_name_of_its_own() -> None:
    names = [name_value(text) for text in {*HOSTILE_TEXTS.values(), "", ".", "..", "a/b", "a b", "a_b"}]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9._-]+", name) or name in (".", "..")] == []
