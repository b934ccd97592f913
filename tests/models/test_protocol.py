"""Requests go to the party that they are meant for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, RunStoppedError
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party
from pytest_fcbench.models.protocol import RoutedModel
from tests.factories import make_entry


@dataclass
class Answering:
    """Says its name, or raises."""

    name: str
    error: Exception | None = None
    immediate: bool = True
    notes: tuple[str, ...] = ()
    asked: list[AskModel] = field(default_factory=list)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        self.asked.append(request)
        if self.error:
            raise self.error
        return Completion(text=self.name)


def _ask_party(parties: RoutedModel, party: Party) -> Completion:
    return asyncio.run(parties.complete(make_entry(), AskModel((), party=party)))


def test_each_party_answers_its_own_requests() -> None:
    parties = RoutedModel(Answering("m"), {Party.JUDGE: Answering("j"), Party.SIMILARITY: Answering("s")})
    found = [_ask_party(parties, party).text for party in (Party.MODEL, Party.JUDGE, Party.SIMILARITY)]
    assert found == ["m", "j", "s"]


def test_the_failure_of_another_party_is_an_answer() -> None:
    broken = Answering("j", NotScoredError("timeout", "no answer within 3 s"))
    completion = _ask_party(RoutedModel(Answering("m"), {Party.JUDGE: broken}), Party.JUDGE)
    assert completion == Completion(text="timeout: no answer within 3 s", fault=Fault.INFERENCE_ERROR)


def test_a_party_that_is_not_there_is_one_too() -> None:
    completion = _ask_party(RoutedModel(Answering("m"), {}), Party.PROVIDER)
    assert completion.fault is Fault.INFERENCE_ERROR
    assert "provider" in str(completion.text)


@pytest.mark.parametrize(
    ("party", "error"),
    [
        (Party.MODEL, NotScoredError("timeout", "x")),
        (Party.MODEL, RunStoppedError("cancelled", "x")),
        (Party.JUDGE, RunStoppedError("cancelled", "x")),
    ],
)
def test_other_failures_are_raised(party: Party, error: NotScoredError) -> None:
    broken = Answering("x", error)
    with pytest.raises(type(error)) as raised:
        _ask_party(RoutedModel(broken, {Party.JUDGE: broken}), party)
    assert raised.value is error


def test_it_waits_for_nobody_only_if_nobody_waits_and_tells_all_notes() -> None:
    slow = Answering("j", immediate=False, notes=("3 of 9 calls were retries",))
    fast = Answering("m", notes=("seed was dropped",))
    assert RoutedModel(fast, {}).immediate
    assert not RoutedModel(fast, {Party.JUDGE: slow}).immediate
    assert not RoutedModel(slow, {}).immediate
    assert RoutedModel(fast, {Party.JUDGE: slow}).notes == (
        "seed was dropped",
        "judge: 3 of 9 calls were retries",
    )


def test_a_model_that_also_judges_tells_its_notes_once() -> None:
    model = Answering("m", notes=("seed was dropped",))
    assert RoutedModel(model, {Party.JUDGE: model}).notes == ("seed was dropped",)


def test_two_models_with_the_same_note_both_tell_it() -> None:
    model, judge = (Answering(name, notes=("seed was dropped",)) for name in "mj")
    assert RoutedModel(model, {Party.JUDGE: judge}).notes == ("seed was dropped", "judge: seed was dropped")
