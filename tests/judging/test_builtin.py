"""The judge without a model: what it takes for the same, what it does not, and that nothing breaks it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.judging.builtin import (
    compare_arguments,
    read_asked_quantities,
)
from pytest_fcbench.judging.questions import Equivalence
from tests.cases import each_case
from tests.factories import make_doc

DOC = make_doc(
    "stays.find",
    {
        "query": {"type": "string", "description": "Names of cities, districts, countries."},
        "note": {"type": "string", "description": "What the host is told."},
        "guests": {
            "type": "number",
            "description": "How many come. The **default** is set to **1**.\nUp to 9.",
        },
        "currency": {"type": "string", "default": "NOK"},
        "sort": {"type": "string", "description": "Order (default: `price`)."},
        "pets": {"type": "boolean", "description": "Default: false"},
        "children_age": {"type": "string"},
        "guest_filter": {"type": "string"},
        "stops": {"type": "string"},
        "from_id": {"type": "string"},
        "language": {"type": "string"},
        "hotel_id": {"type": "string"},
        "arrival": {"type": "string"},
        "radius": {"type": "string"},
        "legs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "seats": {"type": "number", "default": 1}},
                "required": ["city"],
            },
        },
    },
    required=("query",),
)

SAME: list[tuple[Mapping[str, object], Mapping[str, object]]] = [
    ({}, {}),
    ({"query": "Bergen"}, {"query": "bergen, Norway"}),
    ({"query": "Munich Airport"}, {"query": "MUC"}),
    ({"note": "Late arrival!"}, {"note": "late  arrival"}),
    ({"guests": 1}, {}),
    ({"guests": None}, {"guests": "one"}),
    ({"guests": 2}, {"guests": "2.0"}),
    ({"currency": "nok"}, {}),
    ({"sort": "price"}, {}),
    ({"sort": ""}, {"sort": "Price"}),
    ({"pets": False}, {}),
    ({"pets": "false"}, {"pets": False}),
    ({"pets": "Yes"}, {"pets": True}),
    ({"note": None}, {}),
    ({"note": " "}, {}),
    ({"children_age": "5,7"}, {"children_age": "7, 5"}),
    ({"children_age": [5, 7]}, {"children_age": "7,5"}),
    ({"children_age": 5}, {"children_age": "5"}),
    ({"guest_filter": "class::3,wifi"}, {"guest_filter": "wifi,class::3"}),
    ({"hotel_id": 77}, {"hotel_id": "77"}),
    ({"hotel_id": 77.0}, {"hotel_id": 77}),
    ({"from_id": "JFK"}, {"from_id": "JFK.AIRPORT"}),
    ({"from_id": "par.city"}, {"from_id": "PAR"}),
    ({"query": "JFK.AIRPORT"}, {"query": "John F. Kennedy International Airport"}),
    ({"query": "Schönbrunn Gardens"}, {"query": "Schoenbrunn Gardens"}),
    ({"language": "pt-br"}, {"language": "Brazilian Portuguese"}),
    ({"children_age": "5 years, 7"}, {"children_age": "7,5"}),
    ({"arrival": "2024-11-27"}, {"arrival": "November 27th, 2024"}),
    ({"radius": "5 km"}, {"radius": "5000 m"}),
    ({"legs": [{"city": "Wien", "seats": 1}]}, {"legs": [{"city": "Vienna"}]}),
    ({"legs": [{"seats": 2, "city": "Oslo"}]}, {"legs": ({"city": "Oslo", "seats": 2},)}),
    ({"extra": {"a": [1, "two"]}}, {"extra": {"a": [1.0, 2]}}),
]

DIFFERENT: list[tuple[Mapping[str, object], Mapping[str, object]]] = [
    ({"query": "Bergen"}, {"query": "Bergen op Zoom"}),
    ({"query": "Bergen"}, {}),
    ({"query": ""}, {}),
    ({"note": "Bergen"}, {"note": "Bergen, Norway"}),
    ({"note": "early arrival"}, {"note": "late arrival"}),
    ({"note": "f7Gh2k"}, {"note": "f7gh2k"}),
    ({"note": "x" * 3_000}, {"note": "X" * 3_000}),
    ({"guests": 2}, {}),
    ({"guests": True}, {"guests": 1}),
    ({"currency": "EUR"}, {}),
    ({"sort": "rating"}, {}),
    ({"pets": True}, {}),
    ({"pets": 0}, {"pets": False}),
    ({"children_age": "5,5"}, {"children_age": "5"}),
    ({"children_age": "1,000"}, {"children_age": "1000"}),
    ({"children_age": "5,7"}, {"children_age": "57"}),
    ({"stops": "Oslo, Bergen"}, {"stops": "Bergen, Oslo"}),
    ({"stops": ["a", "b"]}, {"stops": ["b", "a"]}),
    ({"hotel_id": "077"}, {"hotel_id": 77}),
    ({"hotel_id": "AbC"}, {"hotel_id": "abc"}),
    ({"hotel_id": "a b"}, {"hotel_id": "a  b"}),
    ({"from_id": "PAR.CITY"}, {"from_id": "PAR.AIRPORT"}),
    ({"from_id": "BER"}, {"from_id": "BER.CITY"}),
    ({"from_id": "jfk"}, {"from_id": "JFK"}),
    ({"from_id": "JFK.AIRPORT"}, {"from_id": "John F Kennedy Airport"}),
    ({"language": "pt"}, {"language": "Brazilian Portuguese"}),
    ({"note": "no"}, {"note": "Norwegian"}),
    ({"arrival": "2024-11-27"}, {"arrival": "2024-11-28"}),
    ({"arrival": "03/04/2024"}, {"arrival": "2024-04-03"}),
    ({"radius": "5 km"}, {"radius": "5 mi"}),
    ({"radius": "5 km"}, {"radius": 5}),
    ({"legs": [{"city": "Oslo", "seats": 2}]}, {"legs": [{"city": "Oslo"}]}),
    ({"legs": [{"city": "Oslo"}, {"city": "Bergen"}]}, {"legs": [{"city": "Bergen"}, {"city": "Oslo"}]}),
    ({"legs": [{"city": "Oslo"}]}, {"legs": {"city": "Oslo"}}),
    ({"extra": {"a": 1}}, {"extra": {"a": 1, "b": 2}}),
    ({"extra": 1}, {}),
]


def name_arguments(arguments: Mapping[str, object]) -> str:
    return json.dumps(arguments)[:40]


@each_case(("made", "expected"), SAME, ids=name_arguments)
def test_two_writings_of_arguments_are_the_same(
    made: Mapping[str, object], expected: Mapping[str, object]
) -> None:
    for one, other in ((made, expected), (expected, made)):
        found = compare_arguments(DOC, one, other)
        assert found.same, found.reason


@each_case(("made", "expected"), DIFFERENT, ids=name_arguments)
def test_a_difference_in_one_argument_is_found(
    made: Mapping[str, object], expected: Mapping[str, object]
) -> None:
    for one, other in ((made, expected), (expected, made)):
        found = compare_arguments(DOC, one, other)
        assert not found.same, found.reason
        assert ";" not in found.reason


@each_case(
    ("description", "default"),
    [
        ("Default: 3", 3),
        ("The default value is `USD`.", "USD"),
        ("The **default** value is set to **3**.", 3),
        ("**Default** is set to **100**.\n**Range** is between **10** to **500**.", 100),
        ("Days, defaults to 3.", 3),
        ("Order (default 'price'), or any other.", "price"),
        ("Order [default=price]", "price"),
        ("Rate; default: 1.5; at most 2", 1.5),
        ("Default: en-us", "en-us"),
        ("Default: 3. The default is 3.", 3),
    ],
)
def test_a_default_stated_in_words_may_be_left_out(description: str, default: object) -> None:
    doc = make_doc("f", {"x": {"type": "string", "description": description}})
    assert compare_arguments(doc, {}, {"x": default}).same
    assert not compare_arguments(doc, {}, {"x": "another"}).same


@each_case(
    "description",
    [
        "Default: 3 for adults, 2 for others",
        "Default is the current date.",
        "The default is not 3.",
        "Default: none",
        "Default: 3. For children the default is 2.",
        "By default 3 are shown",
        "Defaulting to 3.",
        "3",
    ],
)
def test_no_default_is_guessed(description: str) -> None:
    doc = make_doc("f", {"x": {"type": "string", "description": description}})
    for value in (3, 2, "the", "none", "not", "the current date"):
        assert not compare_arguments(doc, {}, {"x": value}).same


def test_a_default_does_not_stand_for_what_is_required() -> None:
    doc = make_doc("f", {"x": {"type": "number", "default": 3}}, required=("x",))
    assert not compare_arguments(doc, {}, {"x": 3}).same


def test_each_difference_is_told() -> None:
    made = {"query": "Bergen", "guests": 3, "wings": 2}
    assert compare_arguments(DOC, made, {"query": "Oslo", "hotel_id": "5"}) == Equivalence(
        False,
        'query is "Bergen", not "Oslo"; hotel_id is missing; guests is 3, which is not asked for; '
        "wings is 2, which is not asked for",
    )


def test_what_is_taken_for_the_same_is_told() -> None:
    found = compare_arguments(
        DOC, {"query": "NYC", "guests": 1, "pets": True}, {"query": "New York", "pets": True}
    )
    assert found.reason == 'query: "NYC" means "New York"; guests: 1 means what leaving it out means'
    assert compare_arguments(DOC, {"pets": True}, {"pets": True}).reason == "all arguments are equal"


# Laws

TEXTS = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(
    [str(value) for pair in (*SAME, *DIFFERENT) for arguments in pair for value in arguments.values()][:60]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from([*DOC.properties, "other"]) | TEXTS
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=5)


@given(ARGUMENTS, ARGUMENTS)
def test_it_does_not_matter_which_is_which(one: Mapping[str, object], other: Mapping[str, object]) -> None:
    assert compare_arguments(DOC, one, other).same is compare_arguments(DOC, other, one).same


@given(ARGUMENTS)
def test_everything_is_itself(arguments: Mapping[str, object]) -> None:
    found = compare_arguments(DOC, arguments, copy.deepcopy(arguments))
    assert found.same, found.reason


@given(ARGUMENTS, ARGUMENTS)
def test_the_order_of_keys_means_nothing(one: Mapping[str, object], other: Mapping[str, object]) -> None:
    assert compare_arguments(DOC, reverse_members(one), other).same is compare_arguments(DOC, one, other).same


def reverse_members(value: object) -> Mapping[str, object]:
    def reverse_value(value: object) -> object:
        if isinstance(value, Mapping):
            return {key: reverse_value(value[key]) for key in reversed(value)}
        return [*map(reverse_value, value)] if isinstance(value, list) else value

    found = reverse_value(value)
    assert isinstance(found, dict)
    return found


@given(ARGUMENTS, st.sampled_from([*DOC.properties]), VALUES)
def test_one_other_value_is_never_overlooked(
    arguments: Mapping[str, object], parameter: str, value: object
) -> None:
    """What is different alone is different among others."""
    others = {name: value for name, value in arguments.items() if name != parameter}
    alone = compare_arguments(DOC, {parameter: value}, {parameter: "Bergen"}).same
    assert compare_arguments(DOC, {**others, parameter: value}, {**others, parameter: "Bergen"}).same is alone


# Whatever a model writes


def nest_value(levels: int, kind: str) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value] if kind == "list" else {"a": value}
    return value


LARGE: Mapping[str, tuple[object, object]] = {
    "deep lists": (nest_value(50_000, "list"), nest_value(50_000, "list")),
    "deep objects": (nest_value(50_000, "object"), nest_value(50_000, "object")),
    "a long text": ("ab " * 700_000, "ab " * 700_000),
    "brackets": ("(" * 1_000_000, "(" * 1_000_000),
    "digits": ("1" * 1_000_000, "1" * 1_000_000),
    "commas": ("1," * 500_000, "1," * 500_000),
    "marks out of order": ("e" + "\u0301\u0316" * 500_000, "e" + "\u0301\u0316" * 500_000),
    "many items": ([*range(50_000)], [*range(50_000)]),
    "a long number": (10**20_000, 10**20_000),
    "no number": (float("nan"), float("nan")),
    "half a character": ("\ud800", "\ud800"),
}


@pytest.mark.nightly
@pytest.mark.slow
@each_case(("one", "other"), LARGE.values(), ids=LARGE)
@each_case("parameter", ["query", "note", "children_age", "hotel_id", "legs"])
def test_what_no_judge_should_stumble_over(parameter: str, one: object, other: object) -> None:
    assert compare_arguments(DOC, {parameter: one}, {parameter: other}).same
    found = compare_arguments(DOC, {parameter: one}, {parameter: "Bergen"})
    assert not found.same
    assert len(found.reason) < 1_000
    found.reason.encode()


@each_case("text", ["9 ", "a.", "1,", "-", "st ", ", Norway", "\u0301\u0316", "(", "Paris "])
def test_time_grows_with_the_length_at_the_most(text: str) -> None:
    """Just under the longest text that rules are applied to, nothing takes long; no clock, only an end."""
    long = text * (1_990 // len(text))
    for parameter in ("query", "note", "arrival", "children_age"):
        assert not compare_arguments(DOC, {parameter: long}, {parameter: f"{long}x"}).same


def test_a_doc_that_is_none() -> None:
    for parameters in ({}, {"properties": None, "required": None}, {"properties": {"x": 5}, "required": 7}):
        doc = FunctionDoc("f", "", parameters)
        assert compare_arguments(doc, {"x": 1}, {"x": "one"}).same
        assert not compare_arguments(doc, {"x": 1}, {}).same


def test_calls_of_python_answers_hold_more_than_json() -> None:
    assert compare_arguments(DOC, {"x": (1, b"y")}, {"x": [1, b"y"]}).same
    assert not compare_arguments(DOC, {"x": {1: 2}}, {"x": {1: 3j}}).same


def have_common_reading(parameter: str, one: object, other: object) -> bool:
    read = [read_asked_quantities(parameter.split("_"), value) for value in (one, other)]
    return not read[0].isdisjoint(read[1])


SAME_QUANTITIES = [
    ("arrival_date", "2024-12-05T00:00:00", "2024-12-05"),
    ("arrival_date", "2024-12-05T00:00Z", "5 December 2024"),
    ("price_max", "$1,200", "1200 USD"),
    ("price_max", "$1,200 USD", "1200 dollars"),
    ("score", "8+", "8 or more"),
    ("score", "at least 8", ">= 8"),
    ("score", "minimum 8", "8 plus"),
    ("score", "up to 8", "8 or less"),
    ("score", "more than 8", "> 8"),
    ("score", "less than 8", "under 8"),
    ("distance", "5+ km", "at least 5000 m"),
    ("star_rating", "five-star", 5),
    ("star_rating", "4 stars", "4★"),
    ("hotel_class", "4+ stars", "4 stars and up"),
    ("min_star", "4★", 4),
    ("rating", "4 stars", 4),
    ("child_age", "8 years", 8),
    ("adults", "2 adults", 2),
    ("duration_minutes", "90 minutes", 90),
    ("duration_minutes", "90 minutes", "1.5 hours"),
    ("time", "14:00 hrs", "2 pm"),
    ("longitude", "73.9857° W", -73.9857),
    ("longitude", "E 151.2", "151.2"),
    ("latitude", "33.8568 S", "-33.8568"),
    ("latitude", "51.5 degrees north", "+51.5"),
    ("coordinates", "40.4168° N, 3.7038° W", "(40.4168,-3.7038)"),
]

OTHER_QUANTITIES = [
    ("arrival_date", "2024-12-05T00:00:00", "2024-12-04"),
    ("arrival_date", "2024-12-05T00:00+02:00", "2024-12-05"),
    ("arrival_date", "2024-12-05T02:00+02:00", "2024-12-05"),
    ("arrival_date", "2024-12-05T12:00", "2024-12-05"),
    ("price_max", "$5", "A$5"),
    ("price_max", "$5 AUD", "$5"),
    ("price_max", "$5", 5),
    ("score", "8+", 8),
    ("score", "8+", "8 or less"),
    ("score", "more than 8", "8+"),
    ("score", "1+1", "11"),
    ("size", "at least 5 MB", "at least 5 Mb"),
    ("size", "5 M", "5 m"),
    ("temperature", "-20 min", "20 min"),
    ("star_rating", "4-star", "5-star"),
    ("adults", "2 rooms", 2),
    ("longitude", "73.9857 W", "73.9857"),
    ("longitude", "73.9857 W", "73.9857 E"),
    ("longitude", "5 N", "5"),
    ("latitude", "-33.8568 S", "33.8568"),
    ("power", "5 W", -5),
    ("coordinates", "40.4, -3.7", "-3.7, 40.4"),
]


@each_case(("parameter", "one", "other"), SAME_QUANTITIES)
def test_two_writings_have_a_common_reading(parameter: str, one: object, other: object) -> None:
    assert have_common_reading(parameter, one, other)


@each_case(("parameter", "one", "other"), OTHER_QUANTITIES)
def test_near_ones_have_none(parameter: str, one: object, other: object) -> None:
    assert not have_common_reading(parameter, one, other)


@given(
    st.sampled_from(["latitude", "longitude", "coordinates", "time", "star_rating", "children_age"]),
    st.text(max_size=70) | st.from_regex(r"[\d ,.:/$+°nswe>=-]{1,70}"),
)
def test_blanks_around_a_text_never_matter(parameter: str, text: str) -> None:
    """Also: reading ends without an error, whatever the value is."""
    found = read_asked_quantities(parameter.split("_"), text)
    if len(text) <= 50:
        assert read_asked_quantities(parameter.split("_"), f" {text}  ") == found
