"""Assignment of calls to expected ones, where none is equal.

Officially every text ``{"name", "arguments"}`` is embedded (bge-large-en-v1.5) and the assignment with the
greatest sum of similarities is taken (Hungarian method), without a threshold: also calls that have nothing in
common are paired. The measure of similarity is pluggable; the assignment is the same.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import AskModel, Call, Inquiry, Party

Matrix: TypeAlias = Sequence[Sequence[float]]
"""Similarities, a row for each call that was made, a column for each that is expected."""

Measure: TypeAlias = Callable[[Call, Call], float]

_DIGITS = 6
"""Similarities that differ by less are alike."""

_TIE = 1e-9
"""The weight of the places of calls, which decides between assignments that are alike."""


def rate_by_structure(made_call: Call, expected_call: Call) -> float:
    """Rate two calls by name, then by arguments: 1 to 2 with the same name, below 1 without."""
    names = made_call.arguments.keys() | expected_call.arguments.keys()
    pairs = [
        (made_call.arguments[name], expected_call.arguments[name])
        for name in made_call.arguments.keys() & expected_call.arguments.keys()
    ]
    likenesses = [1.0 if one == other else 0.9 * _rate_texts(str(one), str(other)) for one, other in pairs]
    # Exact, because the names of a set come in another order in each process.
    agreement = math.fsum(likenesses) / len(names) if names else 1.0
    if made_call.name == expected_call.name:
        return 1.0 + agreement
    return (_rate_texts(made_call.name, expected_call.name) + agreement) / 2.01


def _rate_texts(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one[:_LONGEST], other[:_LONGEST], autojunk=False).ratio()


_LONGEST = 400
"""Characters that are compared; the time grows with the square of their number."""


def rate_by_characters(made_call: Call, expected_call: Call) -> float:
    """Return the share of characters in common, in order (``fuzz.ratio`` of rapidfuzz)."""
    one, other = write_call(made_call), write_call(expected_call)
    return 2 * count_common(one, other) / (len(one) + len(other))


def count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence: a bit for each place of one (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, part in enumerate(one):
        places[part] = places.get(part, 0) | 1 << at
    all_places = unused_places = (1 << len(one)) - 1
    for part in other:
        common_places = unused_places & places.get(part, 0)
        unused_places = (unused_places + common_places | unused_places - common_places) & all_places
    return len(one) - unused_places.bit_count()


MEASURES: Mapping[str, Measure] = {"structured": rate_by_structure, "rapidfuzz": rate_by_characters}
"""Measures that ask no party. Any other name is a model that embeds texts."""


def write_call(call: Call) -> str:
    """Write a call as it is officially embedded: argument names in order, other scripts as they are."""
    named_call = {"name": call.name, "arguments": dict(sorted(call.arguments.items()))}
    return json.dumps(named_call, ensure_ascii=False)


def pair_calls(
    made_calls: Sequence[Call], expected_calls: Sequence[Call], measure: str
) -> Inquiry[list[tuple[int, int]]]:
    """Pair calls with expected ones, by index, as many as there are on either side.

    One call and one expected call need no measure. Raises ``NotScoredError`` where the party that embeds
    texts does not answer.
    """
    if not made_calls or not expected_calls:
        return []
    # No party is asked where there is nothing to choose.
    if len(made_calls) == len(expected_calls) == 1:
        return [(0, 0)]
    if measure in MEASURES:
        compare = MEASURES[measure]
        return assign_pairs([[compare(one, other) for other in expected_calls] for one in made_calls])
    messages = [{"role": "made", "content": write_call(call)} for call in made_calls]
    messages += [{"role": "expected", "content": write_call(call)} for call in expected_calls]
    completion = yield AskModel(tuple(messages), party=Party.SIMILARITY)
    if completion.fault:
        raise NotScoredError("similarity", f"calls could not be paired: {completion.text}")
    try:
        matrix: Matrix = [[float(value) for value in row] for row in read_json_text(completion.text or "")]
    except (ValueError, TypeError, RecursionError) as error:
        raise NotScoredError("similarity", f"similarities cannot be read: {error}") from None
    rows, columns = len(made_calls), len(expected_calls)
    if [len(row) for row in matrix] != [columns] * rows or not all(map(math.isfinite, chain(*matrix))):
        raise NotScoredError("similarity", f"needs {rows} x {columns} similarities")
    return assign_pairs(matrix)


def assign_pairs(matrix: Matrix) -> list[tuple[int, int]]:
    """Return the pairs with the greatest sum; among equal assignments the one that keeps the order."""
    # With one call on a side the first of the best is it: far apart, places would weigh more than likeness.
    if len(matrix) == 1:
        return [(0, max(range(len(matrix[0])), key=lambda column: round(matrix[0][column], _DIGITS)))]
    if len(matrix[0]) == 1:
        return [(max(range(len(matrix)), key=lambda row: round(matrix[row][0], _DIGITS)), 0)]
    costs = [
        [-round(value, _DIGITS) + _TIE * (row - column) ** 2 for column, value in enumerate(values)]
        for row, values in enumerate(matrix)
    ]
    if len(costs) <= len(costs[0]):
        return list(enumerate(_choose_columns(costs)))
    return sorted((row, column) for column, row in enumerate(_choose_columns([*zip(*costs, strict=True)])))


def _choose_columns(costs: Matrix) -> list[int]:
    """Choose a column for each row with the least sum of costs; at most as many rows as columns.

    The Hungarian method by shortest augmenting paths (Jonker & Volgenant 1987): a new row takes the column
    to which the way over columns that are taken is cheapest, and each row on the way moves on by one.
    """
    # A column beside all others, which the new row gives up.
    start = len(costs[0])
    owner, row_price, column_price = [_NOBODY] * (start + 1), [0.0] * len(costs), [0.0] * (start + 1)
    for new_row in range(len(costs)):
        owner[start], column, seen_columns = new_row, start, set[int]()
        least_costs, way = [math.inf] * start, [start] * start
        while owner[column] != _NOBODY:
            seen_columns.add(column)
            row, unseen = owner[column], [each for each in range(start) if each not in seen_columns]
            for each in unseen:
                cost = costs[row][each] - row_price[row] - column_price[each]
                if cost < least_costs[each]:
                    least_costs[each], way[each] = cost, column
            nearest = min(unseen, key=least_costs.__getitem__)
            increase = least_costs[nearest]
            for each in seen_columns:
                row_price[owner[each]] += increase
                column_price[each] -= increase
            for each in unseen:
                least_costs[each] -= increase
            column = nearest
        while column != start:
            owner[column], column = owner[way[column]], way[column]
    return [owner.index(row) for row in range(len(costs))]


_NOBODY = -1
