from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from pytest_fcbench.entries import Entry, ExpectedCall, ExpectedCalls, FunctionDoc, Message, NoCall
from pytest_fcbench.suites.build import combining
from tests.factories import make_doc, make_entry

_CITY = {"type": "string", "description": "City."}
_WEATHER = FunctionDoc(
    "weather.forecast",
    "Forecast of the weather for a city.",
    {"type": "dict", "properties": {"city": _CITY}, "required": ["city"]},
)
_SAME = replace(_WEATHER, name="weather.outlook")
_HISTORY = FunctionDoc(
    "weather.history",
    "Weather that a city had on a day.",
    {
        "type": "dict",
        "properties": {"city": _CITY, "day": {"type": "string", "description": "Day."}},
        "required": ["city", "day"],
    },
)
_LOANS = FunctionDoc(
    "loan.payment",
    "Monthly instalment.",
    {
        "type": "dict",
        "properties": {"sum": {"type": "float", "description": "Borrowed."}},
        "required": ["sum"],
    },
)


def _asks(question: str, doc: FunctionDoc = _WEATHER, number: int = 0, **accepted: list[object]) -> Entry:
    entry = make_entry(functions=[doc], expect=[{doc.name: accepted}])
    return replace(entry, suite="own", id=f"simple_python_{number}", turns=((Message("user", question),),))


_OSLO = _asks("What is the weather in Oslo?", city=["Oslo"])
_RIGA = _asks("And how is the weather in Riga?", number=1, city=["Riga"])
_LOAN = _asks("What is the instalment for a loan of 900?", _LOANS, 2, sum=[900.0])


@pytest.mark.parametrize(
    ("doc", "could"),
    [
        (_WEATHER, True),
        (_SAME, True),
        (_HISTORY, False),  # it needs a day
        (_LOANS, False),
        (make_doc("f", {"city": {"type": "integer"}}, ["city"]), False),
        (make_doc("f", {"city": {"type": "string"}, "unit": {"type": "string"}}, ["city"]), True),
        (make_doc("f", {}, []), False),
    ],
)
def test_a_function_that_takes_the_same_call_could_solve_it(doc: FunctionDoc, could: bool) -> None:
    assert combining.solves(doc, ExpectedCall("weather.forecast", {"city": ["Oslo"]})) is could


def test_what_may_be_left_out_does_not_save_a_function_from_being_a_solution() -> None:
    call = ExpectedCall("weather.forecast", {"city": ["Oslo"], "days": [1, ""]})

    assert combining.solves(_WEATHER, call)


def test_multiple_takes_near_functions_that_are_no_solutions() -> None:
    made = combining.multiple(_OSLO, [_WEATHER, _SAME, _HISTORY, _LOANS], Random(1), 1)

    assert made is not None
    assert made.category.name == "multiple"
    assert {doc.name for doc in made.functions} <= {"weather.forecast", "weather.history", "loan.payment"}
    assert made.function("weather.forecast") == _WEATHER
    assert (made.expectation, made.turns) == (_OSLO.expectation, _OSLO.turns)
    assert made.parents == ("own:simple_python_0",)
    assert combining.multiple(_OSLO, [_WEATHER, _SAME, _HISTORY], Random(1), 2) is None


def test_a_name_that_is_the_same_without_dots_is_not_offered_beside_it() -> None:
    twin = replace(_HISTORY, name="weather_forecast")

    assert combining.multiple(_OSLO, [twin], Random(1), 1) is None


def test_irrelevance_takes_functions_about_something_else() -> None:
    made = combining.irrelevance(_OSLO, [_WEATHER, _HISTORY, _LOANS], Random(1), 1)

    assert made is not None
    assert (made.functions, made.expectation) == ((_LOANS,), NoCall())
    assert combining.irrelevance(_OSLO, [_WEATHER, _HISTORY], Random(1), 1) is None


