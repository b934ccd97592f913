"""The judge without a model agrees with a person's verdicts on pairs of values.

``python -m tests.judging.test_judged_pairs`` prints the agreement for each kind, and each pair
that is judged otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_fcbench.judging.builtin import compare_arguments
from tests.cases import each_case
from tests.factories import make_doc

PARAMETERS: Mapping[str, str] = {
    "city": "city",
    "airport": "airport",
    "country": "country",
    "currency": "currency",
    "phone": "phone",
    "date": "date",
    "time": "time",
    "number": "amount",
    "unit": "value",
    "name": "name",
    "text": "text",
}
"""The name of the parameter by the kind of its values."""


TRAVEL = ("travel_pairs.txt", "further_travel_pairs.txt")
"""Pairs of the parameters of a travel API."""


class Pair(NamedTuple):
    """Two values of a kind, and whether a person takes them for the same."""

    kind: str
    parameter: str
    one: str
    other: str
    same: bool


def read_pairs(file: str = "judged_pairs.txt") -> list[Pair]:
    """Read the pairs of a file beside this one; where it names no parameter, that of the kind."""
    rows = Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()
    cells = [row.split(" | ") for row in rows if row and not row.startswith("#")]
    return [
        Pair(kind, parameter[0] if parameter else PARAMETERS[kind], one, other, verdict == "same")
        for kind, *parameter, one, other, verdict in cells
    ]


def is_judged_same(pair: Pair, parameter: str = "") -> bool:
    """Tell whether the judge takes both values for the same; the parameter says what the API's does."""
    parameter = parameter or pair.parameter
    named = "Names of airports, cities" if pair.kind == "airport" else "Names of cities"
    says = {"description": f"{named}, districts, countries and other locations."}
    doc = make_doc("f", {parameter: {"type": "string", **(says if parameter == "query" else {})}})
    return compare_arguments(doc, {parameter: pair.one}, {parameter: pair.other}).same


def test_there_are_three_hundred_pairs_of_all_kinds() -> None:
    pairs = read_pairs()
    assert len({frozenset((pair.kind, pair.one, pair.other)) for pair in pairs}) == 300
    for verdict in (True, False):
        counted = Counter(pair.kind for pair in pairs if pair.same is verdict)
        assert counted.keys() == PARAMETERS.keys()
        assert min(counted.values()) >= 11


@each_case(
    ("file", "parameter", "least"),
    [
        ("judged_pairs.txt", "", 0.95),
        ("further_pairs.txt", "", 0.95),
        ("untouched_travel_pairs.txt", "", 0.95),
        # Where the name of the parameter does not say what its value is.
        ("judged_pairs.txt", "value", 0.85),
        ("further_pairs.txt", "value", 0.85),
    ],
)
def test_the_judge_agrees_with_the_person(file: str, parameter: str, least: float) -> None:
    """The figures stand in docs/project/decisions-judges.md. None is taken for the same that is not."""
    pairs = read_pairs(file)
    wrong = [pair for pair in pairs if is_judged_same(pair, parameter) is not pair.same]
    assert len(wrong) <= (1 - least) * len(pairs), wrong
    assert [pair for pair in wrong if not pair.same] == []


@pytest.mark.parametrize("file", TRAVEL)
def test_the_judge_agrees_on_each_pair_of_a_travel_api(file: str) -> None:
    """No rule can be taken away: each is needed for a pair."""
    pairs = read_pairs(file)
    assert len({(pair.parameter, frozenset((pair.one, pair.other))) for pair in pairs}) == 150
    assert sum(pair.same for pair in pairs) >= 90
    assert [pair for pair in pairs if is_judged_same(pair) is not pair.same] == []


@pytest.mark.parametrize("file", ["judged_pairs.txt", *TRAVEL])
def test_it_does_not_matter_which_value_comes_first(file: str) -> None:
    for pair in read_pairs(file):
        turned = pair._replace(one=pair.other, other=pair.one)
        assert is_judged_same(turned) is is_judged_same(pair), pair


def print_agreement() -> None:
    """Print the agreement for each kind, and the pairs that are judged otherwise than by the person."""
    for file in ("judged_pairs.txt", "further_pairs.txt", *TRAVEL, "untouched_travel_pairs.txt"):
        pairs = read_pairs(file)
        wrong = [pair for pair in pairs if is_judged_same(pair) is not pair.same]
        print(file)
        for kind in dict.fromkeys(pair.kind for pair in pairs):
            of_kind = sum(pair.kind == kind for pair in pairs)
            print(f"{kind:10}{of_kind - sum(pair.kind == kind for pair in wrong):4} of {of_kind}")
        print(f"{'all':10}{len(pairs) - len(wrong):4} of {len(pairs)}")
        for pair in wrong:
            print(f"{pair.kind}: {pair.one} | {pair.other} should be {'same' if pair.same else 'different'}")


if __name__ == "__main__":
    print_agreement()
