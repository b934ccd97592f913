"""The baseline matches words and types, always in the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry, Group, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.relevance import NoCall
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.suites.registry import open_suite
from tests.cases import each_case
from tests.factories import ask_model, make_doc, make_entry, make_golden_path, make_multi_turn
from tests.models.outcomes import judge_entries

FC = LexicalModel(Prompting.make_default(Mode.FC, Names.DOTTED))
PROMPT = LexicalModel(Prompting.make_default(Mode.PROMPT))

LAMP = make_doc("lamp.dim", {"room": {"type": "string"}, "percent": {"type": "integer"}}, ["room", "percent"])
BLINDS = make_doc("blinds.lower", {"room": {"type": "string"}}, ["room"])
TUNE = make_doc("music.play", {"title": {"type": "string"}}, ["title"])


def _list_calls(query: str, *functions: FunctionDoc) -> list[tuple[str, object]]:
    """Return the model's calls, as name and arguments."""
    parts = (
        ask_model(FC, make_entry("parallel", query=query, functions=functions, expect=[])).tool_calls or ()
    )
    return [(part.name, json.loads(str(part.arguments))) for part in parts if not isinstance(part, str)]


def _choose_arguments(
    query: str, schema: Mapping[str, object], name: str = "value", *, required: bool = True
) -> object:
    """Return the arguments of the model's call of ``meter.adjust``, which has one parameter."""
    doc = make_doc("meter.adjust", {name: schema}, [name] if required else ["other"])
    ((called, arguments),) = _list_calls(f"adjust the meter {query}", doc)
    assert called == "meter.adjust"
    return arguments


# The function


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Please dim the lamp in the hall to 40 percent", "lamp.dim"),
        ("lower all blinds", "blinds.lower"),
        ("Is there music you could play?", "music.play"),
    ],
)
def test_the_function_with_shared_words_is_called(query: str, name: str) -> None:
    assert [called for called, _ in _list_calls(query, LAMP, BLINDS, TUNE)] == [name]


def test_its_name_counts_more_than_its_description() -> None:
    described = replace(BLINDS, name="shades.close", description="Lower the blinds.")
    assert [name for name, _ in _list_calls("lower blinds", described, BLINDS)] == ["blinds.lower"]


def test_of_equal_functions_the_first_is_called() -> None:
    assert [
        name for name, _ in _list_calls("lower blinds", BLINDS, replace(BLINDS, description="Twin."))
    ] == ["blinds.lower"]


def test_names_in_camel_case_are_words() -> None:
    doc = make_doc("BlindMotor.lowerSlowly", {}, [])
    assert _list_calls("lower it slowly", doc) == [("BlindMotor.lowerSlowly", {})]


@each_case("query", ["How tall is an oak?", "", "the of and to"])
@each_case("model", [FC, PROMPT], ids=["fc", "prompt"])
def test_it_abstains_without_shared_words(model: LexicalModel, query: str) -> None:
    entry = make_entry("irrelevance", query=query, functions=[LAMP, BLINDS])
    assert ask_model(model, entry) == Completion(text="No function seems to fit.")


def test_it_abstains_without_functions() -> None:
    assert ask_model(FC, make_entry("irrelevance", functions=[])).tool_calls is None


# The values


