"""What is said at the end about expected calls that were not made, or only with a fault of their form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.explanation import FailedEntry
from pytest_fcbench.domain.transcript import PathSettings, RecordedCall
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.kinds.explanation import explain_failure
from pytest_fcbench.kinds.golden_path.kind import judge
from tests.cases import each_case
from tests.kinds.golden_path.cases import Answer, make_path_entry
from tests.kinds.golden_path.talking import CORRECTED, OFFICIAL, hold_conversation, write_call

STAY: dict[str, object] = {
    "search_type": "city",
    "dest_id": "11",
    "arrival_date": "2030-05-01",
    "adults": 2,
}
ENTRY = make_path_entry(
    [
        [RecordedCall.with_reply("Search_Hotels", STAY, {"data": 1})],
        [RecordedCall.with_reply("Get_Hotel_Details", {"hotel_id": "101", "arrival_date": "x"}, {"data": 2})],
    ]
)
WITHOUT_DATE = {name: value for name, value in STAY.items() if name != "arrival_date"}
MISSING = write_call("Search_Hotels", **WITHOUT_DATE)
MISSPELT = write_call("Search_Hotels", **WITHOUT_DATE, arival_date="2030-05-01")
SURPLUS = write_call("Search_Hotels", **STAY, town="Bergen")
MISTYPED = write_call("Search_Hotels", **{**STAY, "adults": "2"})


def judge_answers(*answers: Answer) -> dict[Profile, Failed]:
    """Judge answers by both profiles, each of which held the conversation itself."""
    judged = {}
    for driven, profile in ((OFFICIAL, Profile.OFFICIAL), (CORRECTED, Profile.CORRECTED)):
        judgement = judge(ENTRY, hold_conversation(ENTRY, answers, driven))
        verdict = judgement.select_profile(profile)
        assert isinstance(verdict, Failed)
        judged[profile] = verdict
    return judged


@each_case(
    ("call", "code", "fault"),
    [
        (MISSING, "param_missing", "'arrival_date' is missing"),
        (
            MISSPELT,
            "param_missing",
            "'arrival_date' is missing and 'arival_date' is not one of its parameters",
        ),
        (SURPLUS, "param_hallucination", "'town' is not one of its parameters"),
        (MISTYPED, "value_error", "'adults' must be of type number, not string"),
    ],
)
def test_a_call_with_a_fault_is_named_with_it(call: tuple[str, str], code: str, fault: str) -> None:
    judged = judge_answers([call], [call])
    says = f"Search_Hotels was called 2 times, but not as expected: {fault}; not called: Get_Hotel_Details"
    for verdict in judged.values():
        # Officially the pool holds the opened steps only.
        assert verdict.reason in (says, says.partition(";")[0])
    assert judged[Profile.OFFICIAL].code == "stop_early"
    assert judged[Profile.CORRECTED].code == code


def test_a_call_that_was_not_made_is_only_named() -> None:
    for verdict in judge_answers().values():
        assert verdict.code == "stop_early"
        assert verdict.reason.startswith("not called: Search_Hotels")


@pytest.mark.parametrize("settings", [OFFICIAL, CORRECTED], ids=lambda driven: str(driven.profile))
def test_a_second_call_of_a_function_is_missing_beside_a_right_one(settings: PathSettings) -> None:
    stays = [
        RecordedCall.with_reply("Search_Hotels", {**STAY, "dest_id": dest_id}, {"data": dest_id})
        for dest_id in ("11", "22")
    ]
    entry = make_path_entry([stays])
    judgement = judge(entry, hold_conversation(entry, [[write_call("Search_Hotels", **STAY)]], settings))
    verdict = judgement.select_profile(settings.profile)
    assert isinstance(verdict, Failed)
    assert verdict.reason == "not called: Search_Hotels (once more)"


def test_an_unreadable_call_is_shown_as_one() -> None:
    transcript = hold_conversation(ENTRY, [[("Search_Hotels", "{")]], CORRECTED)
    judgement = judge(ENTRY, transcript)
    assert isinstance(judgement.corrected, Failed)
    failure = FailedEntry(ENTRY, transcript, judgement.corrected, Profile.CORRECTED)
    (pair,) = explain_failure(failure, judgement.select_path_score(Profile.CORRECTED)).calls
    assert (pair.found, pair.expected, pair.wrong) == ("(unreadable)", None, True)


def test_a_fault_that_was_mended_is_not_told() -> None:
    for verdict in judge_answers([MISSING], [write_call("Search_Hotels", **STAY)]).values():
        assert (verdict.code, verdict.reason) == ("stop_early", "not called: Get_Hotel_Details")


@pytest.mark.parametrize("settings", [OFFICIAL, CORRECTED], ids=lambda driven: str(driven.profile))
def test_the_call_stands_beside_the_expected_one_with_its_fault_marked(settings: PathSettings) -> None:
    profile = settings.profile
    transcript = hold_conversation(ENTRY, [[MISSPELT, MISTYPED]], settings)
    judgement = judge(ENTRY, transcript)
    verdict = judgement.select_profile(profile)
    assert isinstance(verdict, Failed)
    path = judgement.select_path_score(profile)
    found = explain_failure(FailedEntry(ENTRY, transcript, verdict, profile), path).calls
    assert [(pair.found, pair.expected, pair.wrong) for pair in found] == [
        ("Search_Hotels", "Search_Hotels", False)
    ] * 2
    wrong = [[each.name for each in pair.arguments if each.wrong] for pair in found]
    assert sorted(map(sorted, wrong)) == [["adults"], ["arival_date", "arrival_date"]]


def test_a_step_is_finished_though_its_call_is_expected_once_more_later() -> None:
    """Officially a step counts only if no call that is left equals one of its."""
    stay = RecordedCall.with_reply("Search_Hotels", STAY, {"data": 1})
    day = {"hotel_id": "101", "arrival_date": "x"}
    details = RecordedCall.with_reply("Get_Hotel_Details", day, {"data": 2})
    entry = make_path_entry([[stay], [details], [replace(stay)]])
    answers: list[Answer] = [[write_call("Search_Hotels", **STAY)], [write_call("Get_Hotel_Details", **day)]]
    for settings, finished in ((OFFICIAL, 0), (CORRECTED, 2)):
        judgement = judge(entry, hold_conversation(entry, answers, settings))
        score = judgement.select_path_score(settings.profile)
        assert score is not None
        assert (score.right, score.right_steps) == (2, finished)


@each_case(("calls_of_steps", "calls_of_answers"), [((2,), (2,)), ((2,), (1, 1)), ((1, 1), (1, 1))])
def test_a_call_that_is_expected_twice_counts_twice_in_another_right_form(
    calls_of_steps: tuple[int, ...], calls_of_answers: tuple[int, ...]
) -> None:
    stay = {**STAY, "categories_filter": "a::1,b::2"}
    expected = RecordedCall.with_reply("Search_Hotels", stay, {"data": 1})
    call = write_call("Search_Hotels", **{**stay, "categories_filter": "b::2, a::1"})
    entry = make_path_entry([[replace(expected) for _ in range(count)] for count in calls_of_steps])
    answers: list[Answer] = [[call] * count for count in calls_of_answers]
    assert judge(entry, hold_conversation(entry, answers, CORRECTED)).corrected == Passed()


def test_a_call_that_is_expected_itself_is_that_one_before_it_is_a_form_of_another() -> None:
    stay = {**STAY, "categories_filter": "a::1,b::2"}
    other = {**stay, "categories_filter": "b::2, a::1"}
    first, second = (RecordedCall.with_reply("Search_Hotels", each, {"data": 1}) for each in (stay, other))
    entry = make_path_entry([[first], [replace(first), second]])
    answers: list[Answer] = [[write_call("Search_Hotels", **each)] for each in (other, other, stay)]
    assert judge(entry, hold_conversation(entry, answers, CORRECTED)).corrected == Passed()


def test_a_list_of_codes_in_another_order_is_no_difference() -> None:
    stay = {**STAY, "categories_filter": "a::1,b::2"}
    entry = make_path_entry([[RecordedCall.with_reply("Search_Hotels", stay, {"data": 1})]])
    call = write_call("Search_Hotels", **{**stay, "categories_filter": "b::2, a::1", "dest_id": "12"})
    judgement = judge(entry, hold_conversation(entry, [[call]], CORRECTED))
    score = judgement.select_path_score(Profile.CORRECTED)
    assert score is not None
    assert [each.parameter for each in score.verdicts[0].differences] == ["dest_id"]
