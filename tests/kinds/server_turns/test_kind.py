"""Failed conversations whose calls acted on an MCP server have the classes of other conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import pytest

from pytest_fcbench.domain.entry import Entry, ServerProgram, ServerState
from pytest_fcbench.domain.explanation import Divergence, FailedEntry, FailureClass
from pytest_fcbench.domain.transcript import Completion, Fault
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.kinds.server_turns import kind as server_state
from pytest_fcbench.kinds.server_turns.kind import recall_calls
from pytest_fcbench.kinds.state.failure import classify_conversation
from tests.cases import each_case
from tests.factories import make_multi_turn, make_transcript
from tests.mcp_servers.made import COUNT, TEA, converse_with_shelf, make_server_entry

C = FailureClass
Answers: TypeAlias = Sequence[Sequence[tuple[str, Mapping[str, object]]] | str]


def _classify(answers: Answers, entry: Entry | None = None) -> Divergence:
    entry = entry or make_server_entry()
    transcript = converse_with_shelf(entry, *answers)
    verdict = server_state.judge(entry, transcript).official
    assert isinstance(verdict, Failed)
    return classify_conversation(FailedEntry(entry, transcript, verdict, Profile.OFFICIAL), recall_calls)


def _put(**arguments: object) -> tuple[str, Mapping[str, object]]:
    return "put-goods", arguments


PUT, RICE = "put-goods(name='tea', count=2)", _put(name="rice", count=1)
CLASSES: Mapping[str, tuple[Answers, tuple[object, ...]]] = {
    "no call": (["Done."], (C.NO_CALL, 1, PUT, None)),
    "no call later": ([[TEA], "Done.", "Two."], (C.NO_CALL, 2, "count_goods(name='tea')", None)),
    "another value": ([[_put(name="tea", count=3)]], (C.WRONG_ARGUMENT, 1, PUT, "count")),
    "another look": (
        [[TEA], "Done.", [("count_goods", {"name": "Tea"})]],
        (C.WRONG_ARGUMENT, 2, "count_goods(name='tea')", "name"),
    ),
    "too late": ([[COUNT], "Done.", [TEA, COUNT]], (C.WRONG_TURN, 1, PUT, None)),
    "one more change": ([[TEA, RICE], "Done.", [COUNT]], (C.EXTRA_CALL, 1, None, None)),
    "no such tool": ([[("sell", {"name": "tea"})]], (C.UNKNOWN_FUNCTION, 1, PUT, None)),
    "too many steps": ([[COUNT]] * 21, (C.STEP_LIMIT, 1, None, None)),
}


@each_case("name", CLASSES)
def test_a_failure_has_the_class_that_its_calls_show(name: str) -> None:
    answers, expected = CLASSES[name]
    found = _classify(answers)
    assert (found.failure, found.turn, found.expected, found.parameter) == expected


def test_a_look_beside_a_change_is_no_change() -> None:
    # In the first turn the count stands beside a change; the second shows that it only looks.
    found = _classify([[COUNT, TEA, RICE], "Done.", [COUNT]])
    assert (found.failure, found.found) == (C.EXTRA_CALL, "put-goods(name='rice',count=1)")


ENTRY = make_server_entry()


def judge_answers(*answers: object, entry: object = ENTRY) -> object:
    return server_state.judge(entry, converse_with_shelf(entry, *answers)).official  # type: ignore[arg-type]


def test_the_calls_of_the_truth_pass_in_both_profiles() -> None:
    judgement = server_state.judge(ENTRY, converse_with_shelf(ENTRY, [TEA], "Done.", [COUNT], "Two."))
    assert judgement.official == judgement.corrected == Passed()


def test_another_way_to_the_same_state_passes() -> None:
    one = ("put-goods", {"name": "tea", "count": 1})
    assert judge_answers([one], [one], "Done.", [COUNT], "Two.") == Passed()
    assert judge_answers([COUNT, one, one], "Done.", [COUNT], "Two.") == Passed()


def test_another_state_fails_with_what_differs() -> None:
    verdict = judge_answers([("put-goods", {"name": "tea", "count": 3})], "Done.", [COUNT], "Three.")
    assert isinstance(verdict, Failed)
    assert verdict.code == "multi_turn:instance_state_mismatch"
    assert verdict.reason == "turn 1: describe_shelf().goods.tea is 3, expected 2"
    assert (verdict.details["right_turns"], verdict.details["turns"]) == (0, 2)


def test_a_call_too_many_that_changes_the_state_fails() -> None:
    salt = ("put-goods", {"name": "salt", "count": 1})
    verdict = judge_answers([TEA], "Done.", [COUNT, salt], "Two.")
    assert isinstance(verdict, Failed)
    assert verdict.reason == "turn 2: describe_shelf().goods.salt is 1, which should not be there"
    assert verdict.details["right_turns"] == 1


def test_a_call_that_was_made_for_its_result_must_have_returned_it() -> None:
    verdict = judge_answers([TEA], "Done.", [("count_goods", {"name": "Tea"})], "None.")
    assert isinstance(verdict, Failed)
    assert verdict.code == "multi_turn:execution_response_mismatch"
    assert verdict.details["call"] == "count_goods(name='tea')"


def test_words_in_a_turn_that_needs_a_call_fail() -> None:
    verdict = judge_answers([TEA], "Done.", "Two, I think.")
    assert isinstance(verdict, Failed)
    assert verdict.code == "multi_turn:empty_turn_model_response"


def test_a_conversation_that_was_ended_by_force_fails() -> None:
    verdict = judge_answers(*[[COUNT]] * 21)
    assert isinstance(verdict, Failed)
    assert verdict.code == "multi_turn:force_terminated"


def test_calls_of_tools_that_are_not_offered_or_unreadable_change_nothing() -> None:
    entry = replace(ENTRY, functions=tuple(doc for doc in ENTRY.functions if doc.name != "describe_shelf"))
    transcript = converse_with_shelf(entry, [("describe_shelf", {}), ("count_goods", {"na me": "tea"})])
    first, second = transcript.turns[0][0].results
    assert first.startswith("Error: unknown tool 'describe_shelf'")
    assert second.startswith("Error: the call cannot be read")


def test_a_fault_of_the_model_is_its_failure_and_asks_no_truth() -> None:
    overflow = Completion(text="too long", fault=Fault.OVERFLOW)
    transcript = converse_with_shelf(ENTRY, overflow)
    assert len(transcript.asides) == 1
    judgement = server_state.judge(ENTRY, transcript)
    assert isinstance(judgement.corrected, Failed)
    assert judgement.corrected.code == "context_overflow"
    error = server_state.judge(
        ENTRY, converse_with_shelf(ENTRY, replace(overflow, fault=Fault.INFERENCE_ERROR))
    )
    assert isinstance(error.official, Failed)
    assert isinstance(error.corrected, NotScored)


def test_without_what_the_server_answered_nothing_is_scored() -> None:
    transcript = replace(converse_with_shelf(ENTRY, [TEA], "Done.", [COUNT], "Two."), asides=())
    assert isinstance(server_state.judge(ENTRY, transcript).official, NotScored)


def test_what_is_volatile_counts_where_the_entry_does_not_say_so() -> None:
    # The clock differs between the two servers.
    entry = make_server_entry(volatile=["process"])
    verdict = judge_answers([TEA], "Done.", [COUNT], "Two.", entry=entry)
    assert isinstance(verdict, Failed)
    assert verdict.code == "multi_turn:execution_response_mismatch"
    masked = make_server_entry(volatile=["process"], masks=[r'"asked_at": \d+'])
    assert judge_answers([TEA], "Done.", [COUNT], "Two.", entry=masked) == Passed()


@each_case(
    ("text", "simple"),
    [
        ('{"a": 1, "at": 2, "in": [{"at": 3, "b": 4}]}', {"a": 1, "in": [{"b": 4}]}),
        ("commit 0123abc of Ada", "commit … of Ada"),
        ('{"id": "0123abc"}', {"id": "…"}),
        ('{"city": "Ko\u0308ln"}', {"city": "Köln"}),
        ("it’s", "it's"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_results_are_compared_without_what_is_volatile(text: str, simple: object) -> None:
    state = ServerState(ServerProgram(("x",)), volatile=frozenset(["at"]), masks=("[0-9a-f]{7}",))
    assert server_state.simplify_result(text, state) == simple


def test_an_entry_without_a_server_is_refused() -> None:
    with pytest.raises(TypeError, match="has no trajectory on a server"):
        server_state.judge(make_multi_turn(("a", [])), make_transcript("b"))


def test_a_long_result_is_cut_for_the_model() -> None:
    def play_long(request: object) -> Completion:
        return Completion(text='["' + "x" * 250_000 + '"]')

    transcript = converse_with_shelf(ENTRY, [COUNT], play=play_long)
    (shown,) = transcript.turns[0][0].results
    assert shown == "x" * 99_999 + "…"
