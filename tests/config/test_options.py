"""Options as --help shows them."""

from __future__ import annotations

import pytest

from pytest_fcbench.config.options import GROUPS, OPTIONS


def test_each_option_is_told_in_a_line() -> None:
    """Of a wide terminal, as one sentence without an end."""
    for option in OPTIONS:
        assert 10 < len(option.help) <= 110, option.key
        assert not option.help.endswith("."), option.key
        assert option.switch == (not option.metavar), option.key


def test_each_option_is_in_one_group() -> None:
    assert len({option.key for option in OPTIONS}) == len(OPTIONS) == sum(len(g.options) for g in GROUPS)


def test_help_shows_the_groups(pytester: pytest.Pytester) -> None:
    shown = pytester.runpytest_inprocess("--help").stdout.str()
    places = [shown.index(f"fcbench: {group.title}:") for group in GROUPS]
    assert places == sorted(places)
    for group, start, end in zip(GROUPS, places, [*places[1:], len(shown)], strict=True):
        assert all(option.flag in shown[start:end] for option in group.options)
