"""How many answers the model did not end itself, by the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fcbench.domain.transcript import Completion, Ending, completion_to_json
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.scorecard.aggregate.endings import describe_endings
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record


def make_ended(number: int, *endings: Ending | None) -> Record:
    turn: tuple[Mapping[str, object], ...] = tuple(
        completion_to_json(Completion(text="a", ending=each)) for each in endings
    )
    return replace(make_record(Passed(), number=number), turns=(turn,))


def test_answers_are_counted_over_all_steps() -> None:
    records = [make_ended(0, Ending.CUT, None), make_ended(1, Ending.CUT, Ending.FILTERED)]
    cut, filtered = describe_endings(records)
    assert cut.startswith("2 answers cut at the limit of tokens; raise --fcbench-max-tokens")
    assert filtered.startswith("1 answer stopped by the provider's content filter")


def test_every_ending_is_told() -> None:
    assert len(describe_endings([make_ended(0, *Ending)])) == len(Ending)


def test_answers_that_end_by_themselves_are_not() -> None:
    assert describe_endings([make_ended(0, None, None)]) == []
