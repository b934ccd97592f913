"""docs/profiles.md is true: each example in its tables gets the verdicts that stand beside it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import DEFAULT_SYNTAX, Mode, Names, Prompting
from pytest_fcbench.domain.transcript import Completion, Ending, RecordedCall, Step, Transcript
from pytest_fcbench.domain.verdict import Judgement, Verdict
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds import chat, relevance
from pytest_fcbench.kinds.answers import verdict as final_answer
from pytest_fcbench.kinds.answers.verdict import Answers
from pytest_fcbench.kinds.calls import verdict as by_calls
from pytest_fcbench.kinds.execution import rest_verdict as rest
from pytest_fcbench.kinds.execution import verdict as execution
from pytest_fcbench.kinds.execution.verdict import ResultRule
from pytest_fcbench.kinds.golden_path.kind import judge as judge_path
from pytest_fcbench.kinds.sql import kind as sql
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.table import judge_ending
from tests.cases import each_case
from tests.conftest import ROOT
from tests.factories import make_doc, make_entry, make_transcript, tool_calls
from tests.kinds.execution.test_rest_verdict import entry_of as rest_entry
from tests.kinds.execution.test_verdict import entry_of as executed_entry
from tests.kinds.golden_path.cases import make_path_entry
from tests.kinds.golden_path.talking import CORRECTED, OFFICIAL, hold_conversation, write_call
from tests.kinds.outcomes import name_outcome
from tests.kinds.sql import shop
from tests.kinds.state.test_verdict import entry_of as state_entry
from tests.kinds.state.test_verdict import make_conversation as conversation
from tests.kinds.state.test_verdict import open_entry

TEXT = (ROOT / "docs" / "profiles.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\|(.+)\|$", re.MULTILINE)
_TYPES = {"array of array": ("array", "array"), "array of integer": ("array", "integer")}


def read_rows(section: str) -> list[list[str]]:
    """Return the cells of the examples in a section, without marks of code."""
    _, _, rest_of_page = TEXT.partition(f"## {section}\n")
    table = [
        re.split(r" *(?<!\\)\| *", row.strip()) for row in _ROW.findall(rest_of_page.partition("\n## ")[0])
    ]
    return [[_strip_marks(cell) for cell in row] for row in table[2:]]


def _strip_marks(cell: str) -> str:
    code = re.fullmatch(r"(`+) ?(.*?) ?\1", cell)
    return (code[2] if code else cell).replace(r"\n", "\n").replace(r"\t", "\t")


def _make_forecast_doc(**kinds: str) -> FunctionDoc:
    return make_doc("weather.forecast", {name: {"type": kind} for name, kind in kinds.items()}, ["city"])


def judge_reading(answer: str) -> Judgement:
    right = {"city": ["Bergen"], "days": [5], "detailed": [True]}
    doc = _make_forecast_doc(city="string", days="integer", detailed="boolean")
    entry = make_entry(functions=[doc], expect=[{doc.name: right}])
    made = re.fullmatch(r"tool call (\S+) (.*)", answer)
    return by_calls.judge(entry, make_transcript(tool_calls((made[1], made[2])) if made else answer))


def _make_schema(kind: str) -> Mapping[str, object]:
    outer, _, inner = kind.partition(" of ")
    return {"type": outer, "items": {"type": inner}} if inner else {"type": outer}


def judge_value(kind: str, accepted: str, answer: str) -> Judgement:
    doc = make_doc("f", {"x": _make_schema(kind)})
    entry = make_entry(functions=[doc], expect=[{"f": {"x": json.loads(accepted)}}])
    return by_calls.judge(entry, make_transcript(f"[f(x={answer})]"))


def judge_default(default: str, accepted: str, answer: str) -> Judgement:
    doc = make_doc("f", {"x": {"type": "integer", "default": json.loads(default)}})
    entry = make_entry(functions=[doc], expect=[{"f": {"x": json.loads(accepted)}}])
    return by_calls.judge(entry, make_transcript(answer))


def judge_source_text(language: str, kind: str, accepted: str, answer: str) -> Judgement:
    doc = make_doc("f", {"x": _make_schema(kind)})
    entry = make_entry(f"simple_{language}", functions=[doc], expect=[{"f": {"x": json.loads(accepted)}}])
    return by_calls.judge(entry, make_transcript(tool_calls(("f", {"x": answer}))))


def judge_several_calls(accepted: str, answer: str) -> Judgement:
    expect = [{"f": {"n": numbers}} for numbers in json.loads(accepted)]
    entry = make_entry(
        "parallel", functions=[make_doc("f", {"n": {"type": "integer"}}, ["n"])], expect=expect
    )
    return by_calls.judge(entry, make_transcript(answer))


def judge_relevance(category: str, answer: str) -> Judgement:
    return relevance.judge(make_entry(category), make_transcript(answer))


def judge_turns(truth: str, made: str) -> Judgement:
    return state.judge(state_entry(ast.literal_eval(truth)), conversation(ast.literal_eval(made)), open_entry)


def judge_withheld(said: str, truth: str, made: str) -> Judgement:
    messages, turns = ast.literal_eval(said), ast.literal_eval(truth)
    late = {turn: [turns[turn][0].partition("(")[0]] for turn, text in enumerate(messages) if not text}
    entry = state_entry(turns, withheld=late, said=messages)
    return state.judge(entry, conversation(ast.literal_eval(made)), open_entry)


def judge_final_answer(right: str, text: str) -> Judgement:
    entry = replace(make_entry("memory_kv"), expectation=Answers((right,)), scene=Scene((), {}))
    steps = ((Step(Completion(text=text)),),)
    syntax = DEFAULT_SYNTAX[Mode.FC]
    return final_answer.judge(
        entry, Transcript(entry.key, "test", Prompting(Mode.FC, Names.DOTTED, syntax), steps)
    )


def judge_statement(conditions: str) -> Judgement:
    truth = shop.make_arguments(columns=["name"], conditions=["price < 10", "shelf = 1"])
    made = {**truth, "conditions": json.loads(conditions)}
    return sql.judge(shop.make_sql_entry(truth), make_transcript(tool_calls(("sql_execute", made))))


def judge_words(answer: str) -> Judgement:
    return chat.judge(make_entry("chatable", functions=[]), make_transcript(answer))


def judge_formatted(name: str, answer: str) -> Judgement:
    hours = {"type": "array", "items": {"type": "dict"}}
    doc = make_doc("weather.forecast", {"city": {"type": "string"}, "hours": hours}, ["city"])
    right = {"city": ["Bergen", "Bergen & Voss"], "hours": [[{"from": [6]}], ""]}
    entry = make_entry(functions=[doc], expect=[{doc.name: right}])
    return by_calls.judge(entry, make_transcript(answer, syntax=name.replace(" ", "_")))


_STEPS: list[list[tuple[str, str, dict[str, object]]]] = [
    [("place", "Search_Hotel_Destination", {"query": "Bergen"})],
    [("stays", "Search_Hotels", {"search_type": "city", "dest_id": "11", "arrival_date": "2030-05-01"})],
    [
        ("details", "Get_Hotel_Details", {"hotel_id": "101", "arrival_date": "2030-05-01"}),
        ("reviews", "Get_Hotel_Reviews(Tips)", {"hotel_id": "101"}),
    ],
]


def judge_walk(text: str) -> Judgement:
    """Judge in each profile the conversation that its own rules hold."""
    path = [
        [RecordedCall.with_reply(name, made, {"data": name}) for _, name, made in step] for step in _STEPS
    ]
    known = {
        short: (name.replace("(", "-").replace(")", "-"), made) for s in _STEPS for short, name, made in s
    }
    answers = []
    for part in text.split(";"):
        calls = []
        for word in part.split():
            name, made = known[word.rstrip("!")]
            last = list(made)[-1]
            calls.append(
                write_call(name, **(made if not word.endswith("!") else {**made, last: "2031-01-01"}))
            )
        answers.append(calls)
    entry = make_path_entry(path)
    official = judge_path(entry, hold_conversation(entry, answers, OFFICIAL)).official
    return Judgement(official, judge_path(entry, hold_conversation(entry, answers, CORRECTED)).corrected)


def judge_ended(category: str, ending: str, answer: str) -> Judgement:
    right = {"city": ["Bergen"], "days": [5], "detailed": [True]}
    doc = _make_forecast_doc(city="string", days="integer", detailed="boolean")
    entry = make_entry(category, functions=[doc], expect=[{doc.name: right}])
    transcript = make_transcript(Completion(text=answer, ending=Ending(ending)))
    matcher = relevance.judge if category == "irrelevance" else by_calls.judge
    return judge_ending(entry, transcript, matcher(entry, transcript))


SECTIONS: Mapping[str, Callable[..., Judgement]] = {
    "Reading an answer": judge_reading,
    "Comparing values": judge_value,
    "Defaults": judge_default,
    "Java and JavaScript": judge_source_text,
    "Several calls": judge_several_calls,
    "Relevance and irrelevance": judge_relevance,
    "Unfinished answers": judge_ended,
    "Conversations": judge_turns,
    "Withheld functions and values": judge_withheld,
    "Final answers": judge_final_answer,
    "SQL": judge_statement,
    "Chat": judge_words,
    "Golden paths": judge_walk,
    "Prompt formats": judge_formatted,
}
EXAMPLES = [(section, row) for section in SECTIONS for row in read_rows(section)]


def describe_verdict(verdict: Verdict) -> str:
    return name_outcome(verdict) or "passed"


def assert_shown(shown: list[str], judgement: Judgement) -> None:
    assert shown == [describe_verdict(judgement.official), describe_verdict(judgement.corrected)]


@each_case(("section", "row"), EXAMPLES, ids=[f"{s}: {row[-3][:30]!r}" for s, row in EXAMPLES])
def test_an_example_gets_the_verdicts_beside_it(section: str, row: list[str]) -> None:
    assert_shown(row[-2:], SECTIONS[section](*row[1:-2]))


@pytest.mark.nightly
@each_case("row", read_rows("Executed calls"), ids=lambda row: row[3])
def test_an_example_that_is_carried_out(row: list[str], pool: Pool) -> None:
    _, truth, kind, answer, *shown = row
    entry = executed_entry(truth, category="exec_simple", kind=_KINDS[kind])
    assert_shown(shown, execution.judge(entry, make_transcript(answer), pool))


_KINDS = {"exact": ResultRule.EXACT, "real time": ResultRule.REAL_TIME}


@pytest.mark.parametrize("row", read_rows("Requests to web APIs"), ids=lambda row: row[1])
def test_an_example_that_asks_the_web(row: list[str], performer: Performer) -> None:
    _, answer, *shown = row
    assert_shown(shown, rest.judge(rest_entry(), make_transcript(answer), performer))


def test_every_table_is_tried() -> None:
    headings = re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    tried = {*SECTIONS, "Executed calls", "Requests to web APIs"}
    assert {heading for heading in headings if read_rows(heading)} == tried
    assert len(EXAMPLES) > 50


def test_the_profiles_differ_in_nearly_every_example() -> None:
    """Where a difference says what is the same, or has two sides, an example may have one verdict."""
    alike = [row for _, row in EXAMPLES if row[-1] == row[-2]]
    assert len(alike) <= 7, alike


def test_a_wrong_example_would_be_noticed() -> None:
    with pytest.raises(AssertionError, match="'passed' != 'ast_decoder:decoder_failed'"):
        assert_shown(["passed", "passed"], judge_reading("I do not know."))
