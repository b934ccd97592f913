from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.kinds.relevance.truth import NoCall
from pytest_fcbench.tools.authoring.generalization import build_variants
from tests.factories import make_doc, make_entry


def _make_question(question: str, **accepted: list[object]) -> Entry:
    doc = make_doc("f", {name: {"type": "any"} for name in accepted}, list(accepted))
    entry = make_entry(functions=[doc], expect=[{"f": accepted}])
    return replace(entry, suite="own", id="simple_python_0", turns=((Message("user", question),),))


def _list_accepted(entry: Entry) -> dict[str, object]:
    assert isinstance(entry.expectation, ExpectedCalls)
    return dict(entry.expectation.calls[0].accepted)


def test_numbers_are_swapped_in_question_and_truth() -> None:
    entry = _make_question("Boil 12 eggs for 240 seconds, please", eggs=[12], seconds=[240], soft=[True, ""])

    made = build_variants(entry, Random(1))

    assert len(made) == 10
    for variant in made:
        found = re.fullmatch(r"Boil (\d\d) eggs for (\d\d0) seconds, please", variant.turns[0][0].content)
        assert found is not None
        assert _list_accepted(variant) == {
            "eggs": [int(found[1])],
            "seconds": [int(found[2])],
            "soft": [True, ""],
        }
        assert (variant.parents, variant.cluster) == (("own:simple_python_0",), "simple_python_0")
    assert len({variant.turns for variant in (entry, *made)}) == 11


@pytest.mark.parametrize(
    ("question", "accepted", "shape"),
    [
        (
            "A loan of 240,000 at 3.75 %",
            {"sum": [240000.0], "rate": [3.75]},
            r"A loan of \d\d0,000 at \d\.\d\d %",
        ),
        ("볼륨 30으로", {"volume": [30]}, r"볼륨 \d0으로"),
        ("Fly to Vienna", {"to": ["Vienna", "Wien"]}, r"Fly to [A-Z]\w+"),
        ("Sell 250 USD", {"currency": ["USD"], "amount": [250.0]}, r"Sell \d\d0 [A-Z]{3}"),
        ("Noon in Asia/Tokyo", {"zone": ["Asia/Tokyo"]}, r"Noon in [A-Z]\w+/[A-Z]\w+"),
        ("Where is LX-4471?", {"parcel": ["LX-4471"]}, r"Where is LX-[1-9]\d{3}\?"),
        ("order 00713 came", {"order": ["00713"]}, r"order 0\d{4} came"),
        ("A race of 26.2 miles", {"miles": [26.2]}, r"A race of [1-3]\d\.[1-9] miles"),
        ("The next 2 trams", {"count": [2], "days": [7, ""]}, r"The next [34] trams"),
        ("Write to Greta now", {"to": ["Greta"]}, r"Write to [A-Z]\w+ now"),
        ("Come on 2025-06-14", {"day": ["2025-06-14"]}, r"Come on 2025-\d\d-\d\d"),
        ("Come on 14 June 2025", {"day": ["2025-06-14"]}, r"Come on \d\d? \w+ 2025"),
        ("On June 14, 2025 then", {"day": ["2025-06-14"]}, r"On \w+ \d\d?, 2025 then"),
    ],
)
def test_each_kind_of_value_keeps_its_form(
    question: str, accepted: dict[str, list[object]], shape: str
) -> None:
    made = build_variants(_make_question(question, **accepted), Random(2), 5)

    assert made
    for variant in made:
        assert re.fullmatch(shape, variant.turns[0][0].content)
        assert _list_accepted(variant) != accepted
        assert {name: "" in values for name, values in accepted.items()} == {
            name: "" in values for name, values in _list_accepted(variant).items() if isinstance(values, list)
        }


