"""Every entry is judged by its kind, or by one that another distribution provides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import (
    Completion,
    Conversation,
    Ending,
    Party,
    PathSettings,
    Transcript,
)
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile, Verdict
from pytest_fcbench.environments import execution as environments
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds import relevance
from pytest_fcbench.kinds.kind import ConversationContext, Kind, Resources
from pytest_fcbench.kinds.table import KINDS, converse, judge, judge_ending
from pytest_fcbench.suites import core
from tests.cases import each_case
from tests.factories import make_entry, make_transcript
from tests.installing import install_distribution
from tests.kinds.golden_path.talking import FC, PROMPT
from tests.kinds.outcomes import name_outcomes

CORE = core.open_suite(Path())


def _open_entry(entry: Entry) -> Environments:
    return environments.open_environments(entry, CORE.world)


NAME = "simple_function_checker:wrong_func_name"
OUTCOMES: Mapping[str, tuple[str, str | None, str | None]] = {
    # kind, or category where it differs: (its folder, official and corrected outcome of "[f()]")
    "simple": ("calls", NAME, NAME),
    "simple_java": ("calls", "ast_decoder:decoder_failed", NAME),
    "multiple": ("calls", NAME, NAME),
    "parallel": ("calls", "parallel_function_checker_no_order:wrong_count", "wrong_count"),
    "variation": ("calls", NAME, NAME),
    "irrelevance": ("relevance", "irrelevance_error:decoder_success", "irrelevance:call"),
    "relevance": ("relevance", None, "relevance:unknown_function"),
    "state": ("state", "multi_turn:force_terminated", "multi_turn:force_terminated"),
    "memory": ("answers", "agentic:answer_not_found", "agentic:answer_not_found"),
    "web_search": ("answers", "agentic:answer_not_found", "agentic:answer_not_found"),
    "golden_path": ("golden_path", "not scored: other_rules", "not scored: other_rules"),
    "exec_simple": ("execution", "executable_checker:execution_error", "executable_checker:execution_error"),
    "exec_multiple": (
        "execution",
        "executable_checker:cannot_find_match",
        "executable_checker:execution_error",
    ),
    "exec_parallel": ("execution", "value_error:exec_result_count", "wrong_count"),
    "exec_parallel_multiple": ("execution", "value_error:exec_result_count", "wrong_count"),
    "rest": (
        "execution",
        "executable_checker_rest:execution_error",
        "executable_checker_rest:execution_error",
    ),
    "sql": ("sql", NAME, NAME),
    "own_check": ("own_check", None, None),
    "chat": ("chat", "irrelevance_error:decoder_success", "irrelevance:call"),
}


@each_case("category", CORE.categories, ids=lambda category: category.name)
def test_the_verdict_is_that_of_the_kind(category: Category, pool: Pool, performer: Performer) -> None:
    folder, official, corrected = OUTCOMES.get(category.name) or OUTCOMES[category.kind]
    entry = CORE.load(category)[0]
    transcript = make_transcript(Completion(text="[f()]"), entry=entry.key)
    found = judge(entry, transcript, Resources(_open_entry, pool, performer))
    assert KINDS[entry.kind].__module__.split(".")[2] == folder
    assert name_outcomes(found) == (official, corrected)


def test_where_words_are_asked_for_an_empty_answer_is_wrong(pool: Pool, performer: Performer) -> None:
    """Where only calls are wrong it is right: "chat" and "irrelevance" are kinds of their own."""
    given = Resources(_open_entry, pool, performer)
    chatable = judge(make_entry("chatable", functions=[]), make_transcript(""), given)
    irrelevance = judge(make_entry("irrelevance"), make_transcript(""), given)
    assert name_outcomes(chatable) == (None, "chat:empty")
    assert name_outcomes(irrelevance) == (None, None)


def test_the_table_has_the_kind_of_every_category_and_no_other() -> None:
    assert {*KINDS} == {each.kind for each in CATEGORIES.values()}


class Strict(Kind):
    """A kind that another distribution provides: it fails every answer."""

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Fail the answer."""
        return Judgement.same_in_both(Failed("strict", f"{entry.key}: nothing is good enough"))


STRICT = Strict()


def test_another_distribution_provides_the_kind_that_an_entry_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Pool, performer: Performer
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install_distribution(tmp_path, "strictness", {"fcbench.kinds": {"strict": f"{__name__}:STRICT"}})
    given = Resources(_open_entry, pool, performer)
    entry = replace(make_entry("chatable", functions=[]), other_kind="strict")
    verdict = Failed("strict", "core:chatable_0: nothing is good enough")
    assert judge(entry, make_transcript("Hello!"), given) == Judgement(verdict, verdict)
    with pytest.raises(UsageError, match=r"unknown kind .stricter.\. Did you mean .strict."):
        judge(replace(entry, other_kind="stricter"), make_transcript("Hello!"), given)


SHARED_CORE = core.open_suite(Path())


def _refuse_to_call(talk: Conversation) -> Transcript:
    """Hold the conversation with a model that calls nothing."""
    while True:
        try:
            talk.send(Completion(text="I cannot."))
        except StopIteration as done:
            transcript: Transcript = done.value
            return transcript


@pytest.mark.parametrize("profile", Profile)
def test_the_profile_drives_along_golden_paths_only(profile: Profile) -> None:
    for category in SHARED_CORE.categories:
        entry = SHARED_CORE.load(category)[0]
        manner = PROMPT if entry.variation else FC
        talk = converse(entry, ConversationContext(manner, SHARED_CORE, PathSettings(profile)))
        assert next(talk).party is Party.MODEL
        transcript = _refuse_to_call(talk)
        assert transcript.driven == (PathSettings(profile) if category.kind == "golden_path" else None)


def test_prompt_formats_need_a_prompt() -> None:
    entry = SHARED_CORE.load(CATEGORIES["format_sensitivity"])[0]
    with pytest.raises(
        NotScoredError, match=r"^prompt formats apply to prompt mode only; use --fcbench-mode=prompt$"
    ):
        converse(entry, ConversationContext(FC, SHARED_CORE, PathSettings(Profile.OFFICIAL)))


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


@each_case("ending", Ending)
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
