"""Functions that fit a question by its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.tools.audit import fitting_functions as irrelevance
from pytest_fcbench.tools.audit.fitting_functions import Rarity, find_fit
from tests.cases import each_case
from tests.factories import make_doc, make_entry
from tests.tools.audit.made import list_findings, make_facts

TEXT: Mapping[str, object] = {"type": "string"}
NUMBER: Mapping[str, object] = {"type": "integer"}


def make_function(name: str, description: str, required: Mapping[str, Mapping[str, object]]) -> FunctionDoc:
    doc = make_doc(name, required, tuple(required))
    return FunctionDoc(name, description, doc.parameters)


PENALTY = make_function(
    "law.get_fine", "Gets the fine by offence and canton.", {"offence": TEXT, "canton": TEXT}
)
TIDE = make_function("get_high_tide", "Returns the high tide of a harbour.", {"harbour": TEXT, "day": NUMBER})
OPEN = make_function("open_parcel", "Opens a parcel.", {"code": TEXT})
RECIPES = make_function("count_steps_in_recipe", "Counts the steps of a recipe.", {"recipe": TEXT})
SALES = make_function(
    "sales.get_figures",
    "Gets figures of returns and orders.",
    {"kind": {"type": "string", "enum": ["returns", "orders"]}},
)
LOOKS = (PENALTY, TIDE, OPEN, RECIPES, SALES)

COMMON = [
    make_entry(
        entry_id=f"c{number}", query=f"Please create number {number} in my current diary", functions=LOOKS
    )
    for number in range(50)
]


def fit(question: str, doc: FunctionDoc) -> tuple[Sequence[str], Sequence[str]] | None:
    found = find_fit(
        question, doc, Rarity([*COMMON, make_entry("irrelevance", query=question, functions=LOOKS)])
    )
    return (found.words, found.values) if found else None


@each_case(
    ("question", "doc", "values"),
    [
        ("What's the fine for jaywalking in Uri?", PENALTY, ("jaywalking", "Uri")),
        ("What is the current high tide of Bergen on day 3?", TIDE, ("Bergen",)),
        ("Open the parcel of Anna Lind", OPEN, ("Anna Lind",)),
        ("How many returns were there", SALES, ()),
    ],
)
def test_a_function_that_answers_the_question(question: str, doc: FunctionDoc, values: Sequence[str]) -> None:
    found = fit(question, doc)
    assert found
    assert found[1] == values


@each_case(
    ("why", "question", "doc"),
    [
        ("another subject", "What's the salary for teachers in Uri?", PENALTY),
        ("a required text is not there", "What's the fine for jaywalking?", PENALTY),
        ("a text is left over", "What's the fine for jaywalking in Uri by Anna at Christmas?", PENALTY),
        ("a required number is not there", "What is the current high tide of Bergen?", TIDE),
        ("a rare word goes before", "What is the average high tide of Bergen on day 3?", TIDE),
        ("the noun is that of a longer phrase", "Get the tide calendar of Bergen on day 3", TIDE),
        ("the name ends in another noun", "What is the recipe for lasagna?", RECIPES),
        ("a question word, and an action", "Which parcel of Anna was damaged?", OPEN),
        ("no option is named", "What were the figures of May?", SALES),
        ("two sentences", "I was fined. What's the fine for jaywalking in Uri?", PENALTY),
        ("a synonym", "What's the penalty for jaywalking in Uri?", PENALTY),
    ],
)
def test_a_function_that_does_not(why: str, question: str, doc: FunctionDoc) -> None:
    assert fit(question, doc) is None, why


def test_another_action_than_that_of_the_function() -> None:
    close = make_function("close_parcel", "Closes a parcel.", {"code": TEXT})
    entries = [*COMMON, make_entry("irrelevance", query="close a parcel", functions=[close])]
    assert find_fit("close the parcel of Anna", OPEN, Rarity(entries)) is None
    assert find_fit("close the parcel of Anna", close, Rarity(entries))


def test_words_are_rarer_the_fewer_questions_have_them() -> None:
    rarity = Rarity(COMMON)
    assert rarity.rate_word("diary") == 0
    assert rarity.rate_word("7") == rarity.rate_word("unheard") == 1
    assert rarity.actions == {"open", "count"}


def test_another_entry_expects_a_call_of_the_same_function() -> None:
    facts = make_facts(make_entry(entry_id="a"), make_entry("irrelevance", entry_id="b"))
    assert list_findings(irrelevance.find_idle_functions, facts) == [
        (
            "b",
            "likely",
            "a (ROUGE-L 1.00) calls ['weather.forecast'], which is offered here too: "
            "'What will the weather in Bergen be?'",
        )
    ]


def test_another_entry_expects_a_call_for_the_same_in_more_words() -> None:
    longer = make_entry(
        entry_id="a", query="What will the weather in Bergen be on my birthday in May, please?"
    )
    # Words are rare only among many questions.
    others = [make_entry(entry_id=f"c{number}", query=f"Call number {number}") for number in range(10)]
    facts = make_facts(longer, make_entry("irrelevance", entry_id="b", query="weather Bergen"), *others)
    ((entry, severity, evidence),) = list_findings(irrelevance.find_idle_functions, facts)
    assert (entry, severity) == ("b", "likely")
    assert evidence == (
        "a has all words of the question and calls ['weather.forecast'], which is offered here too: "
        "'weather Bergen'"
    )


def test_words_in_quotes_of_another_question_are_a_text_to_work_on() -> None:
    quoting = make_entry(entry_id="a", query="Put the sentence 'weather Bergen' into Polish for my aunt")
    others = [make_entry(entry_id=f"c{number}", query=f"Call number {number}") for number in range(10)]
    facts = make_facts(quoting, make_entry("irrelevance", entry_id="b", query="weather Bergen"), *others)
    assert list_findings(irrelevance.find_idle_functions, facts) == []


def test_a_function_that_fits_by_its_words() -> None:
    doc = replace(make_doc(), description="Returns the weather forecast for a city.")
    query = "What is the weather forecast for Bergen?"
    facts = make_facts(make_entry("irrelevance", query=query, functions=[doc]))
    ((_, severity, evidence),) = list_findings(irrelevance.find_idle_functions, facts)
    assert severity == "likely"
    assert evidence == (
        "the words ['weather', 'forecast'] are those of weather.forecast, and its parameters can be given "
        "['Bergen']: 'What is the weather forecast for Bergen?'"
    )


def test_a_question_that_was_answered_in_the_conversation() -> None:
    facts = make_facts(make_entry(entry_id="a"), make_entry("next_reply", entry_id="b"))
    assert list_findings(irrelevance.find_idle_functions, facts) == []


def test_functions_that_do_not_fit() -> None:
    other = make_entry("irrelevance", entry_id="b", functions=[make_doc("chess.opening")])
    facts = make_facts(make_entry(entry_id="a"), other, make_entry("irrelevance", functions=[], entry_id="c"))
    assert list_findings(irrelevance.find_idle_functions, facts) == []
