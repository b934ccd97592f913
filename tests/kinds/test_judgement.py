"""Answers that the model did not end pass nothing by their silence, and their failures name the ending."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Completion, Ending
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Verdict
from pytest_fcbench.kinds.judgement import judge_ending
from pytest_fcbench.kinds.relevance import verdict as relevance
from tests.factories import make_entry, make_transcript
from tests.kinds.outcomes import name_outcomes

WRONG = Failed("simple_function_checker:wrong_count", "one call is missing", {"missing": 1})
OTHERS = [Ending.CUT, Ending.FILTERED, Ending.FUNCTION_CALL]


def correct(verdict: Verdict, completion: Completion, category: str = "simple_python") -> Verdict:
    """Return the corrected verdict on an answer of which both profiles thought the same."""
    transcript = make_transcript(completion, mode=Mode.FC)
    judged = judge_ending(make_entry(category), transcript, Judgement.same_in_both(verdict))
    assert judged.official == verdict
    return judged.corrected


@pytest.mark.parametrize("ending", OTHERS)
def test_what_the_model_did_not_end_is_no_abstention(ending: Ending) -> None:
    found = correct(Passed(), Completion(text="", ending=ending), "irrelevance")
    assert isinstance(found, Failed)
    assert found.code == f"answer:{ending.value}"


def test_a_refusal_is_an_abstention() -> None:
    refused = Completion(refusal="I cannot", ending=Ending.REFUSED)
    assert correct(Passed(), refused, "irrelevance") == Passed()


@pytest.mark.parametrize("ending", Ending)
def test_right_calls_are_right_however_they_ended(ending: Ending) -> None:
    assert correct(Passed(), Completion(ending=ending)) == Passed()


def test_a_call_that_the_server_could_not_read_passes_irrelevance_only_officially() -> None:
    malformed = make_transcript(Completion(ending=Ending.MALFORMED), mode=Mode.FC)
    entry = make_entry("irrelevance")
    judged = judge_ending(entry, malformed, relevance.judge(entry, malformed))
    assert name_outcomes(judged) == (None, "irrelevance:unreadable_call")


@pytest.mark.parametrize("ending", OTHERS)
def test_a_failure_names_the_ending_and_keeps_its_details(ending: Ending) -> None:
    found = correct(WRONG, Completion(text="I", ending=ending))
    assert isinstance(found, Failed)
    assert (found.code, found.details) == (f"answer:{ending.value}", WRONG.details)
    assert found.reason.endswith("; one call is missing")


def test_a_refusal_has_its_words_in_one_line() -> None:
    found = correct(WRONG, Completion(refusal="I\n cannot", ending=Ending.REFUSED))
    assert isinstance(found, Failed)
    assert found.reason == "the model refused: I cannot; one call is missing"


def test_what_is_not_scored_stays_so() -> None:
    unscored = NotScored("set_aside", "wrong truth")
    assert correct(unscored, Completion(ending=Ending.CUT)) == unscored


def test_an_answer_that_the_model_ended_is_judged_as_it_is() -> None:
    assert correct(Passed(), Completion(text="", finish_reason="stop"), "irrelevance") == Passed()
    assert correct(WRONG, Completion(text="I", finish_reason="stop")) == WRONG


def test_in_a_conversation_the_turn_is_named() -> None:
    transcript = make_transcript(Completion(text="a"), mode=Mode.FC)
    cut = make_transcript(Completion(text="b", ending=Ending.CUT), mode=Mode.FC)
    talk = replace(transcript, turns=(*transcript.turns, *cut.turns))
    judged = judge_ending(make_entry("multi_turn_base"), talk, Judgement.same_in_both(WRONG))
    assert isinstance(judged.corrected, Failed)
    assert judged.corrected.reason.startswith("turn 2: the answer was cut")


def test_an_answer_after_the_turn_that_failed_is_not_the_cause() -> None:
    transcript = make_transcript(Completion(text="a"), mode=Mode.FC)
    cut = make_transcript(Completion(text="b", ending=Ending.CUT), mode=Mode.FC)
    talk = replace(transcript, turns=(*transcript.turns, *cut.turns))
    for turn, code in ((1, "wrong"), (2, "answer:length")):
        failed = Judgement.same_in_both(Failed("wrong", "why", {"turn": turn}))
        judged = judge_ending(make_entry("multi_turn_base"), talk, failed)
        assert name_outcomes(judged) == ("wrong", code)


# Officially nobody looks: an answer of nothing, which a filter has stopped, passes.
def test_a_filtered_answer_passes_irrelevance_officially_only() -> None:
    entry, filtered = make_entry("irrelevance"), Completion(text=None, ending=Ending.FILTERED)
    transcript = make_transcript(filtered, mode=Mode.FC)
    judged = judge_ending(entry, transcript, relevance.judge(entry, transcript))
    assert name_outcomes(judged) == (None, "answer:content_filter")
