from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.relevance import NoCall
from pytest_fcbench.tools.authoring import combination
from pytest_fcbench.tools.authoring.combination import UNKNOWN, guess_language
from tests.cases import each_case
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


def _make_question(
    question: str, doc: FunctionDoc = _WEATHER, number: int = 0, **accepted: list[object]
) -> Entry:
    entry = make_entry(functions=[doc], expect=[{doc.name: accepted}])
    return replace(entry, suite="own", id=f"simple_python_{number}", turns=((Message("user", question),),))


_ROWS = make_doc("db.rows", {"table": {"type": "string"}, "limit": {"type": "integer"}}, ["table"])
_PLACE = {"properties": {"place": _CITY}, "required": ["place"]}

_OSLO = _make_question("What is the weather in Oslo?", city=["Oslo"])
_RIGA = _make_question("And how is the weather in Riga?", number=1, city=["Riga"])
_LOAN = _make_question("What is the instalment for a loan of 900?", _LOANS, 2, sum=[900.0])


@each_case(
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
    assert combination.can_answer(doc, ExpectedCall("weather.forecast", {"city": ["Oslo"]})) is could


def test_what_may_be_left_out_does_not_save_a_function_from_being_a_solution() -> None:
    call = ExpectedCall("weather.forecast", {"city": ["Oslo"], "days": [1, ""]})

    assert combination.can_answer(_WEATHER, call)


def test_multiple_takes_near_functions_that_are_no_solutions() -> None:
    made = combination.build_multiple(_OSLO, [_WEATHER, _SAME, _HISTORY, _LOANS], Random(1), 1)

    assert made is not None
    assert made.category.name == "multiple"
    assert {doc.name for doc in made.functions} <= {"weather.forecast", "weather.history", "loan.payment"}
    assert made.find_function("weather.forecast") == _WEATHER
    assert (made.expectation, made.turns) == (_OSLO.expectation, _OSLO.turns)
    assert made.parents == ("own:simple_python_0",)
    assert combination.build_multiple(_OSLO, [_WEATHER, _SAME, _HISTORY], Random(1), 2) is None


def test_a_function_that_does_the_same_is_not_offered_beside_it() -> None:
    """Whatever its parameters are called."""
    same = replace(_WEATHER, name="forecast", parameters={**_WEATHER.parameters, **_PLACE})

    assert not combination.can_answer(same, ExpectedCall("weather.forecast", {"city": ["Oslo"]}))
    assert combination.build_multiple(_OSLO, [same], Random(1), 1) is None


def test_distractors_are_not_alike() -> None:
    twin = replace(_LOANS, name="loan.instalment")

    assert combination.build_multiple(_OSLO, [_LOANS, twin], Random(1), 1) is not None
    assert combination.build_multiple(_OSLO, [_LOANS, twin], Random(1), 2) is None


def test_a_name_that_is_the_same_without_dots_is_not_offered_beside_it() -> None:
    twin = replace(_HISTORY, name="weather_forecast")

    assert combination.build_multiple(_OSLO, [twin], Random(1), 1) is None


def test_irrelevance_takes_functions_about_something_else() -> None:
    made = combination.build_irrelevance(_OSLO, [_WEATHER, _HISTORY, _LOANS], Random(1), 1)

    assert made is not None
    assert (made.functions, made.expectation) == ((_LOANS,), NoCall())
    assert combination.build_irrelevance(_OSLO, [_WEATHER, _HISTORY], Random(1), 1) is None


def test_irrelevance_takes_no_function_that_the_question_speaks_of() -> None:
    """Rows of a table may well be what is asked for."""
    rows = make_doc("db.rows", {"table": {"type": "string"}}, ["table"])
    league = _make_question("Show the league table of Oslo", city=["Oslo"])

    assert combination.build_irrelevance(_OSLO, [rows], Random(1), 1) is not None
    assert combination.build_irrelevance(league, [rows], Random(1), 1) is None


def test_parallel_asks_the_same_function_several_times() -> None:
    made = combination.build_parallel([_OSLO, _RIGA], Random(1))

    assert made is not None
    assert made.functions == (_WEATHER,)
    assert isinstance(made.expectation, ExpectedCalls)
    assert [call.accepted for call in made.expectation.calls] == [{"city": ["Oslo"]}, {"city": ["Riga"]}]
    assert "Oslo?" in made.turns[0][0].content
    assert "Riga?" in made.turns[0][0].content
    assert made.parents == ("own:simple_python_0", "own:simple_python_1")


def test_what_is_made_of_one_entry_is_in_its_cluster() -> None:
    variant = replace(_OSLO, id="", parents=(_OSLO.key,), cluster=_OSLO.id)

    made = combination.build_multiple(variant, [_LOANS], Random(1), 1)
    assert made is not None
    assert made.cluster == "simple_python_0"
    apart = combination.build_parallel([_OSLO, _RIGA], Random(1))
    assert apart is not None
    assert apart.cluster is None


def test_parallel_needs_different_calls_of_one_function() -> None:
    assert combination.build_parallel([_OSLO, replace(_OSLO, id="simple_python_9")], Random(1)) is None
    assert combination.build_parallel([_OSLO, _LOAN], Random(1)) is None


def test_calls_that_differ_in_a_whole_number_alone_are_not_asked_for_together() -> None:
    """The larger number of results holds the smaller one, and of a setting the last counts."""
    few, more = (
        _make_question(f"The latest {n} rows", _ROWS, n, table=["orders"], limit=[n]) for n in (20, 40)
    )
    others = _make_question("The latest 20 bills", _ROWS, 3, table=["bills"], limit=[20])

    assert combination.build_parallel([few, more], Random(1)) is None
    assert combination.build_parallel([few, others], Random(1)) is not None


@each_case(
    "question",
    [
        "Something came up, what is it in Riga?",
        "Where is it?? In Riga",
        "What (roughly) is it in Riga?",
        "It was cold in Oslo. And in Riga?",
        "كيف الطقس في ريغا، من فضلك",
        "Riga\nor so",
    ],
)
def test_only_a_plain_sentence_is_said_again(question: str) -> None:
    assert (
        combination.build_parallel([_OSLO, _make_question(question, number=1, city=["Riga"])], Random(1))
        is None
    )


@pytest.mark.parametrize("question", ["A loan of 240,000 at 3.75 percent?", "convert 2025-11-03 17:45 thx"])
def test_numbers_and_times_do_not_break_a_sentence(question: str) -> None:
    made = combination.build_parallel([_OSLO, _make_question(question, number=1, city=["Riga"])], Random(1))

    assert made is not None
    assert made.turns[0][0].content == f"What is the weather in Oslo?\n{question}"


def test_parallel_multiple_asks_different_functions() -> None:
    made = combination.build_parallel_multiple([_OSLO, _LOAN], Random(1))

    assert made is not None
    assert {doc.name for doc in made.functions} == {"weather.forecast", "loan.payment"}
    assert made.parents == ("own:simple_python_0", "own:simple_python_2")


@pytest.mark.parametrize(
    "others",
    [
        (_OSLO, _make_question("What is the outlook for Riga?", _SAME, 3, city=["Riga"])),
        (_OSLO, _make_question("Welche Rate hat ein Kredit von 900?", _LOANS, 4, sum=[900.0])),
        (_make_question("Bergen 4", city=["Bergen"]), _make_question("900", _LOANS, sum=[900.0])),
    ],
    ids=["answered twice", "two languages", "language unknown"],
)
def test_parallel_multiple_leaves_out_pairs_that_cannot_be_told_apart_or_read_as_one(
    others: tuple[Entry, Entry],
) -> None:
    assert combination.build_parallel_multiple(others, Random(1)) is None


@pytest.mark.parametrize(
    "other",
    [
        _make_question("What is the instalment?\nIt is a loan of 900.", _LOANS, 2, sum=[900.0]),
        _make_question(f"What is the instalment {'by the way ' * 12}of 900?", _LOANS, 2, sum=[900.0]),
        replace(_LOAN, category=CATEGORIES["live_simple"]),
    ],
    ids=["lines", "long", "chat"],
)
def test_parallel_multiple_leaves_out_what_does_not_stand_in_a_list(other: Entry) -> None:
    assert combination.build_parallel_multiple([_OSLO, other], Random(1)) is None


def test_functions_that_are_alike_are_not_asked_for_together() -> None:
    same = replace(_WEATHER, name="forecast", parameters={**_WEATHER.parameters, **_PLACE})
    riga = _make_question("And how is the weather in Riga?", same, 1, place=["Riga"])

    assert combination.build_parallel_multiple([_OSLO, riga], Random(1)) is None


def test_parallel_multiple_asks_in_any_one_language() -> None:
    weather = _make_question("Wie wird das Wetter in Bergen und in Riga?", city=["Bergen"])
    loan = _make_question("Welche Rate hat ein Kredit von 900?", _LOANS, 4, sum=[900.0])

    made = combination.build_parallel_multiple([weather, loan], Random(1))

    assert made is not None
    assert made.turns[0][0].content == (
        "Wie wird das Wetter in Bergen und in Riga? Welche Rate hat ein Kredit von 900?"
    )


@each_case("seed", range(12))
def test_questions_are_joined_in_order_and_counted(seed: int) -> None:
    third = _make_question("And in Rome?", number=5, city=["Rome"])

    made = combination.build_parallel([_OSLO, _RIGA, third], Random(seed))

    assert made is not None
    text = made.turns[0][0].content
    assert text in {
        "What is the weather in Oslo? And how is the weather in Riga? And in Rome?",
        "What is the weather in Oslo?\nAnd how is the weather in Riga?\nAnd in Rome?",
        "1. What is the weather in Oslo?\n2. And how is the weather in Riga?\n3. And in Rome?",
        "- What is the weather in Oslo?\n- And how is the weather in Riga?\n- And in Rome?",
    }


@each_case("seed", range(12))
def test_what_ends_without_a_mark_has_a_line_of_its_own(seed: int) -> None:
    made = combination.build_parallel(
        [replace(_OSLO, turns=((Message("user", "weather in Oslo"),),)), _RIGA], Random(seed)
    )

    assert made is not None
    assert "\n" in made.turns[0][0].content


def test_only_one_question_with_one_call_can_be_built_from() -> None:
    assert combination.is_answered_by_one_call(_OSLO)
    system = replace(_OSLO, turns=((Message("system", "Be brief."), Message("user", "Oslo?")),))
    assert not combination.is_answered_by_one_call(system)
    assert not combination.is_answered_by_one_call(replace(_OSLO, expectation=NoCall()))
    assert not combination.is_answered_by_one_call(replace(_OSLO, functions=()))
    twice = ExpectedCalls((ExpectedCall("weather.forecast", {"city": ["Oslo"]}),) * 2)
    assert not combination.is_answered_by_one_call(replace(_OSLO, expectation=twice))


def test_numbers_go_on_after_those_that_are_taken() -> None:
    made = [replace(_OSLO, id=""), replace(_LOAN, id="")]

    numbered = combination.number_entries(made, "mine", {"simple_python": 7})

    assert [entry.key for entry in numbered] == ["mine:simple_python_7", "mine:simple_python_8"]


@each_case(
    ("text", "spoken"),
    [
        ("What is the weather in Bergen?", "English"),
        ("Wie wird das Wetter in Bergen?", "German"),
        ("Quelle est la météo à Paris pour demain ?", "French"),
        ("¿Qué tiempo hace en la ciudad?", "Spanish"),
        ("Qual é a previsão do tempo para o Porto?", "Portuguese"),
        ("Saat yediye kadar en kolay nasıl giderim?", "Turkish"),
        ("東京の天気を教えてください", "Japanese"),
        ("查询 Tokyo 的天气", "Chinese"),
        ("서울 날씨 알려줘", "Korean"),
        ("ช่วยหา", "Thai"),
        ("print(42)", UNKNOWN),
        ("", UNKNOWN),
        ("12 + 3", UNKNOWN),
    ],
)
def test_the_language_of_a_question_is_guessed(text: str, spoken: str) -> None:
    assert guess_language(text) == spoken
