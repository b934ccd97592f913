"""What the API itself and a judge say of a call that is not on the golden path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party, PathSettings, RecordedCall
from pytest_fcbench.domain.verdict import CallVerdict, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.kinds.golden_path.kind import judge
from pytest_fcbench.kinds.golden_path.walk import get_golden_path
from tests.cases import each_case
from tests.kinds.golden_path.cases import make_path_entry
from tests.kinds.golden_path.talking import hold_conversation, write_call
from tests.kinds.golden_path.test_questions import WORDING

GOLDEN = RecordedCall.with_reply("Search_Hotel_Destination", {"query": "Bergen"}, {"data": 1})
ENTRY = make_path_entry([[GOLDEN]])


def _compare_call(profile: Profile, replies: Mapping[str, Completion]) -> tuple[CallVerdict, list[AskModel]]:
    """Judge a call with the query "a b", where the API replies so to each query."""
    asked: list[AskModel] = []

    def reply_as_api(request: AskModel) -> Completion:
        asked.append(request)
        made = json.loads(str(request.messages[0]["content"]))
        return replies[made["arguments"]["query"]]

    driven = PathSettings(profile, live=True)
    transcript = hold_conversation(
        ENTRY, [[write_call(GOLDEN.name, query="a b")]], driven, aside=reply_as_api
    )
    score = judge(ENTRY, transcript).select_path_score(profile)
    assert score is not None
    return score.verdicts[0], asked


@each_case("profile", Profile)
@each_case(
    ("made", "expected", "same"),
    [
        ('{"x": [1, 2]}', '{"x":[1,2.0]}', True),
        ('{"x": 1}', '{"x": 2}', False),
        ("{}", "{}", False),
        ("", "", False),
        ("no JSON", "no JSON", False),
        ("[" * 100_000, "[]", False),
        (None, "1", False),
        ("1", None, False),
    ],
)
def test_a_call_is_right_where_the_api_replies_the_same(
    profile: Profile, made: str | None, expected: str | None, same: bool
) -> None:
    down = Completion(text="down", fault=Fault.INFERENCE_ERROR)
    replies = {
        query: down if text is None else Completion(text=text)
        for query, text in (("a b", made), ("Bergen", expected))
    }
    verdict, asked = _compare_call(profile, replies)
    assert verdict.right is same
    assert verdict.stage == ("response" if same else "builtin")
    assert {request.party for request in asked} == {Party.PROVIDER}


def test_the_same_error_is_a_match_officially() -> None:
    error = Completion(text='{"status": false, "message": "no"}')
    replies = {"a b": error, "Bergen": error}
    assert _compare_call(Profile.OFFICIAL, replies)[0].right
    assert not _compare_call(Profile.CORRECTED, replies)[0].right


@pytest.mark.parametrize("profile", Profile)
def test_what_was_recorded_is_not_asked(profile: Profile) -> None:
    recorded = replace(GOLDEN, arguments={"query": "a b"})
    entry = make_path_entry([[GOLDEN]], recorded=[recorded])
    transcript = hold_conversation(
        entry, [[write_call(GOLDEN.name, query="a b")]], PathSettings(profile, live=True)
    )
    score = judge(entry, transcript).select_path_score(profile)
    assert score is not None
    assert (score.verdicts[0].stage, score.verdicts[0].right) == ("response", True)


# Where a model judges

JUDGED = PathSettings(Profile.OFFICIAL, judge="openai/judge")


def _ask_judge(
    reply: Completion, profile: Profile, *, runner: str | None = None, official: bool = False
) -> Verdict:
    """Judge a call with the query "a b", where the judge replies so."""
    path = replace(
        get_golden_path(ENTRY), by_runner=runner is not None, wording=WORDING if official else None
    )
    driven = replace(JUDGED, profile=profile, runner=runner, wording=WORDING.version if official else None)
    entry = replace(ENTRY, expectation=path)
    made = [[write_call(GOLDEN.name, query="a b")]]
    transcript = hold_conversation(entry, made, driven, aside=lambda request: reply)
    return judge(entry, transcript).select_profile(profile)


@each_case("profile", Profile)
@each_case(("same", "passed"), [(True, True), (False, False)])
def test_a_judge_decides_about_values_that_differ(profile: Profile, same: bool, passed: bool) -> None:
    reply = Completion(text=json.dumps({"same": same, "reason": "a town"}))
    assert isinstance(_ask_judge(reply, profile), Passed) is passed


@each_case("profile", Profile)
@each_case(
    "reply",
    [Completion(text="perhaps"), Completion(text="down", fault=Fault.INFERENCE_ERROR)],
    ids=["unreadable", "down"],
)
def test_without_a_judgement_nothing_is_scored(profile: Profile, reply: Completion) -> None:
    verdict = _ask_judge(reply, profile)
    assert isinstance(verdict, NotScored)
    assert verdict.cause == "judge"
    assert verdict.reason.startswith("openai/judge did not judge: ")


def test_officially_a_judgement_that_cannot_be_read_says_that_calls_differ() -> None:
    reply = Completion(text="perhaps")
    assert isinstance(_ask_judge(reply, Profile.OFFICIAL, runner="gpt"), Failed)
    assert isinstance(_ask_judge(reply, Profile.OFFICIAL, runner="gpt", official=True), Failed)
    assert isinstance(_ask_judge(reply, Profile.CORRECTED, runner="gpt"), NotScored)


def test_the_official_prompt_is_answered_by_true_or_false() -> None:
    for same in (True, False):
        reply = Completion(text=json.dumps({"is_equal": same, "reason": "a town"}))
        verdict = _ask_judge(reply, Profile.OFFICIAL, runner="gpt", official=True)
        assert isinstance(verdict, Passed) is same
    down = Completion(text="down", fault=Fault.INFERENCE_ERROR)
    assert isinstance(_ask_judge(down, Profile.OFFICIAL, runner="gpt", official=True), NotScored)
