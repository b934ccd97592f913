"""Questions that are alike are found, all of them, without comparing all with all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.environments.world import Vector
from pytest_fcbench.kinds.relevance import NoCall
from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit import duplicates
from pytest_fcbench.tools.audit.duplicates import compute_rouge_l, find_pairs, read_question
from pytest_fcbench.tools.audit.findings import join_user_messages
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_multi_turn
from tests.tools.audit.made import list_findings, make_facts

WORDS = st.lists(st.sampled_from("abcde"), max_size=12)


@each_case(
    ("one", "other", "score"),
    [
        ("a b c", "a b c", 1.0),
        ("a b c d", "b d", 4 / 6),
        ("a b", "b a", 0.5),
        ("a", "b", 0.0),
        ("", "", 1.0),
        ("", "a", 0.0),
    ],
)
def test_rouge_l_of_short_texts(one: str, other: str, score: float) -> None:
    assert compute_rouge_l(one.split(), other.split()) == pytest.approx(score)


def measure_common(one: list[str], other: list[str]) -> int:
    """Return the length of the longest common subsequence, from its definition."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + measure_common(one[1:], other[1:])
    return max(measure_common(one[1:], other), measure_common(one, other[1:]))


@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_rouge_l_is_that_of_its_definition(one: list[str], other: list[str]) -> None:
    if one or other:
        assert compute_rouge_l(one, other) == pytest.approx(
            2 * measure_common(one, other) / (len(one) + len(other))
        )


@given(st.lists(WORDS, max_size=12), st.sampled_from([0.3, 0.5, 0.56, 0.7, 0.8, 1.0]))
def test_the_filter_loses_no_pair(texts: list[list[str]], least: float) -> None:
    asked = [
        read_question(make_entry(query=" ".join(words), entry_id=f"e{n}")) for n, words in enumerate(texts)
    ]
    found = {(pair.question.source.id, pair.other.source.id) for pair in find_pairs(asked, asked, least)}
    expected = {
        (one.source.id, other.source.id)
        for n, one in enumerate(asked)
        for other in asked[:n]
        if one.words and compute_rouge_l(one.words, other.words) >= least
    }
    assert found == expected
    across = {
        (pair.question.source.id, pair.other.source.id) for pair in find_pairs(asked, list(asked), least)
    }
    assert across == expected | {(b, a) for a, b in expected} | {(q.source.id,) * 2 for q in asked if q.words}


def test_scripts_without_spaces_are_taken_sign_by_sign() -> None:
    assert read_question(make_entry(query="東京の天気, please")).words == (
        "東",
        "京",
        "の",
        "天",
        "気",
        "please",
    )


def test_an_entry_that_stands_twice() -> None:
    facts = make_facts(
        make_entry(entry_id="a"), make_entry(entry_id="b"), make_entry(entry_id="c", query="Hm?")
    )
    assert list_findings(duplicates.find_duplicates, facts) == [
        ("b", "certain", "is a duplicate of a: same question, functions and truth")
    ]


def test_one_question_with_two_truths() -> None:
    idle = replace(make_entry("irrelevance", entry_id="b"), expectation=NoCall())
    assert list_findings(duplicates.find_duplicates, make_facts(make_entry(entry_id="a"), idle)) == [
        (
            "b",
            "certain",
            "asks the same as a, with the same functions, but expects something else: no call; "
            "there ['weather.forecast']",
        )
    ]


def test_any_call_does_not_contradict_a_certain_one() -> None:
    told = list_findings(duplicates.find_duplicates, make_facts(make_entry(), make_entry("live_relevance")))
    assert [severity for _, severity, _ in told] == ["hint"]


def test_questions_that_are_nearly_the_same() -> None:
    near = make_entry(entry_id="b", query="What will the weather in Oslo be?")
    ((entry, severity, evidence),) = list_findings(
        duplicates.find_duplicates, make_facts(make_entry(entry_id="a"), near)
    )
    assert (entry, severity) == ("b", "hint")
    assert evidence.startswith("is like a (ROUGE-L 0.86), with the same functions: 'What will")
    assert (
        list_findings(duplicates.find_duplicates, make_facts(make_entry(entry_id="a"), near, threshold=0.9))
        == []
    )


