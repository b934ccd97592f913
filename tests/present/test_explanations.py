"""A failure as text, at any width."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.explanation import ArgumentPair, CallPair, Explanation, StateDifference
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.present.explanations import render_explanation
from tests.factories import make_format_record, make_record

CODE = "value_error:string"
RECORD = make_record(Failed(CODE, "f: city is 'Oslo', accepted: ['Bergen']"))
PAIR = CallPair(
    "f",
    "f",
    wrong=False,
    arguments=(ArgumentPair("city", "'Oslo'", "'Bergen'", True), ArgumentPair("days", "1", "1", False)),
)
EXPLANATION = Explanation((("user", "What will the weather be?"),), calls=(PAIR,))


def render(explanation: Explanation | None = EXPLANATION, width: int = 80) -> list[str]:
    lines = render_explanation(RECORD, Profile.OFFICIAL, explanation, rerun=RECORD.item_id, width=width)
    return [line.text for line in lines]


def test_all_parts_are_there() -> None:
    assert render() == [
        "core:simple_python_0 (simple_python): failed in the official profile",
        "  question   What will the weather be?",
        "                   answered                       expected",
        "  call             f                              f",
        ">            city  'Oslo'                         'Bergen'",
        "             days  1                              1",
        "> why        f: city is 'Oslo', accepted: ['Bergen']",
        "  rule       A text is not among the accepted ones; case, spaces and some",
        "             punctuation are ignored. [value_error:string]",
        "  look       Compare the marked argument with the question and with the",
        "             function's description.",
        "  run again  pytest core:simple_python_0",
        "  show       fcbench run show core:simple_python_0",
    ]


def test_a_command_can_be_pasted_whatever_the_id() -> None:
    """The names of prompt formats hold signs of the shell."""
    record = replace(make_format_record(0, 1), verdicts=RECORD.verdicts)
    *_, last = render_explanation(record, Profile.OFFICIAL, None, rerun="x", width=80)
    assert last.text == f"  show       fcbench run show '{record.item_id}'"


def test_only_what_is_wrong_is_marked() -> None:
    lines = list(render_explanation(RECORD, Profile.OFFICIAL, EXPLANATION, rerun="x", width=80))
    assert [line.text[:30].split()[1] for line in lines if line.wrong] == ["city", "why"]
    assert all(line.text.startswith("> ") == line.wrong for line in lines)


def test_answers_that_are_no_calls_stand_above_what_was_expected() -> None:
    words = Explanation(EXPLANATION.question, found=("I cannot.",), expected=("f(city='Bergen')",))
    lines = render(words)
    assert "> answered   I cannot." in lines
    assert "  expected   f(city='Bergen')" in lines
    assert "> answered   no answer" in render(replace(words, found=()))


def test_calls_without_a_partner_say_so() -> None:
    missing, extra = replace(PAIR, found=None, wrong=True), replace(PAIR, expected=None, wrong=True)
    text = "\n".join(render(replace(EXPLANATION, calls=(missing, extra))))
    assert "> call 1           (no call)                      f" in text
    assert "> call 2           f                              (no call)" in text


def test_a_turn_and_the_differences_of_the_state_are_shown() -> None:
    difference = StateDifference("files.a", "'x'", None)
    lines = render(replace(EXPLANATION, turn="turn 2 of 3", differences=(difference,)))
    assert lines[0] == "core:simple_python_0 (simple_python, turn 2 of 3): failed in the official profile"
    assert ">            files.a  (nothing)                     'x'" in lines


def test_without_its_suite_the_verdict_is_left() -> None:
    lines = render(None)
    assert "> why        f: city is 'Oslo', accepted: ['Bergen']" in lines
    assert not any(line.startswith("  question") for line in lines)


texts = st.text(max_size=300)


@given(
    st.integers(40, 200),
    st.builds(
        Explanation,
        st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=2).map(tuple),
        found=st.lists(texts, max_size=2).map(tuple),
        expected=st.lists(texts, max_size=2).map(tuple),
        calls=st.lists(
            st.builds(
                CallPair,
                st.none() | texts,
                st.none() | texts,
                st.booleans(),
                st.lists(
                    st.builds(ArgumentPair, texts, st.none() | texts, st.none() | texts, st.booleans()),
                    max_size=2,
                ).map(tuple),
            ),
            max_size=2,
        ).map(tuple),
        differences=st.lists(
            st.builds(StateDifference, texts, st.none() | texts, st.none() | texts), max_size=2
        ).map(tuple),
    ),
)
def test_whatever_a_model_wrote_lines_fit_and_can_be_printed(width: int, explanation: Explanation) -> None:
    *lines, _, _ = render(explanation, width)
    assert all(len(line) <= max(width, len(lines[0])) for line in lines)
    assert all(line.isprintable() for line in lines)