@pytest.mark.parametrize(
    ("question", "accepted"),
    [
        ("Convert 5 % of it", {"share": [0.05]}),  # worked out
        ("Two nights from 9 to 11 May", {"nights": [2]}),  # worked out, and said in words
        ("12 eggs in 12 minutes", {"eggs": [12], "minutes": [12]}),  # which is which?
        ("12 eggs, I said 12", {"eggs": [12]}),
        ("3 eggs until 2025-06-14, a Saturday", {"eggs": [3], "day": ["2025-06-14"]}),
        ("From 2025-06-14 to 2025-06-16", {"start": ["2025-06-14"], "end": ["2025-06-16"]}),
        ("Fly to Vienna, Virginia", {"to": ["Vienna"]}),
        ("Fly to Vienna in Austria", {"to": ["Vienna"]}),
        ("Fly to Oz", {"to": ["Oz"]}),
        ("Keep tea for Oscar. He comes later", {"name": ["Oscar"]}),  # another might be a she
        ("It was built in 1998", {"year": [1998]}),
        ("Warm it to 0 degrees", {"to": [0]}),
        ("Twelve or 12", {"eggs": [12, "12"]}),
        ("Room 12b, 12 guests", {"guests": [12]}),
        ("Play FM 93.1", {"frequency": [93.1]}),  # a name
        ("Fly to Vienna", {"to": ["Vienna", "Wien", ""]}),  # where one flies who says nothing
        ("Pay 3 PLN or 7", {"currency": ["PLN", ""], "sums": [[3, 7]]}),
        ("Since 1718041200000", {"since": [1718041200000]}),  # an instant, not a quantity
        ("Built in 1998", {"year": ["1998"]}),
    ],
)
def test_what_could_become_wrong_is_left_alone(question: str, accepted: dict[str, list[object]]) -> None:
    assert build_variants(_make_question(question, **accepted), Random(3)) == []


def test_a_word_of_an_enum_is_left_alone() -> None:
    doc = make_doc("f", {"city": {"type": "string", "enum": ["Oslo", "Bergen"]}}, ["city"])
    entry = make_entry(functions=[doc], expect=[{"f": {"city": ["Oslo"]}}])

    assert build_variants(replace(entry, turns=((Message("user", "Fly to Oslo"),),)), Random(3)) == []


def test_what_has_a_default_is_left_alone() -> None:
    """The value drawn could be the default, which may be left out."""
    doc = make_doc("f", {"days": {"type": "integer", "default": 7}}, ["days"])
    entry = make_entry(functions=[doc], expect=[{"f": {"days": [3]}}])

    assert build_variants(replace(entry, turns=((Message("user", "Rain in 3 days?"),),)), Random(3)) == []


def test_values_of_several_calls_are_swapped() -> None:
    doc = make_doc("f", {"train": {"type": "string"}}, ["train"])
    asked = make_entry(
        "parallel", functions=[doc], expect=[{"f": {"train": [n]}} for n in ("20417", "20963")]
    )
    entry = replace(asked, turns=((Message("user", "Trains 20417 and 20963?"),),))

    for variant in build_variants(entry, Random(1)):
        found = re.fullmatch(r"Trains (\d{5}) and (\d{5})\?", variant.turns[0][0].content)
        assert found is not None
        assert isinstance(variant.expectation, ExpectedCalls)
        assert [call.accepted for call in variant.expectation.calls] == [
            {"train": [n]} for n in found.groups()
        ]


@pytest.mark.parametrize("seed", range(5))
def test_a_number_of_more_than_one_digit_stays_near(seed: int) -> None:
    """A room stays warm, a loan dear."""
    for variant in build_variants(_make_question("Heat to 20.5 degrees", to=[20.5]), Random(seed)):
        degrees = float(variant.turns[0][0].content.split()[2])
        assert 14 <= degrees <= 27


def test_cities_of_one_question_stay_different() -> None:
    entry = _make_question("From Oslo to Lyon", origin=["Oslo"], to=["Lyon"])

    for variant in build_variants(entry, Random(4), 40):
        assert _list_accepted(variant)["origin"] != _list_accepted(variant)["to"]


def test_an_entry_without_a_call_has_no_variants() -> None:
    assert (
        build_variants(replace(_make_question("12 eggs", eggs=[12]), expectation=NoCall()), Random(1)) == []
    )


@given(st.integers(1, 10**9), st.integers(0, 3), st.integers())
def test_a_swapped_number_is_the_one_that_is_asked_for(whole: int, decimals: int, seed: int) -> None:
    text = f"{whole / 10**decimals:.{decimals}f}"
    value = float(text) if decimals else int(text)

    for variant in build_variants(_make_question(f"Give me {text} of it", n=[value]), Random(seed), 3):
        said = variant.turns[0][0].content.removeprefix("Give me ").removesuffix(" of it")
        assert _list_accepted(variant) == {"n": [type(value)(said)]}
        assert len(said) == len(text)
