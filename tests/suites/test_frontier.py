"""The embedded suite ``frontier``: its truths pass, no call is idle, and simple models reach little."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import Entry, Stratum, find_stratum
from pytest_fcbench.domain.verdict import Judgement, Passed, Profile
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.suites import frontier
from pytest_fcbench.tools.audit.findings import SuiteFacts
from pytest_fcbench.tools.audit.strata import count_expected_calls, list_features
from tests.cases import each_case

_SUITE = frontier.open_suite(Path())
_ENTRIES = [entry for category in _SUITE.categories for entry in _SUITE.load(category)]
_CHAINS = [entry for entry in _ENTRIES if isinstance(entry.expectation, Trajectory)]


def _refuse(*_: object) -> object:
    raise AssertionError("no entry needs it")


@cache
def _judge_oracle(entry_id: str) -> tuple[Judgement, ...]:
    entry = next(entry for entry in _ENTRIES if entry.id == entry_id)
    facts = SuiteFacts(_SUITE, [entry], execute=_refuse, perform=_refuse)  # type: ignore[arg-type]
    return facts.oracle[entry_id]


def test_ids_are_the_category_and_a_running_number() -> None:
    for category in _SUITE.categories:
        ids = [entry.id.rpartition("_") for entry in _SUITE.load(category)]
        assert {name for name, _, _ in ids} == {category.name}
        numbers = [int(number) for _, _, number in ids]
        assert numbers == sorted(set(numbers))


def test_every_entry_is_hard() -> None:
    assert {find_stratum(list_features(entry)) for entry in _ENTRIES} == {Stratum.HARD}


@pytest.mark.few(24)
@each_case("entry", _ENTRIES, ids=lambda entry: entry.id)
def test_the_oracle_passes(entry: Entry) -> None:
    assert {*_judge_oracle(entry.id)} == {Judgement(Passed(), Passed())}


def test_chains_are_long_and_go_over_two_domains() -> None:
    counts = {entry.id: count_expected_calls(entry) for entry in _CHAINS}
    assert {name: count for name, count in counts.items() if count < 8} == {}
    assert {len(entry.scene.domains) for entry in _CHAINS if entry.scene} == {2}


def _passes(entry: Entry, turns: Sequence[Sequence[str]], profile: Profile) -> bool:
    steps = [[calls] if calls else [] for calls in turns]
    return state.match_calls(entry, steps, partial(open_environments, entry, _SUITE.world), profile).passed


@pytest.mark.few(16)
@each_case("entry", _CHAINS, ids=lambda entry: entry.id)
def test_every_call_counts(entry: Entry) -> None:
    assert isinstance(entry.expectation, Trajectory)
    turns = entry.expectation.turns
    unneeded = [
        call
        for number, calls in enumerate(turns)
        for index, call in enumerate(calls)
        if _passes(
            entry,
            [*turns[:number], [*calls[:index], *calls[index + 1 :]], *turns[number + 1 :]],
            Profile.CORRECTED,
        )
    ]
    assert unneeded == []