@each_case(
    "other",
    [
        pytest.param(make_entry(entry_id="b", functions=[make_doc("other")]), id="other functions"),
        pytest.param(make_entry(entry_id="b", query="Is it cold?"), id="another question"),
        pytest.param(
            replace(make_entry(entry_id="b"), cluster="t1", expectation=NoCall()), id="alike on purpose"
        ),
        pytest.param(
            replace(make_entry("next_call", entry_id="b"), cluster="t1"), id="steps of a conversation"
        ),
    ],
)
def test_what_is_no_duplicate(other: object) -> None:
    first = replace(make_entry(entry_id="a"), cluster=getattr(other, "cluster", None))
    assert list_findings(duplicates.find_duplicates, make_facts(first, other)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(("added", "severity"), [("", "certain"), (" Please.", "hint")])
def test_a_cluster_is_no_reason_to_ask_for_the_same_twice(added: str, severity: str) -> None:
    first = replace(make_entry(entry_id="a"), cluster="t1")
    other = replace(make_entry(entry_id="b", query=f"{join_user_messages(first)}{added}"), cluster="t1")
    found = list_findings(duplicates.find_duplicates, make_facts(first, other))
    assert [(entry, how) for entry, how, _ in found] == [("b", severity)]


def test_multi_turn_categories_are_made_of_each_other() -> None:
    turns = (("Make a folder called drafts please", ["mkdir(dir_name='drafts')"]),)
    base = make_multi_turn(*turns, entry_id="a")
    long = make_multi_turn(*turns, entry_id="b", category="multi_turn_long_context")
    assert list_findings(duplicates.find_duplicates, make_facts(base, long)) == []
    assert len(list_findings(duplicates.find_duplicates, make_facts(base, replace(base, id="c")))) == 1


def test_questions_about_the_web_are_put_with_and_without_snippets() -> None:
    suite = core.open_suite(Path())
    base, plain = (suite.load(CATEGORIES[f"web_search_{kind}"])[0] for kind in ("base", "no_snippet"))
    assert list_findings(duplicates.find_duplicates, make_facts(base, plain)) == []
    assert len(list_findings(duplicates.find_duplicates, make_facts(base, replace(base, id="again")))) == 1


def test_overlap_with_another_suite() -> None:
    other = make_entry(suite="bfcl", entry_id="x", category="irrelevance")
    near = make_entry(entry_id="b", query="What will the weather in Oslo be?")
    facts = make_facts(make_entry(entry_id="a"), near, make_entry(entry_id="c", query="Hm?"), against=[other])
    told = list_findings(duplicates.find_overlaps, facts)
    assert [(entry, severity) for entry, severity, _ in told] == [("a", "likely"), ("b", "hint")]
    assert told[0][2] == "is like bfcl:x (ROUGE-L 1.00): 'What will the weather in Bergen be?'"
    assert list_findings(duplicates.find_overlaps, make_facts(near)) == []


RAIN = "Rain in Bergen?"
MEANT = {
    "What will the weather in Bergen be?": (1.0, 0.0),
    RAIN: (0.96, 0.28),
    "Hm?": (0.0, 1.0),
}


def _embed_texts(texts: Sequence[str]) -> Sequence[Vector]:
    return [list(MEANT[text]) for text in texts]


def test_questions_that_mean_the_same() -> None:
    first, again = make_entry(entry_id="a"), make_entry(entry_id="b", query=RAIN)
    hm = make_entry(entry_id="c", query="Hm?")
    told = list_findings(duplicates.find_paraphrases, make_facts(first, again, hm, embed=_embed_texts))
    assert told == [
        ("b", "hint", "has the same meaning as a (cosine 0.96): 'What will the weather in Bergen be?'")
    ]
    assert list_findings(duplicates.find_paraphrases, make_facts(first, again, hm)) == []


@each_case(
    "other",
    [
        pytest.param(make_entry(entry_id="b"), id="in the same words, which is a duplicate"),
        pytest.param(make_entry(entry_id="b", query="Hm?"), id="another meaning"),
        pytest.param(
            make_entry(entry_id="b", query=RAIN, functions=[make_doc("other")]),
            id="other functions",
        ),
        pytest.param(replace(make_entry(entry_id="b", query=RAIN), cluster="t"), id="variants on purpose"),
    ],
)
def test_what_is_no_paraphrase(other: Entry) -> None:
    first = replace(make_entry(entry_id="a"), cluster=other.cluster)
    assert list_findings(duplicates.find_paraphrases, make_facts(first, other, embed=_embed_texts)) == []


def test_another_suite_may_mean_the_same_with_any_functions() -> None:
    other = make_entry("irrelevance", suite="bfcl", entry_id="x", query=RAIN)
    ((entry, _, evidence),) = list_findings(
        duplicates.find_paraphrases, make_facts(make_entry(entry_id="a"), against=[other], embed=_embed_texts)
    )
    assert (entry, evidence) == ("a", "has the same meaning as bfcl:x (cosine 0.96): 'Rain in Bergen?'")


def test_questions_that_are_alike_or_made_from_one_another_are_one_task() -> None:
    texts = ["Book a table for two at noon", "Book a table for six at noon", "What is the tide today?"]
    asked = [replace(make_entry(query=text), id=f"e{number}") for number, text in enumerate(texts)]
    made = replace(make_entry(query="When is high water?"), id="e3", parents=(asked[2].key, "core:gone"))
    # The first two share six of seven words.
    assert duplicates.count_distinct_tasks(asked[:1]) == 1
    assert duplicates.count_distinct_tasks(asked) == 2
    assert duplicates.count_distinct_tasks([*asked, made]) == 2
    assert duplicates.count_distinct_tasks([*asked, replace(made, parents=())]) == 3
