"""The embedded suite ``frontier``: its truths pass, no call is idle, and simple models reach little."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import NoReturn

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, PathSettings, drive_conversation
from pytest_fcbench.domain.verdict import Judgement, Passed, Profile
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.kinds.kind import ConversationContext, Resources
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.kinds.table import converse, judge
from pytest_fcbench.models.baselines import lexical
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites import core, embedded
from pytest_fcbench.tools.audit.duplicates import ALIKE, find_pairs, read_question
from pytest_fcbench.tools.audit.findings import SuiteFacts
from pytest_fcbench.tools.audit.strata import count_expected_calls
from tests.cases import each_case

_SUITE = embedded.open_frontier(Path())
_ENTRIES = [entry for category in _SUITE.categories for entry in _SUITE.load(category)]
_CHAINS = [entry for entry in _ENTRIES if isinstance(entry.expectation, Trajectory)]


def _refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError("no entry needs it")


@cache
def _judge_oracle(entry_id: str) -> tuple[Judgement, ...]:
    entry = next(entry for entry in _ENTRIES if entry.id == entry_id)
    facts = SuiteFacts(_SUITE, [entry], _refuse, _refuse)
    return facts.oracle[entry_id]


def test_ids_are_the_category_and_a_running_number() -> None:
    for category in _SUITE.categories:
        ids = [entry.id.rpartition("_") for entry in _SUITE.load(category)]
        assert {name for name, _, _ in ids} == {category.name}
        numbers = [int(number) for _, _, number in ids]
        assert numbers == sorted(set(numbers))


@pytest.mark.few(24)
@each_case("entry", _ENTRIES, ids=lambda entry: entry.id)
def test_the_oracle_passes(entry: Entry) -> None:
    assert {*_judge_oracle(entry.id)} == {Judgement(Passed(), Passed())}


def test_there_are_two_hundred() -> None:
    assert len(_ENTRIES) == 200


def test_parallel_calls_are_four_or_more() -> None:
    counts = [count_expected_calls(entry) for entry in _ENTRIES if entry.kind == "parallel"]
    assert min(counts) >= 4


def test_chains_are_long_and_go_over_two_domains() -> None:
    counts = {entry.id: count_expected_calls(entry) for entry in _CHAINS}
    assert {name: count for name, count in counts.items() if count < 8} == {}
    assert {len(entry.scene.domains) for entry in _CHAINS if entry.scene} == {2}


def _passes(entry: Entry, turns: Sequence[Sequence[str]], profile: Profile) -> bool:
    steps = [[calls] if calls else [] for calls in turns]
    return state.match_calls(entry, steps, partial(open_environments, entry, _SUITE.world), profile).passed


@pytest.mark.nightly
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


_MANNER = ModelPresentation("simple", Prompting.make_default(Mode.FC, Names.UNDERSCORED))
_MOST = 0.05
"""The largest share of all entries that a simple model may pass."""


class _SilentModel(LexicalModel):
    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        return Completion(text="None of the functions fits.")


def _count_passed(model: LexicalModel, profile: Profile) -> int:
    context = ConversationContext(_MANNER, _SUITE, PathSettings(profile), {})
    resources = Resources(lambda entry: open_environments(entry, _SUITE.world), _refuse, _refuse)

    def is_passed(entry: Entry) -> bool:
        transcript = drive_conversation(
            converse(entry, context), lambda request: run_through(model.complete(entry, request))
        )
        return isinstance(judge(entry, transcript, resources).select_profile(profile), Passed)

    return sum(map(is_passed, _ENTRIES))


@each_case("profile", Profile)
def test_a_model_that_never_calls_passes_few(profile: Profile) -> None:
    assert _count_passed(_SilentModel(_MANNER.prompting), profile) <= _MOST * len(_ENTRIES)


# Below the first of them a model always calls a function, above the last one seldom.
@pytest.mark.nightly
@pytest.mark.parametrize("threshold", [1.0, 0.25, 2.0, 3.0, 5.0])
@pytest.mark.parametrize("profile", Profile)
def test_matching_words_passes_few(
    profile: Profile, threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_THRESHOLD", threshold)
    assert _count_passed(LexicalModel(_MANNER.prompting), profile) <= _MOST * len(_ENTRIES)


def test_no_two_questions_are_alike_here_or_in_core() -> None:
    ours = [read_question(entry) for entry in _ENTRIES if entry.category.name != "multi_turn_miss_func"]
    suite = core.open_suite(Path())
    others = [
        read_question(entry)
        for category in suite.categories
        if not category.varies_others and category.group in {each.category.group for each in _ENTRIES}
        for entry in suite.load(category)
    ]
    pairs = [*find_pairs(ours, ours, ALIKE), *find_pairs(ours, others, ALIKE)]
    assert [(pair.question.source.key, pair.other.source.key) for pair in pairs] == []