@each_case(
    ("query", "schema", "value"),
    [
        pytest.param("by 12", {"type": "integer"}, 12, id="digits"),
        pytest.param("by three", {"type": "integer"}, 3, id="number word"),
        pytest.param("by 1,250", {"type": "integer"}, 1250, id="thousands"),
        pytest.param("by -4.5", {"type": "float"}, -4.5, id="signed fraction"),
        pytest.param("in upper case", {"type": "string", "enum": ["lower", "upper"]}, "upper", id="enum"),
        pytest.param(
            "in deep blue", {"type": "string", "enum": ["deep_blue"]}, "deep_blue", id="enum of two words"
        ),
        pytest.param('as "night shift"', {"type": "string"}, "night shift", id="quotes"),
        pytest.param("as `night`", {"type": "string"}, "night", id="backticks"),
        pytest.param("as “night shift”", {"type": "string"}, "night shift", id="curly quotes"),
        pytest.param("of Anna Berg", {"type": "string"}, "Anna Berg", id="capitalised"),
        pytest.param("in the cellar", {"type": "string"}, "cellar", id="after a preposition"),
        pytest.param("by 3, 5, 8", {"type": "array", "items": {"type": "integer"}}, [3, 5, 8], id="numbers"),
        pytest.param(
            "as 'aa' or 'bb'", {"type": "array", "items": {"type": "string"}}, ["aa", "bb"], id="texts"
        ),
        pytest.param("with value", {"type": "boolean"}, True, id="yes"),
        pytest.param("without value", {"type": "boolean"}, False, id="no"),
    ],
)
def test_a_parameter_is_filled_by_type(query: str, schema: Mapping[str, object], value: object) -> None:
    assert _choose_arguments(query, schema) == {"value": value}


def test_a_number_behind_the_word_of_the_parameter_is_taken() -> None:
    doc = make_doc(
        "oven.heat", {"minutes": {"type": "integer"}, "degrees": {"type": "integer"}}, ["minutes", "degrees"]
    )
    assert _list_calls("heat the oven, degrees 180, minutes 25", doc) == [
        ("oven.heat", {"minutes": 25, "degrees": 180})
    ]


@each_case("kind", ["string", "integer", "array", "dict", "boolean"])
def test_an_optional_parameter_that_nothing_fits_is_left_out(kind: str) -> None:
    assert _choose_arguments("", {"type": kind}, name="colour", required=False) == {}


@each_case(
    ("schema", "value"),
    [
        ({"type": "integer"}, 1),
        ({"type": "float"}, 1),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "dict"}, {}),
        ({"type": "string", "enum": ["red", "green"]}, "red"),
    ],
)
def test_a_required_parameter_that_nothing_fits_gets_a_stand_in(
    schema: Mapping[str, object], value: object
) -> None:
    assert _choose_arguments("", schema, name="colour") == {"colour": value}


# Several calls


def test_parts_that_fill_a_call_each_become_calls() -> None:
    assert _list_calls("Lower the blinds in the Kitchen and lower the blinds in the Hall", BLINDS) == [
        ("blinds.lower", {"room": "Kitchen"}),
        ("blinds.lower", {"room": "Hall"}),
    ]


def test_parts_may_call_different_functions() -> None:
    assert _list_calls(
        "dim the lamp in the Hall to 30; then lower the blinds in the Study", LAMP, BLINDS
    ) == [
        ("lamp.dim", {"room": "Hall", "percent": 30}),
        ("blinds.lower", {"room": "Study"}),
    ]


def test_parts_that_would_repeat_a_call_make_one() -> None:
    calls = _list_calls("Lower the blinds in the Hall. Yes, lower the blinds in the Hall", BLINDS)
    assert calls == [("blinds.lower", {"room": "Hall"})]


# What it sees


def test_the_truth_does_not_matter() -> None:
    entry = make_entry(query="dim the lamp in the Hall to 30", functions=[LAMP], expect=[{"lamp.dim": {}}])
    blind = replace(entry, expectation=NoCall(), id="other", set_aside="broken")
    assert ask_model(FC, entry) == ask_model(FC, blind)


def test_it_answers_the_last_words_of_the_user() -> None:
    turn = (
        Message("system", "Lower the blinds in the Study."),
        Message("user", "Lower the blinds in the Hall."),
        Message("assistant", "Done."),
        Message("user", "Now dim the lamp in the Attic to 5."),
        Message("assistant", "Sure."),
    )
    entry = replace(make_entry(functions=[LAMP, BLINDS], expect=[{"lamp.dim": {}}]), turns=(turn,))
    assert ask_model(PROMPT, entry) == Completion(text="[lamp.dim(room='Attic', percent=5)]")


