"""Which expected call each call is held against."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz
from scipy.optimize import linear_sum_assignment

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, Fault, Party
from pytest_fcbench.kinds.golden_path.assignment import (
    MEASURES,
    Matrix,
    assign_pairs,
    pair_calls,
    rate_by_characters,
    write_call,
)
from tests.cases import each_case

HOTEL = [Call("stays", {"town": town, "guests": n}) for town, n in (("Bergen", 2), ("Oslo", 2), ("Bodø", 1))]
OTHER = Call("flights", {"from": "Bergen", "to": "Oslo"})


def _pair_calls(made: list[Call], expected: list[Call], measure: str) -> list[tuple[int, int]]:
    asking = pair_calls(made, expected, measure)
    with pytest.raises(StopIteration) as done:
        next(asking)
    found: list[tuple[int, int]] = done.value.value
    return found


@pytest.mark.parametrize("measure", MEASURES)
def test_each_goes_to_its_like(measure: str) -> None:
    changed = [Call(call.name, {**call.arguments, "guests": 3}) for call in HOTEL]
    made = [OTHER, *changed]
    expected = [*reversed(HOTEL), Call("flights", {"from": "Bergen", "to": "Paris"})]
    assert sorted(_pair_calls(made, expected, measure)) == [(0, 3), (1, 2), (2, 1), (3, 0)]


@pytest.mark.parametrize("measure", MEASURES)
def test_the_name_decides_before_the_arguments(measure: str) -> None:
    made = [Call("find_stay", {"town": "Oslo"}), Call("find_car", {"town": "Bergen"})]
    expected = [Call("find_car", {"town": "Oslo"}), Call("find_stay", {"town": "Bergen"})]
    if measure == "structured":
        assert _pair_calls(made, expected, measure) == [(0, 1), (1, 0)]
    assert len(_pair_calls(made, expected, measure)) == 2


@each_case("measure", MEASURES)
@each_case(("made", "expected"), [(0, 2), (2, 0), (1, 1), (1, 3), (3, 1), (3, 2)])
def test_there_are_as_many_pairs_as_on_the_smaller_side(measure: str, made: int, expected: int) -> None:
    pairs = _pair_calls(HOTEL[:made], HOTEL[:expected], measure)
    assert len(pairs) == min(made, expected)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)


def test_one_of_each_needs_nobody() -> None:
    assert _pair_calls([OTHER], [HOTEL[0]], "some/embedding") == [(0, 0)]


def test_an_embedding_model_is_asked_for_similarities() -> None:
    asking = pair_calls([OTHER, HOTEL[0]], [HOTEL[1], HOTEL[2]], "some/embedding")
    request = next(asking)
    assert request.party is Party.SIMILARITY
    assert [message["role"] for message in request.messages] == ["made"] * 2 + ["expected"] * 2
    assert json.loads(str(request.messages[0]["content"])) == {
        "name": "flights",
        "arguments": {"from": "Bergen", "to": "Oslo"},
    }
    with pytest.raises(StopIteration) as done:
        asking.send(Completion(text="[[0.1, 0.9], [0.8, 0.2]]"))
    assert done.value.value == [(0, 1), (1, 0)]


@each_case(
    "completion",
    [
        Completion(text="timeout: no answer", fault=Fault.INFERENCE_ERROR),
        Completion(text="no JSON"),
        Completion(text="[[1, 2]]"),
        Completion(text="[[1, 2], [NaN, 1]]"),
        Completion(text="[[1, 2], [1, 1e999]]"),
        Completion(text="[" * 100_000),
        Completion(text='[["a", 1], [1, 2]]'),
        Completion(text=None),
    ],
)
def test_without_similarities_nothing_is_decided(completion: Completion) -> None:
    asking = pair_calls(HOTEL[:2], HOTEL[:2], "some/embedding")
    assert isinstance(next(asking), AskModel)
    with pytest.raises(NotScoredError) as error:
        asking.send(completion)
    assert error.value.cause == "similarity"


@given(st.text(), st.text())
def test_texts_are_as_alike_as_for_rapidfuzz(one: str, other: str) -> None:
    made, expected = Call("stays", {"town": one}), Call("stays", {"town": other})
    assert rate_by_characters(made, expected) == pytest.approx(
        fuzz.ratio(write_call(made), write_call(expected)) / 100
    )


@st.composite
def _draw_matrix(draw: st.DrawFn, most: int = 4) -> Matrix:
    columns = draw(st.integers(1, most))
    row = st.lists(st.integers(0, 3), min_size=columns, max_size=columns)
    return [[value / 3 for value in values] for values in draw(st.lists(row, min_size=1, max_size=most))]


@given(_draw_matrix(most=12))
def test_an_assignment_is_as_good_as_that_of_scipy(matrix: Matrix) -> None:
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    best = sum(matrix[row][column] for row, column in zip(rows.tolist(), columns.tolist(), strict=True))
    assert sum(matrix[row][column] for row, column in assign_pairs(matrix)) == pytest.approx(best, abs=1e-5)


def test_the_likest_of_many_calls_is_found_however_far_it_stands() -> None:
    likeness = [0.5] * 39 + [0.500001]
    assert assign_pairs([likeness]) == [(0, 39)]
    assert assign_pairs([[value] for value in likeness]) == [(39, 0)]


@given(_draw_matrix())
def test_no_assignment_is_better(matrix: Matrix) -> None:
    rows, columns = range(len(matrix)), range(len(matrix[0]))
    size = min(len(rows), len(columns))
    best = max(
        sum(matrix[row][column] for row, column in zip(chosen, order, strict=True))
        for chosen in itertools.combinations(rows, size)
        for order in itertools.permutations(columns, size)
    )
    assert sum(matrix[row][column] for row, column in assign_pairs(matrix)) == pytest.approx(best, abs=1e-5)


@each_case(
    ("matrix", "pairs"),
    [
        ([[0.5, 0.5, 0.5]], [(0, 0)]),
        ([[0.5], [0.5]], [(0, 0)]),
        ([[0.5, 0.5], [0.5, 0.5]], [(0, 0), (1, 1)]),
        ([[0.5] * 3] * 2, [(0, 0), (1, 1)]),
        ([[0.5] * 2] * 3, [(0, 0), (1, 1)]),
        ([[0.1, 0.9], [0.1, 0.9]], [(0, 0), (1, 1)]),
        ([[0.9, 0.1], [0.9, 0.1]], [(0, 0), (1, 1)]),
        ([[0.1, 0.9], [0.1, 0.90001]], [(0, 0), (1, 1)]),
        ([[0.1, 0.90001], [0.1, 0.9]], [(0, 1), (1, 0)]),
    ],
)
def test_the_order_decides_where_all_are_alike(matrix: Matrix, pairs: Sequence[tuple[int, int]]) -> None:
    assert assign_pairs(matrix) == pairs
