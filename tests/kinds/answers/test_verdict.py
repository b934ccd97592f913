"""Whether the final answer of a conversation is right, officially and corrected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Entry, Scene
from pytest_fcbench.domain.prompting import DEFAULT_SYNTAX, Mode, Names, Prompting
from pytest_fcbench.domain.transcript import Completion, Fault, Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Verdict
from pytest_fcbench.kinds.answers import verdict as answer
from pytest_fcbench.kinds.answers.verdict import Answers, Facts
from tests.cases import each_case
from tests.factories import make_entry


def make_answer_entry(*right: str) -> Entry:
    return replace(make_entry("memory_kv"), expectation=Answers(right), scene=Scene((), {}))


def make_answer_transcript(*steps: Step, turns: int = 1, mode: Mode = Mode.FC) -> Transcript:
    return Transcript(
        "core:memory_kv_0", "test", Prompting(mode, Names.DOTTED, DEFAULT_SYNTAX[mode]), (steps,) * turns
    )


def judge_text(text: str | None, *right: str, mode: Mode = Mode.FC) -> Judgement:
    return answer.judge(
        make_answer_entry(*right), make_answer_transcript(Step(Completion(text=text)), mode=mode)
    )


def name_verdict(verdict: Verdict) -> str:
    return verdict.code if isinstance(verdict, Failed) else verdict.status


CALL = Step(Completion(tool_calls=(ToolCall("weather.forecast", "{}"),)), ("weather.forecast()",), ("{}",))


@each_case(
    ("text", "right", "official", "corrected"),
    [
        ("{'answer': 'Oslo', 'context': 'It was told.'}", "Oslo", "passed", "passed"),
        ("Oslo", "Oslo", "passed", "passed"),
        ("Bergen", "Oslo", answer.NOT_FOUND, answer.NOT_FOUND),
        ("", "Oslo", answer.NO_LAST_MESSAGE, answer.NO_LAST_MESSAGE),
        (None, "Oslo", answer.NO_LAST_MESSAGE, answer.NO_LAST_MESSAGE),
        ("   ", "Oslo", answer.NOT_FOUND, answer.NO_LAST_MESSAGE),
        # A false right of the official rule
        ("{'answer': 'Bergen', 'context': 'Not Oslo.'}", "Oslo", "passed", answer.NOT_FOUND),
        ("{'answer': 'I do not know', 'context': 'Oslo?'}", "Oslo", "passed", answer.REFUSED),
        ("I can't answer this question, maybe Oslo.", "Oslo", "passed", answer.REFUSED),
        ("The answer is not 75.", "75", "passed", answer.NOT_FOUND),
        ("18", "1.8", "passed", answer.NOT_FOUND),
        # A false wrong of it
        ("$49.99", "$49.99", answer.NOT_FOUND, "passed"),
        ("49.99 dollars", "$49.99", answer.NOT_FOUND, "passed"),
        ("49.99 euros", "$49.99", answer.NOT_FOUND, answer.NOT_FOUND),
        ("$149.99", "$49.99", answer.NOT_FOUND, answer.NOT_FOUND),
        ("5:30 am", "05:30 AM", answer.NOT_FOUND, "passed"),
        ("Engi House", "Engi-House", answer.NOT_FOUND, "passed"),
        ("35-year-old", "35", answer.NOT_FOUND, "passed"),
        ("Hyogo", "Hyōgo", answer.NOT_FOUND, "passed"),
        ("Elke Büdenbender", "Elke Budenbender", answer.NOT_FOUND, "passed"),
        ("7.0", "7", answer.NOT_FOUND, "passed"),
        ("glue sticks", "Glue Stick", answer.NOT_FOUND, "passed"),
        ("crayons and glue sticks", "Art Glue Stick", answer.NOT_FOUND, answer.NOT_FOUND),
        ("glue stick", "Glue Sticks", answer.NOT_FOUND, "passed"),
        ("hobby", "Hobbies", answer.NOT_FOUND, "passed"),
        ("hobbies", "hobby", answer.NOT_FOUND, "passed"),
        ("Art Boxes", "art box", answer.NOT_FOUND, "passed"),
        ("William", "Williams", answer.NOT_FOUND, answer.NOT_FOUND),
        ("Williams", "William", answer.NOT_FOUND, answer.NOT_FOUND),
        ("glas", "glass", answer.NOT_FOUND, answer.NOT_FOUND),
        ("Call the auto repair shop", "Call auto repair shop", answer.NOT_FOUND, "passed"),
        ("Infinity Courts", "The Infinity Courts", answer.NOT_FOUND, "passed"),
        ("not the Beatles", "Beatles", "passed", answer.NOT_FOUND),
        ("The answer isn't Oslo.", "Oslo", "passed", answer.NOT_FOUND),
        ("It is not in Oslo.", "Oslo", "passed", answer.NOT_FOUND),
        ("Bergen rather than Oslo", "Oslo", "passed", answer.NOT_FOUND),
        ("It can't be Oslo.", "Oslo", "passed", answer.NOT_FOUND),
        ("no longer in Oslo", "Oslo", "passed", answer.NOT_FOUND),
        ("**not** Oslo", "Oslo", "passed", answer.NOT_FOUND),
        ('It is not "Oslo".', "Oslo", "passed", answer.NOT_FOUND),
        ("It isn`t Oslo.", "Oslo", "passed", answer.NOT_FOUND),
        ("It isn´t Oslo.", "Oslo", "passed", answer.NOT_FOUND),
        ("It isn′t Oslo.", "Oslo", "passed", answer.NOT_FOUND),
        # A denial ends with its clause or title, and an initial is none.
        ("Bergen isn't, Oslo is.", "Oslo", "passed", "passed"),
        ("Believe it or not, the Beatles.", "Beatles", "passed", "passed"),
        ('"Why Not" by Anna Ek', "Anna Ek", "passed", "passed"),
        ("John T. Ek", "Ek", "passed", "passed"),
        ("John T Ek", "Ek", "passed", "passed"),
        ("31 instead of the 75", "75", "passed", answer.NOT_FOUND),
        ("Oslo instead of Bergen", "Oslo", "passed", "passed"),
        ("C", "C++", answer.NOT_FOUND, answer.NOT_FOUND),
        ("C#", "C++", answer.NOT_FOUND, answer.NOT_FOUND),
        ("It is C++.", "C++", answer.NOT_FOUND, "passed"),
        ("an A+", "A+", answer.NOT_FOUND, "passed"),
        ("A+B", "A", "passed", "passed"),
        ("It starts in Oslo.", "Oslo", "passed", "passed"),
        ("General Motors", "Dollar General", answer.NOT_FOUND, answer.NOT_FOUND),
        ("the Dollar General", "Dollar General", "passed", "passed"),
        ("Euro", "euro", "passed", "passed"),
        ("forty-nine", "forty-nine dollars", answer.NOT_FOUND, "passed"),
        ("forty-nine euros", "forty-nine dollars", answer.NOT_FOUND, answer.NOT_FOUND),
        ("a krone", "a dollar", answer.NOT_FOUND, answer.NOT_FOUND),
        ("Million Baby", "Million Dollar Baby", answer.NOT_FOUND, answer.NOT_FOUND),
        ("Dont Stop", "Don't Stop", answer.NOT_FOUND, "passed"),
        ("Plan B", "Plan A", answer.NOT_FOUND, answer.NOT_FOUND),
        ("10 p.m.", "10 a.m.", answer.NOT_FOUND, answer.NOT_FOUND),
        ("10 AM", "10 a.m.", "passed", "passed"),
        ("<think>Bergen? No.</think>Oslo", "Bergen", "passed", answer.NOT_FOUND),
        ("<think>Bergen?</think>Oslo", "Oslo", "passed", "passed"),
        # The same in both
        ("116,175 people", "116175", "passed", "passed"),
        ("the 7th", "7", answer.NOT_FOUND, answer.NOT_FOUND),
        ("Osloer", "Oslo", answer.NOT_FOUND, answer.NOT_FOUND),
        ("-5", "5", "passed", answer.NOT_FOUND),
        ("-$5", "$5", answer.NOT_FOUND, answer.NOT_FOUND),
        ("$5", "-$5", answer.NOT_FOUND, answer.NOT_FOUND),
        ("−$5", "-$5", answer.NOT_FOUND, "passed"),
        ("about $3-$5", "$5", "passed", answer.RIVALS),
        ("$5 -$10", "$5-$10", answer.NOT_FOUND, "passed"),
        ("He is one of them.", "one dollar", answer.NOT_FOUND, answer.NOT_FOUND),
        ("from 10 AM to 12 PM", "10 AM - 12 PM", answer.NOT_FOUND, answer.NOT_FOUND),
        ("10AM–12PM", "10 AM - 12 PM", answer.NOT_FOUND, "passed"),
        ("2023/02/12", "2023-02-12", "passed", "passed"),
        ("about \u20105", "-5", "passed", "passed"),
        ("either Ko\u0308ln or Ko\u0308ln", "Köln", answer.NOT_FOUND, "passed"),
    ],
)
def test_the_stated_answer_has_both_verdicts(
    text: str | None, right: str, official: str, corrected: str
) -> None:
    judgement = judge_text(text, right)
    assert (name_verdict(judgement.official), name_verdict(judgement.corrected)) == (official, corrected)


def test_any_answer_will_do() -> None:
    assert judge_text("eleven", "11", "eleven") == Judgement.same_in_both(Passed())


@each_case(
    ("text", "value"),
    [
        ('{"answer": "Oslo", "context": "c"}', "Oslo"),
        ("{'answer': 'Oslo', 'context': 'c'}", "Oslo"),
        ('```json\n{"answer": "Oslo", "context": "c"}\n```', "Oslo"),
        ("So: {'answer': 'Oslo', 'context': 'c'} is my answer.", "Oslo"),
        ("{'answer': Oslo, 'context': c}", "Oslo"),
        ("{answer: Oslo}", "Oslo"),
        ("{'Answer': 'It's Oslo', 'context': 'it's told'}", "It's Oslo"),
        ("{'answer': 'a \"big\" town', 'context': ''}", 'a "big" town'),
        ('{"context": "c", "answer": 42}', "42"),
        ('{"answer": ["a", "b"]}', "a, b"),
        ("{“answer”: “Oslo”, “context”: “c”}", "Oslo"),
        ("{'answer': 'first'} no: {'answer': 'second', 'context': ''}", "second"),
        ('{"answer": "H\\u014dgo", "context": ""}', "Hōgo"),
        ('{"context": {"k": {"l": 1}}, "answer": "H\\u014dgo"}', "Hōgo"),
        # An object before the last one is none of its answer, although that one has to be read as text.
        ('{"answer": "Bergen"} No: {"answer": "Oslo", "context": "a "big" town"}', "Oslo"),
        ("{'answer': 'Bergen'} No: {'answer': 'Oslo', 'context': 'cut o", "Oslo"),
        ('{"first": {"answer": "Bergen"}, "answer": "Oslo"}', "Oslo"),
        ('{"context": {"a": 1}, "answer": "Oslo, a "big" town"}', 'Oslo, a "big" town'),
        ('{"answer": "Oslo", "context": "cut o', "Oslo"),
        ("{'answer': ''}", ""),
        ("The answer: Oslo", None),
        ("Oslo", None),
        ("", None),
    ],
)
def test_the_answer_is_read_from_the_required_form(text: str, value: str | None) -> None:
    assert answer.read_stated_answer(text) == value


@given(st.text(), st.text())
def test_the_form_is_found_whatever_is_in_it(value: str, context: str) -> None:
    form = repr({"answer": value, "context": context})
    inner = answer.read_stated_answer(f"{{'answer': {context!r}}}")
    assert inner is not None
    if "answer" not in (value + context).lower():
        assert answer.read_stated_answer(form) == value


@given(st.text(max_size=200), st.text(max_size=30))
def test_any_text_gets_a_verdict(text: str, right: str) -> None:
    assert judge_text(text, right).corrected.status in ("passed", "failed")


@given(st.text(alphabet="ab 12.,-$'", min_size=1, max_size=20))
def test_what_is_right_says_itself(right: str) -> None:
    words = any(char.isalnum() for char in right)
    assert answer.states_answer(right, right) is words


@each_case(
    "text", ["{" * 500_000, "{'answer': " * 50_000, ",answer:'" * 50_000, "1," * 300_000, "a " * 300_000]
)
def test_a_long_text_takes_no_long_time(text: str) -> None:
    assert judge_text(text, "Oslo").corrected.status == "failed"


@pytest.mark.slow
def test_words_are_split_in_time_that_grows_with_their_number() -> None:
    """For each article all that follows was once copied: this took minutes."""
    assert answer.states_answer("a " * 500_000 + "Oslo", "Oslo")


def test_a_word_may_be_repeated_without_end() -> None:
    assert answer.states_answer("in " * 6_000 + "Oslo", "Oslo")


def test_an_answer_is_looked_for_in_twenty_thousand_characters() -> None:
    assert judge_text("x" * 19_995 + " Oslo", "Oslo").corrected.status == "passed"
    judgement = judge_text("x" * 19_996 + " Oslo", "Oslo")
    assert judgement.official.status == "passed"
    assert isinstance(judgement.corrected, Failed)
    assert judgement.corrected.code == answer.NOT_FOUND
    assert "it has 20,001 characters, and at most 20,000 are looked" in judgement.corrected.reason


def test_the_last_step_without_calls_counts_officially() -> None:
    steps = (Step(Completion(text="Oslo")), CALL)
    judgement = answer.judge(make_answer_entry("Oslo"), make_answer_transcript(*steps))
    assert (name_verdict(judgement.official), name_verdict(judgement.corrected)) == (
        "passed",
        answer.NO_LAST_MESSAGE,
    )


def test_calls_to_the_end_leave_no_message() -> None:
    judgement = answer.judge(make_answer_entry("Oslo"), make_answer_transcript(CALL, CALL))
    assert name_verdict(judgement.official) == name_verdict(judgement.corrected) == answer.NO_LAST_MESSAGE


def test_a_call_that_cannot_be_read_is_no_answer() -> None:
    """Officially its text is searched like any other."""
    broken = Step(Completion(tool_calls=(ToolCall("weather.forecast", '{"city": "Oslo"'),)))
    judgement = answer.judge(make_answer_entry("Oslo"), make_answer_transcript(broken))
    assert (name_verdict(judgement.official), name_verdict(judgement.corrected)) == (
        "passed",
        answer.UNREADABLE,
    )


def test_a_failed_call_of_a_result_file() -> None:
    failed = Step(Completion(text="Error during inference: 503 Oslo", fault=Fault.INFERENCE_ERROR))
    judgement = answer.judge(make_answer_entry("Oslo"), make_answer_transcript(failed))
    assert name_verdict(judgement.official) == answer.INFERENCE_ERROR
    assert isinstance(judgement.corrected, NotScored)


@pytest.mark.parametrize("fault", [Fault.OVERFLOW, Fault.UNREADABLE_CALL])
def test_a_fault_of_its_own_is_the_models_failure(fault: Fault) -> None:
    failed = Step(Completion(text="the server says why", fault=fault))
    judgement = answer.judge(make_answer_entry("Oslo"), make_answer_transcript(failed))
    assert name_verdict(judgement.official) == answer.INFERENCE_ERROR
    assert name_verdict(judgement.corrected) == fault


def test_two_turns_are_no_answer_officially() -> None:
    judgement = answer.judge(
        make_answer_entry("Oslo"), make_answer_transcript(Step(Completion(text="Oslo")), turns=2)
    )
    assert (name_verdict(judgement.official), name_verdict(judgement.corrected)) == (
        answer.INFERENCE_ERROR,
        "passed",
    )


def test_prompting_is_judged_by_the_text() -> None:
    assert judge_text(
        "{'answer': 'Oslo', 'context': ''}", "Oslo", mode=Mode.PROMPT
    ) == Judgement.same_in_both(Passed())


def test_only_answers_are_judged() -> None:
    with pytest.raises(TypeError, match="memory_kv_0 has no answers"):
        answer.judge(replace(make_answer_entry(), expectation=Facts(())), make_answer_transcript(CALL))