def test_a_parameter_is_taken_away_whose_value_is_asked_for() -> None:
    entry = _asks("Weather in Oslo on 4 May?", _HISTORY, city=["Oslo"], day=["4 May"])

    made = combining.without_parameter(entry, Random(3))

    assert made is not None
    (doc,) = made.functions
    assert made.expectation == NoCall()
    assert len(doc.properties) == 1
    assert list(doc.required) == list(doc.properties)
    assert combining.without_parameter(_OSLO, Random(1)) is None  # nothing would be left
    elsewhere = _asks("Weather there?", _HISTORY, city=["Oslo"], day=["4 May"])
    assert combining.without_parameter(elsewhere, Random(1)) is None


def test_parallel_asks_the_same_function_several_times() -> None:
    made = combining.parallel([_OSLO, _RIGA], Random(1))

    assert made is not None
    assert made.functions == (_WEATHER,)
    assert isinstance(made.expectation, ExpectedCalls)
    assert [call.accepted for call in made.expectation.calls] == [{"city": ["Oslo"]}, {"city": ["Riga"]}]
    assert "Oslo?" in made.turns[0][0].content
    assert "Riga?" in made.turns[0][0].content
    assert made.parents == ("own:simple_python_0", "own:simple_python_1")


def test_parallel_needs_different_calls_of_one_function() -> None:
    assert combining.parallel([_OSLO, replace(_OSLO, id="simple_python_9")], Random(1)) is None
    assert combining.parallel([_OSLO, _LOAN], Random(1)) is None


def test_parallel_multiple_asks_different_functions() -> None:
    made = combining.parallel_multiple([_OSLO, _LOAN], Random(1))

    assert made is not None
    assert {doc.name for doc in made.functions} == {"weather.forecast", "loan.payment"}
    assert made.parents == ("own:simple_python_0", "own:simple_python_2")


def test_parallel_multiple_leaves_out_what_could_be_answered_twice_and_other_languages() -> None:
    other = _asks("What is the outlook for Riga?", _SAME, 3, city=["Riga"])
    german = _asks("Welche Rate hat ein Kredit von 900?", _LOANS, 4, sum=[900.0])
    short, terse = _asks("Bergen 4", city=["Bergen"]), _asks("900", _LOANS, sum=[900.0])

    assert combining.parallel_multiple([_OSLO, other], Random(1)) is None
    assert combining.parallel_multiple([_OSLO, german], Random(1)) is None
    assert combining.parallel_multiple([short, terse], Random(1)) is None


def test_parallel_multiple_asks_in_any_one_language() -> None:
    weather = _asks("Wie wird das Wetter in Bergen und in Riga?", city=["Bergen"])
    loan = _asks("Welche Rate hat ein Kredit von 900?", _LOANS, 4, sum=[900.0])

    assert combining.parallel_multiple([weather, loan], Random(1)) is not None


@pytest.mark.parametrize("seed", range(12))
def test_questions_are_joined_in_order_and_counted(seed: int) -> None:
    third = _asks("And in Rome?", number=5, city=["Rome"])

    made = combining.parallel([_OSLO, _RIGA, third], Random(seed))

    assert made is not None
    text = made.turns[0][0].content
    assert text in {
        "What is the weather in Oslo? And how is the weather in Riga? And in Rome?",
        "What is the weather in Oslo?\nAnd how is the weather in Riga?\nAnd in Rome?",
        "1. What is the weather in Oslo?\n2. And how is the weather in Riga?\n3. And in Rome?",
        "- What is the weather in Oslo?\n- And how is the weather in Riga?\n- And in Rome?",
    }


def test_only_one_question_with_one_call_can_be_built_from() -> None:
    assert combining.with_one_call(_OSLO)
    system = replace(_OSLO, turns=((Message("system", "Be brief."), Message("user", "Oslo?")),))
    assert not combining.with_one_call(system)
    assert not combining.with_one_call(replace(_OSLO, expectation=NoCall()))
    assert not combining.with_one_call(replace(_OSLO, functions=()))
    twice = ExpectedCalls((ExpectedCall("weather.forecast", {"city": ["Oslo"]}),) * 2)
    assert not combining.with_one_call(replace(_OSLO, expectation=twice))


def test_numbers_go_on_after_those_that_are_taken() -> None:
    made = [replace(_OSLO, id=""), replace(_LOAN, id="")]

    numbered = combining.numbered(made, "mine", {"simple_python": 7})

    assert [entry.key for entry in numbered] == ["mine:simple_python_7", "mine:simple_python_8"]
