"""The calls of a right answer to an entry of each kind, and the answer itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Entry, Expectation
from pytest_fcbench.domain.transcript import AskModel, Call
from pytest_fcbench.kinds.answers.truth import Answers, Facts
from pytest_fcbench.kinds.execution.truth import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.kinds.kind import ABSTENTION, DONE, RightAnswer, RightCalls
from pytest_fcbench.kinds.table import find_kind
from tests.factories import make_doc, make_entry, make_golden_path, make_multi_turn
from tests.mcp_servers.made import make_server_entry

DOC = make_doc("add", {"a": {"type": "integer"}, "b": {"type": "integer"}}, ["a"])
ADD, SEARCH = Call("add", {"a": 1, "b": 2}), Call("search_engine_query", {"keywords": "rain"})
TALK = make_multi_turn(("Add.", ["add(1, 2)", "no call"]), ("Wait.", []), functions=[DOC])


def _make_entry(category: str, truth: Expectation) -> Entry:
    return replace(make_entry(category, functions=[DOC]), expectation=truth)


@pytest.mark.parametrize(
    ("entry", "calls"),
    [
        pytest.param(
            make_entry(functions=[DOC], expect=[{"add": {"a": [1, 7], "b": [2, ""]}}]),
            [[[Call("add", {"a": 1})]]],
            id="the first accepted values",
        ),
        pytest.param(make_entry("irrelevance"), [], id="no call"),
        pytest.param(make_entry("live_relevance"), [], id="any call"),
        pytest.param(TALK, [[[ADD]], [[]]], id="texts by turn, but for those that are no calls"),
        pytest.param(
            make_server_entry(("Count.", ["put-goods(name='tea', count=2)"])),
            [[[Call("put-goods", {"name": "tea", "count": 2})]]],
            id="names of tools",
        ),
        pytest.param(
            make_golden_path([("f", {}, 0), ("g", {}, 0)], [("h", {}, 0)]),
            [[[Call("f", {}), Call("g", {})], [Call("h", {})]]],
            id="steps of a path",
        ),
        pytest.param(
            _make_entry("exec_simple", ExpectedResults(("add(1, b=2)",), (ResultRule.EXACT,))),
            [[[ADD]]],
            id="calls that are carried out",
        ),
        pytest.param(
            _make_entry("rest", ExpectedResponse("requests.get(url='u')")),
            [[[Call("requests.get", {"url": "u"})]]],
            id="a request",
        ),
        pytest.param(
            _make_entry("web_search_base", Answers(("wet",), (("search_engine_query(keywords='rain')",),))),
            [[[SEARCH]]],
            id="the trail to an answer",
        ),
        pytest.param(_make_entry("memory_kv", Answers(("wet",))), [], id="an answer without a trail"),
        pytest.param(_make_entry("memory_kv", Facts((("It is wet",),))), [], id="facts to keep"),
    ],
)
def test_right_calls_by_turn_and_step(entry: Entry, calls: RightCalls) -> None:
    assert [*find_kind(entry).list_right_calls(entry)] == calls


@pytest.mark.parametrize(
    ("turn", "step", "answer"),
    [
        (0, 0, RightAnswer([ADD])),
        (0, 1, RightAnswer((), DONE)),
        (1, 0, RightAnswer([], ABSTENTION)),
        (2, 0, RightAnswer((), ABSTENTION)),
    ],
)
def test_a_turn_is_answered_by_its_calls_and_then_by_words(turn: int, step: int, answer: RightAnswer) -> None:
    assert find_kind(TALK).answer_rightly(TALK, AskModel((), (), turn, step)) == answer


def test_facts_are_kept_before_words_are_said() -> None:
    entry = _make_entry("memory_rec_sum", Facts((("It is wet",),)))
    answers = [find_kind(entry).answer_rightly(entry, AskModel((), step=step)) for step in (0, 1)]
    assert answers == [
        RightAnswer([Call("memory_append", {"text": "It is wet\n"})], DONE),
        RightAnswer((), DONE),
    ]
