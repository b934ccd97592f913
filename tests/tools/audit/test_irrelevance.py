"""Entries that expect no call though something could be called."""

from __future__ import annotations

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


def test_a_function_whose_name_stands_in_the_question() -> None:
    facts = make_facts(make_entry("irrelevance", query="What is the weather forecast for Bergen?"))
    ((_, severity, evidence),) = list_findings(irrelevance.find_idle_functions, facts)
    assert severity == "hint"
    assert evidence.startswith("every word of weather.forecast occurs in the question")


def test_a_question_that_was_answered_in_the_conversation() -> None:
    facts = make_facts(make_entry(entry_id="a"), make_entry("next_reply", entry_id="b"))
    assert list_findings(irrelevance.find_idle_functions, facts) == []


def test_functions_that_do_not_fit() -> None:
    other = make_entry("irrelevance", entry_id="b", functions=[make_doc("chess.opening")])
    facts = make_facts(make_entry(entry_id="a"), other, make_entry("irrelevance", functions=[], entry_id="c"))
    assert list_findings(irrelevance.find_idle_functions, facts) == []
