"""Each fault of a parser gets its outcome, in the ways in which it shows, and a smallest text."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import pytest

from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.tools.parsers.engine import ParsedAnswer, Piece, Tools
from pytest_fcbench.tools.parsers.matrix import Examination, Examiner, Way, examine_parser, group_pieces
from pytest_fcbench.tools.parsers.shrinking import shrink_calls
from pytest_fcbench.tools.parsers.truths import Outcome
from tests.cases import each_case
from tests.tools.parsers.fakes import FakeParser, make_examiner, make_truth, split_words

TRUTHS = [
    make_truth(Call("find_place", {"query": "the harbour of Lund", "radius": 2.5})),
    make_truth(Call("send", {"to": ["Ann", "Bo"]}), Call("send", {"to": ["Cy"]}), key="core:parallel_1"),
]


def _examine(fault: str, most_cpu_s: float = 3.0) -> Examination:
    return examine_parser(fault, make_examiner(fault, most_cpu_s), TRUTHS, tuple(Way), shrink_calls)


@each_case(
    ("fault", "whole", "streamed", "text"),
    [
        ("none", {Outcome.EXACT: 2}, {Outcome.EXACT: 2}, None),
        ("last_brace", {Outcome.EXACT: 2}, {Outcome.WRONG: 2}, '{"name": "find_place", "arguments": {}}'),
        ("leaks", {Outcome.EXACT: 2}, {Outcome.LEAKED: 2}, '{"name": "find_place", "arguments": {}}'),
        ("crashes", {Outcome.EXACT: 2}, {Outcome.CRASHED: 2}, '{"name": "find_place", "arguments": {}}'),
        (
            "loses",
            {Outcome.EXACT: 2},
            {Outcome.EXACT: 1, Outcome.LOST: 1},
            '{"name": "send", "arguments": {}}',
        ),
        (
            "merges",
            {Outcome.EXACT: 2},
            {Outcome.EXACT: 1, Outcome.LOST: 1},
            '{"name": "send", "arguments": {}}',
        ),
        (
            "whole_numbers",
            {Outcome.EXACT: 1, Outcome.WRONG: 1},
            {Outcome.EXACT: 1, Outcome.WRONG: 1},
            '{"name": "find_place", "arguments": {"radius": 0.5}}',
        ),
    ],
)
def test_a_fault_gets_its_outcome(
    fault: str, whole: Mapping[Outcome, int], streamed: Mapping[Outcome, int], text: str | None
) -> None:
    examination = _examine(fault)
    assert examination.count == 2
    assert {way: dict(counts) for way, counts in examination.outcomes.items()} == {
        Way.WHOLE: whole,
        **dict.fromkeys((Way.TOKENS, Way.BATCHES, Way.ONE_DELTA), streamed),
    }
    assert examination.is_exact == (text is None)
    assert all(text in each.text for each in examination.failures) if text else not examination.failures


def test_ways_that_fail_otherwise_do_not_share_a_failure() -> None:
    examiner = Examiner(TwoFaultsParser(), make_examiner().syntax, split_words)
    failures = examine_parser("two", examiner, TRUTHS, tuple(Way), shrink_calls).failures
    assert [(each.ways, each.outcome) for each in failures] == [
        ([Way.WHOLE], Outcome.LOST),
        ([Way.TOKENS, Way.BATCHES, Way.ONE_DELTA], Outcome.LEAKED),
    ]


class TwoFaultsParser(FakeParser):
    """A parser that finds no call in a whole answer, and leaks a tag of a streamed one."""

    def parse_whole(self, answer: Piece, tools: Tools) -> ParsedAnswer:
        return ParsedAnswer([])

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        return FakeParser("leaks").parse_pieces(pieces, tools)


def test_what_only_a_single_delta_breaks_is_told_of_that_way() -> None:
    examination = _examine("cut_tags")
    assert [way for way, counts in examination.outcomes.items() if Outcome.LOST in counts] == [Way.ONE_DELTA]
    (failure,) = examination.failures
    assert (failure.ways, failure.reason) == ([Way.ONE_DELTA], "1 of 2 calls")
    assert failure.text.count('{"name": "send", "arguments": {}}') == 2


def test_a_parser_that_does_not_end_is_stopped() -> None:
    start = time.process_time()
    examination = examine_parser(
        "hangs", make_examiner("hangs", 0.05), TRUTHS * 5, [Way.TOKENS], shrink_calls
    )
    assert examination.outcomes[Way.TOKENS] == {Outcome.SLOW: 10}
    # Only three are tried, and none is shrunk.
    assert time.process_time() - start < 1
    (failure,) = examination.failures
    assert (failure.outcome, failure.reason) == (Outcome.SLOW, "more than 0.05 s")
    assert "find_place" in failure.text


def test_smaller_calls_keep_the_schemas_of_their_tools() -> None:
    """A call without a required argument would be no right answer."""
    truth = make_truth(Call("find_place", {"query": "Lund", "radius": 2.5}))
    properties = {"query": {"type": "string"}, "radius": {"type": "number"}}
    tool = {"name": "find_place", "parameters": {"properties": properties, "required": ["query"]}}
    tools = [{"type": "function", "function": tool}]
    strict_truth = type(truth)(truth.key, truth.calls, tools)
    (failure,) = examine_parser(
        "leaks", make_examiner("leaks"), [strict_truth], [Way.TOKENS], shrink_calls
    ).failures
    assert '{"name": "find_place", "arguments": {"query": ""}}' in failure.text


class ClockedParser(FakeParser):
    """A parser whose processor time depends on the length of the answer alone."""

    clock = 0.0

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        ClockedParser.clock += len(pieces) ** 2 / 1e8
        return super().parse_pieces(pieces, tools)

    def parse_whole(self, answer: Piece, tools: Tools) -> ParsedAnswer:
        ClockedParser.clock += len(answer.text) / 1e6
        return super().parse_whole(answer, tools)


@each_case(
    ("fault", "way", "growth"),
    [
        ("none", Way.TOKENS, 2),
        ("none", Way.WHOLE, 1),
        ("crashes", Way.WHOLE, 1),
        ("crashes", Way.TOKENS, None),
    ],
)
def test_growth_is_measured_by_doubling(
    fault: str, way: Way, growth: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fcbench.tools.parsers.matrix.process_time", lambda: ClockedParser.clock)
    examiner = Examiner(ClockedParser(fault), make_examiner().syntax, split_words)
    assert examiner.measure_growth(way) == (growth and pytest.approx(growth, abs=0.2))


@pytest.mark.parametrize("seed", ["a", "b"])
def test_batches_hold_one_to_six_tokens(seed: str) -> None:
    pieces = [Piece(str(number), (number,)) for number in range(40)]
    batches = group_pieces(pieces, Way.BATCHES, seed)
    assert "".join(each.text for each in batches) == "".join(map(str, range(40)))
    assert [*range(40)] == [token for each in batches for token in each.token_ids]
    assert len({len(each.token_ids) for each in batches}) > 1
    assert max(len(each.token_ids) for each in batches) <= 6
    assert batches == group_pieces(pieces, Way.BATCHES, seed)
    assert group_pieces(pieces, Way.TOKENS, seed) == pieces
    assert group_pieces(pieces, Way.ONE_DELTA, seed) == group_pieces(pieces, Way.WHOLE, seed)
