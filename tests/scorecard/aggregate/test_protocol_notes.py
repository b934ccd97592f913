"""Answers whose server broke its protocol are counted by the code of what it did."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.transcript import Completion, completion_to_json
from pytest_fcbench.scorecard.aggregate.protocol_notes import describe_protocol_notes
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record


def make_noted(number: int, *answers: tuple[str, ...]) -> Record:
    turn = tuple(completion_to_json(Completion(text="a", protocol=protocol)) for protocol in answers)
    return replace(make_record(number=number), turns=(turn,))


def test_answers_are_counted_for_each_code() -> None:
    records = [
        make_noted(0, ("no_done", "stream_index"), ()),
        make_noted(1, ("stream_index", "cut_stream"), ("newer",)),
    ]
    told = describe_protocol_notes(records)
    assert [line.partition(":")[0] for line in told] == [
        "the server broke the protocol in 2 answers (stream_index)",
        "the server broke the protocol in 1 answer (no_done)",
        "the server failed before it gave 1 answer (cut_stream)",
        "the server broke the protocol in 1 answer (newer)",
    ]


def test_servers_that_keep_to_it_are_not_told_of() -> None:
    assert describe_protocol_notes([make_noted(0, (), ())]) == []
