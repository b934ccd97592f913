"""Entries that expect no call though something could be called."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.tools.audit import irrelevance
from tests.factories import make_doc, make_entry
from tests.tools.audit.made import list_findings, make_facts


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