def test_each_turn_is_answered_by_its_own_words_once() -> None:
    """After its calls it has nothing to say, nor where the user says nothing."""
    entry = make_multi_turn(
        ("Lower the blinds in the Hall.", []),
        ("", []),
        ("Now dim the lamp in the Attic to 5.", []),
        functions=[LAMP, BLINDS],
    )
    nothing = Completion(text="No function seems to fit.")
    answers = {(turn, step): ask_model(PROMPT, entry, turn, step) for turn in range(3) for step in range(3)}
    assert {place: answer.text for place, answer in answers.items() if answer != nothing} == {
        (0, 0): "[blinds.lower(room='Hall')]",
        (2, 0): "[lamp.dim(room='Attic', percent=5)]",
    }


def test_of_a_golden_path_it_tries_the_first_step_only() -> None:
    path = make_golden_path(query="lower the blinds in the Hall", functions=[BLINDS])
    first = ask_model(LexicalModel(Prompting.make_default(Mode.FC, Names.DOTTED)), path)
    assert first == Completion(tool_calls=(ToolCall("blinds-lower", '{"room": "Hall"}', "call_0"),))
    assert ask_model(FC, path, step=1) == Completion(text="No function seems to fit.")


def test_names_are_shown_in_the_manner_of_the_run() -> None:
    entry = make_entry(
        query="lower the blinds in the Hall", functions=[BLINDS], expect=[{"blinds.lower": {}}]
    )
    answer = ask_model(LexicalModel(Prompting.make_default(Mode.PROMPT, Names.UNDERSCORED)), entry)
    assert answer == Completion(text="[blinds_lower(room='Hall')]")


_OFFERING = [
    category
    for category in CATEGORIES.values()
    if category.kind != "chat" and category.group not in {Group.NEXT_STEP, Group.MCP, Group.SERVER}
]
"""The categories of core that offer functions: without any, a reply in words is right."""


@pytest.mark.nightly
@each_case("category", _OFFERING, ids=lambda category: category.name)
def test_no_category_of_core_is_too_easy(category: Category, pool: Pool, tmp_path: Path) -> None:
    suite = open_suite("core", tmp_path)
    model = PROMPT if category.varies_others else FC
    manner = ModelPresentation("lexical", model.prompting)

    found = [o.judgement for o in judge_entries(model, manner, suite, [category], pool)]

    assert any(isinstance(judgement.official, Failed) for judgement in found)


def test_the_scorecard_says_that_it_is_only_a_baseline() -> None:
    assert FC.notes == (
        "lexical is a baseline without a model (--fcbench-model names one): it matches words, so most "
        "entries are expected to fail",
    )


# Any question

_WORDS = st.sampled_from(
    ["dim", "lamp", "lower", "blinds", "Hall", "'x y'", "3", "2.5", "and", ";", "not", "percent"]
)


def _any_entry(query: str) -> Entry:
    return make_entry("parallel", query=query, functions=[LAMP, BLINDS], expect=[{"lamp.dim": {}}])


@given(st.text(max_size=80) | st.lists(_WORDS, max_size=15).map(" ".join))
def test_any_question_gets_the_same_answer_every_time(query: str) -> None:
    first = ask_model(FC, _any_entry(query))
    assert first == ask_model(LexicalModel(Prompting.make_default(Mode.FC, Names.DOTTED)), _any_entry(query))
    assert (first.text is None) != (first.tool_calls is None)


@given(st.lists(_WORDS, max_size=15).map(" ".join))
def test_every_call_is_of_an_offered_function_with_its_required_parameters(query: str) -> None:
    for name, arguments in _list_calls(query, LAMP, BLINDS):
        doc = {"lamp.dim": LAMP, "blinds.lower": BLINDS}[name]
        assert isinstance(arguments, dict)
        assert set(doc.required) <= arguments.keys() <= doc.properties.keys()


def test_a_long_number_keeps_its_digits() -> None:
    assert _choose_arguments("to 12345678901234567", {"type": "integer"}) == {"value": 12345678901234567}


def test_a_number_of_any_length_is_no_trouble() -> None:
    assert _choose_arguments(f"to {'9' * 400}", {"type": "integer"})
