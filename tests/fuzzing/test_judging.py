"""Whatever a model answered gets verdicts: the same twice, in words that can be printed, that can be kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Entry, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.transcript import (
    AuxiliaryCall,
    Completion,
    Fault,
    Party,
    PathSettings,
    RecordedCall,
    Step,
    Transcript,
)
from pytest_fcbench.domain.verdict import Failed, Judgement, JudgeRating, NotScored, Passed
from pytest_fcbench.execution.outcomes import (
    Limit,
    Outcome,
    Raised,
    Responded,
    Response,
    Returned,
    Stopped,
    Unanswered,
    Unreached,
)
from pytest_fcbench.judging import builtin
from pytest_fcbench.judging import questions as ratings
from pytest_fcbench.judging.questions import Equivalence, JudgeQuestion, Unfit
from pytest_fcbench.judging.text_normalization import find_differences
from pytest_fcbench.kinds import chat, relevance
from pytest_fcbench.kinds.answers import verdict as answer
from pytest_fcbench.kinds.answers.verdict import Answers
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.execution import rest_verdict as rest
from pytest_fcbench.kinds.execution import verdict as execution
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.kinds.golden_path.questions import (
    ask_completeness,
    ask_correctness,
    ask_equivalence,
)
from pytest_fcbench.kinds.sql import kind as sql
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.scorecard.record import build_record, from_json, to_json
from tests.factories import make_doc, make_entry
from tests.fuzzing.strategies import change_values, hostile_text, json_values, mutate_texts, words
from tests.fuzzing.targets import make_target
from tests.fuzzing.test_reading import completions, docs, names, syntaxes, texts
from tests.judging import test_builtin
from tests.kinds.golden_path import test_conversation as test_golden_path
from tests.kinds.golden_path.talking import CORRECTED, OFFICIAL
from tests.kinds.sql.shop import TABLES
from tests.kinds.sql.test_statements import CALL_ARGUMENTS
from tests.kinds.state import test_verdict as test_state

faults = st.none() | st.none() | st.sampled_from(Fault)
answers = st.builds(lambda said, fault: replace(said, fault=fault), completions, faults)


def draw_transcripts(entry: str = "core:x", most: int = 1) -> st.SearchStrategy[Transcript]:
    """Draw conversations of at most so many turns; of one answer where that is one."""
    steps = (
        st.builds(Step, answers)
        if most == 1
        else st.builds(
            Step, answers, st.lists(texts, max_size=3).map(tuple), st.lists(words, max_size=3).map(tuple)
        )
    )
    turns = st.lists(steps, min_size=1, max_size=min(most, 3)).map(tuple)
    return st.builds(
        Transcript,
        st.just(entry),
        words,
        st.builds(Prompting, st.sampled_from(Mode), names, syntaxes),
        st.lists(turns, min_size=1, max_size=most).map(tuple),
    )


def assert_sound(entry: Entry, transcript: Transcript, judgement: Judgement, again: Judgement) -> None:
    """Check the laws of every judgement."""
    assert repr(again) == repr(judgement)
    for verdict in (judgement.official, judgement.corrected):
        assert isinstance(verdict, (Passed, Failed, NotScored))
        if not isinstance(verdict, Passed):
            assert verdict.reason == make_printable(verdict.reason)
            verdict.reason.encode()
    manner = ModelPresentation(transcript.model, transcript.prompting)
    kept = json.dumps(to_json(build_record(entry, manner, judgement, transcript)))
    assert kept.isascii()
    assert json.dumps(to_json(from_json(json.loads(kept)))) == kept


_ACCEPTED = st.dictionaries(
    st.sampled_from(["city", "days", "x", "a"]) | words,
    st.lists(json_values, max_size=3) | json_values,
    max_size=3,
)
_CALLED = st.builds(ExpectedCall, st.sampled_from(["weather.forecast", "a.b"]) | words, _ACCEPTED)
_CATEGORIES = ("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "live_simple")


@make_target(
    category=st.sampled_from(_CATEGORIES),
    offered=st.just([make_doc()]) | st.lists(docs, min_size=1, max_size=2),
    expected=st.lists(_CALLED, min_size=1, max_size=3),
    transcript=draw_transcripts(),
    set_aside=st.none() | words,
)
def test_calls_are_matched(
    category: str,
    offered: list[object],
    expected: list[ExpectedCall],
    transcript: Transcript,
    set_aside: str | None,
) -> None:
    entry = make_entry(category, functions=offered, expect=[], set_aside=set_aside)  # type: ignore[arg-type]
    entry = replace(entry, expectation=ExpectedCalls(tuple(expected)))
    assert_sound(entry, transcript, ast.judge(entry, transcript), ast.judge(entry, transcript))


@make_target(
    category=st.sampled_from(["irrelevance", "live_irrelevance", "live_relevance"]),
    offered=st.just([make_doc()]) | st.lists(docs, max_size=2),
    transcript=draw_transcripts(),
)
def test_abstentions_are_matched(category: str, offered: list[object], transcript: Transcript) -> None:
    entry = make_entry(category, functions=offered)  # type: ignore[arg-type]
    assert_sound(entry, transcript, relevance.judge(entry, transcript), relevance.judge(entry, transcript))


_SAID = (
    mutate_texts(
        [
            "{'answer': 'Oslo', 'context': 'It was told.'}",
            '{"answer": ["a", 1], "context": {}}',
            "I do not know. {“answer”: “$1,234.50”, “context”: “x”}",
            "The answer is 1,234.5 dollars, not €7.",
        ]
    )
    | texts
)


@make_target(
    transcript=draw_transcripts(most=2),
    said=_SAID,
    right=st.lists(words | hostile_text, min_size=1, max_size=3),
)
def test_answers_in_words_are_matched(transcript: Transcript, said: str, right: list[str]) -> None:
    entry = replace(make_entry("memory_kv"), expectation=Answers(tuple(right)), scene=Scene((), {}))
    last = Step(Completion(text=said), ("f()",) if transcript.last.tool_calls else ())
    for held in (transcript, replace(transcript, turns=((last,),))):
        assert_sound(entry, held, answer.judge(entry, held), answer.judge(entry, held))


_OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Returned, json_values),
    st.builds(Raised, words),
    st.builds(Stopped, st.sampled_from(Limit), words),
    st.builds(Unanswered, words),
)


@make_target(
    transcript=draw_transcripts(),
    outcomes=st.lists(_OUTCOMES, min_size=1, max_size=4),
    kinds=st.lists(st.sampled_from(ResultRule), min_size=1, max_size=3),
    category=st.sampled_from(["exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple"]),
)
def test_results_are_matched(
    transcript: Transcript, outcomes: list[Outcome], kinds: list[ResultRule], category: str
) -> None:
    calls = tuple(f"weather.forecast(city='{n}')" for n in range(len(kinds)))
    entry = replace(make_entry(category, expect=[]), expectation=ExpectedResults(calls, tuple(kinds)))

    def execute(
        calls: Sequence[str], recorded: Sequence[RecordedCall], own: Sequence[str]
    ) -> Sequence[Outcome]:
        return [outcomes[sum(map(ord, call)) % len(outcomes)] for call in calls]

    first, again = (execution.judge(entry, transcript, execute) for _ in range(2))
    assert_sound(entry, transcript, first, again)


_BODIES = json_values.map(json.dumps) | mutate_texts(
    ['{"a": [1, {"b": null}], "c": "d"}', "[]", '[{"a": 1}, {"a": 2}]']
)
_RESPONSES: st.SearchStrategy[Response] = st.one_of(
    st.builds(Responded, words, words, st.sampled_from([200, 200, 200, 404]), _BODIES),
    st.builds(Raised, words),
    st.builds(Unanswered, words),
    st.builds(Unreached, words),
)


@make_target(transcript=draw_transcripts(), truth=_RESPONSES, found=_RESPONSES, said=texts)
def test_responses_are_matched(transcript: Transcript, truth: Response, found: Response, said: str) -> None:
    call = "requests.get(url='https://a.example/')"
    entry = replace(make_entry("rest", expect=[]), expectation=ExpectedResponse(call))

    def perform(made: str) -> Response:
        return truth if made == call else found

    spoken = Step(Completion(text=f"[requests.get(url='https://a.example/?{said}')]"))
    for held in (transcript, replace(transcript, turns=((spoken,),))):
        assert_sound(entry, held, rest.judge(entry, held, perform), rest.judge(entry, held, perform))


@make_target(made=CALL_ARGUMENTS, right=CALL_ARGUMENTS, transcript=draw_transcripts())
def test_statements_are_matched(
    made: dict[str, object], right: dict[str, object], transcript: Transcript
) -> None:
    doc = make_doc("sql.execute", {name: {"type": "any"} for name in (*made, *right)})
    expected = ExpectedCall("sql.execute", {name: [value] for name, value in right.items()})
    entry = replace(
        make_entry("sql", functions=[doc], expect=[]), tables=TABLES, expectation=ExpectedCalls((expected,))
    )
    spoken = Step(Completion(text=f"[sql.execute(**{made!r})]"))
    named = Step(Completion(text=f"[sql.execute({', '.join(f'{k}={v!r}' for k, v in made.items())})]"))
    written = replace(transcript.prompting, syntax="python")
    for step in (spoken, named, transcript.turns[-1][-1]):
        held = replace(transcript, turns=((step,),), prompting=written)
        assert_sound(entry, held, sql.judge(entry, held), sql.judge(entry, held))


_REPLIES = (
    mutate_texts(
        [
            '{"score": 1, "reason": "."}',
            '```json\n{"score": 2, "reason": "so"}\n```',
            '{"same": true, "reason": "."}',
        ]
    )
    | texts
)


@make_target(transcript=draw_transcripts(), reply=_REPLIES, fault=faults)
def test_words_are_rated(transcript: Transcript, reply: str, fault: Fault | None) -> None:
    entry = make_entry("chatable", functions=[])
    asked = chat.build_question(entry, transcript)
    aside = AuxiliaryCall(Party.JUDGE, "0" * 64, Completion(reply, fault=fault))
    held = replace(transcript, asides=(aside,))
    assert_sound(entry, held, chat.judge(entry, held), chat.judge(entry, held))
    with suppress(Unfit):
        assert 0 <= asked.answer(Completion(reply)).score <= 2


@make_target(
    reply=_REPLIES | json_values.map(json.dumps),
    history=st.lists(st.dictionaries(words, json_values, max_size=2), max_size=2),
    said=words,
)
def test_any_reply_of_a_judge_is_read(reply: str, history: list[dict[str, object]], said: str) -> None:
    entry = make_entry("chatable", functions=[], query=said)
    call = {"name": "f", "arguments": history[0] if history else {}}
    asked: tuple[JudgeQuestion[Equivalence] | JudgeQuestion[JudgeRating], ...] = (
        ask_equivalence(entry, call, call, history),
        ask_completeness(entry, said),
        ask_correctness(entry, history, said),
        ratings.ask_relevance(entry, said),
    )
    for question in asked:
        with suppress(Unfit):
            question.answer(Completion(reply))


# Several turns

_CALLS = st.sampled_from(
    [
        "ls()",
        "cd(folder='drafts')",
        "touch(file_name='a')",
        "rm(file_name='notes.txt')",
        "pwd()",
        "fillFuelTank(fuelAmount=1)",
        "startEngine(ignitionMode='START')",
        "get_ticket(ticket_id=1)",
        "close_ticket(ticket_id=1)",
        "add(a=1, b=2)",
    ]
)
_TURN = st.lists(_CALLS | texts, max_size=3)


@make_target(
    truth=st.lists(st.lists(_CALLS, max_size=3), min_size=1, max_size=3),
    made=st.lists(st.lists(_TURN, min_size=1, max_size=3), min_size=1, max_size=3),
    syntax=syntaxes,
    last=answers,
)
def test_conversations_are_matched(
    truth: list[list[str]], made: list[list[list[str]]], syntax: str, last: Completion
) -> None:
    entry = test_state.entry_of(truth)
    turns = [
        [
            Step(
                Completion(f"[{', '.join(calls)}]" if calls else "Done."), tuple(calls), ("{}",) * len(calls)
            )
            for calls in turn
        ]
        for turn in made
    ]
    turns[-1].append(Step(last))
    transcript = Transcript(
        entry.key, "test", Prompting(Mode.PROMPT, Names.DOTTED, syntax), tuple(map(tuple, turns))
    )
    judgement = state.judge(entry, transcript, test_state.open_entry)
    assert_sound(entry, transcript, judgement, state.judge(entry, transcript, test_state.open_entry))


@make_target(one=json_values, edits=change_values([{"a": [1, {"b": "c"}], "d": {"e": None}}]))
def test_any_two_states_are_told_apart(one: object, edits: object) -> None:
    for expected, found in ((one, edits), (edits, one), (edits, edits)):
        assert bool(list(find_differences(expected, found))) == (expected != found)


# Along golden paths

_BREAKS = test_golden_path.test_no_answer_breaks_it.hypothesis.inner_test


@make_target(
    driven=st.sampled_from([OFFICIAL, CORRECTED]),
    syntax=syntaxes,
    answers=test_golden_path.ANSWERS,
    replies=st.lists(test_golden_path.ASIDES, min_size=1, max_size=3),
    asks=st.booleans(),
)
def test_walks_are_walked(
    driven: PathSettings, syntax: str, answers: list[Completion], replies: list[Completion], asks: bool
) -> None:
    _BREAKS(driven=driven, syntax=syntax, answers=answers, replies=replies, asks=asks)


@make_target(
    doc=docs,
    made=st.dictionaries(words, json_values, max_size=3),
    expected=st.dictionaries(words, json_values, max_size=3),
)
def test_arguments_are_compared_by_rules(
    doc: FunctionDoc, made: dict[str, object], expected: dict[str, object]
) -> None:
    for used in (test_builtin.DOC, doc):
        found = builtin.compare_arguments(used, made, expected)
        assert make_printable(found.reason)
        assert found == builtin.compare_arguments(used, made, expected)
