"""How a suite is spread."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from pytest_fcbench.kinds.execution.truth import ExpectedResults, ResultRule
from pytest_fcbench.tools.audit import distributions, strata
from tests.factories import make_doc, make_entry, make_golden_path, make_multi_turn


def test_measures_types_and_languages_are_counted_by_category() -> None:
    doc = make_doc("f", {"x": {"type": "float"}})
    found = distributions.count_by_category(
        [
            make_entry(),
            make_entry(functions=[doc], entry_id="b", query="Wie ist das Wetter?"),
            make_multi_turn(("Go", ["f()", "f()"]), ("", ["f()"]), withheld={1: [doc]}),
        ]
    )
    assert list(found) == ["simple_python", "multi_turn_base"]
    simple, multi = found.values()
    assert simple.entries == 2
    assert simple.measures["functions"] == Counter({1: 2})
    assert simple.measures["parameters"] == Counter({2: 1, 1: 1})
    assert simple.types == Counter({"string": 1, "integer": 1, "float": 1})
    assert simple.languages == Counter({"English": 1, "German": 1})
    assert (multi.measures["functions"], multi.measures["calls"], multi.measures["turns"]) == (
        Counter({2: 1}),
        Counter({3: 1}),
        Counter({2: 1}),
    )


def test_calls_of_a_right_answer() -> None:
    results = replace(
        make_entry("exec_simple", expect=[]), expectation=ExpectedResults(("f()",), (ResultRule.EXACT,))
    )
    path = make_golden_path([("f", {}, 1), ("g", {}, 2)], [("f", {}, 3)])
    entries = [make_entry(), make_entry("irrelevance"), make_entry("live_relevance"), results, path]
    assert list(map(strata.count_expected_calls, entries)) == [1, 0, 1, 1, 3]


@pytest.mark.parametrize(("counts", "text"), [({}, "-"), ({3: 5}, "3"), ({1: 3, 5: 1}, "2.0 (1-5)")])
def test_counts_are_summed_up_as_mean_and_range(counts: dict[int, int], text: str) -> None:
    assert distributions.summarize_counts(Counter(counts)) == text
