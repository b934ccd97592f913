"""The real record of ComplexFuncBench from end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import ModelPresentation
from pytest_fcbench.domain.transcript import AskModel, Completion, PathSettings, Transcript
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.kinds.golden_path.kind import converse, judge
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites.complexfuncbench import read_golden_paths
from tests.cases import each_case
from tests.kinds.golden_path.talking import (
    CORE,
    CORRECTED,
    FC,
    OFFICIAL,
    PROMPT,
    classify_replies,
    hold_conversation,
    write_call,
)

DRIVEN = pytest.mark.parametrize("driven", [OFFICIAL, CORRECTED], ids=lambda driven: driven.profile)


@pytest.fixture(scope="module")
def entry(complex_samples: Path) -> Entry:
    (found,) = read_golden_paths((complex_samples / "Car-Rental-9.jsonl").read_bytes(), complex_samples)
    return found


def _hold_oracle_conversation(entry: Entry, driven: PathSettings, manner: ModelPresentation) -> Transcript:
    talk = converse(entry, ConversationContext(manner, CORE, driven))
    model = OracleModel(manner.prompting)

    def answer_as_oracle(request: AskModel) -> Completion:
        return run_through(model.complete(entry, request))

    request = next(talk)
    while True:
        try:
            request = talk.send(answer_as_oracle(request))
        except StopIteration as done:
            transcript: Transcript = done.value
            return transcript


@DRIVEN
@each_case("manner", [FC, PROMPT], ids=["fc", "prompt"])
def test_its_golden_path_succeeds_with_every_call_right(
    entry: Entry, driven: PathSettings, manner: ModelPresentation
) -> None:
    judgement = judge(entry, _hold_oracle_conversation(entry, driven, manner))
    assert judgement.official == judgement.corrected == Passed()
    for score in (judgement.official_path, judgement.corrected_path):
        assert score is not None
        assert (score.right, score.calls, score.taken, score.steps) == (3, 3, 2, 2)
        assert [verdict.stage for verdict in score.verdicts][-2:] == ["exact", "exact"]


_PLACE = 38.8496017456055, -77.0412979125977
_DAY = {
    "pick_up_latitude": _PLACE[0],
    "pick_up_longitude": _PLACE[1],
    "drop_off_latitude": _PLACE[0],
    "drop_off_longitude": _PLACE[1],
    "pick_up_date": "2024-11-27",
    "drop_off_date": "2024-11-28",
    "pick_up_time": "09:00",
    "drop_off_time": "09:00",
}
_NEXT = {**_DAY, "pick_up_date": "2024-11-28", "drop_off_date": "2024-11-29"}


@DRIVEN
def test_the_lookup_can_be_left_out(entry: Entry, driven: PathSettings) -> None:
    answers = [[write_call("Search_Car_Rentals", **_DAY), write_call("Search_Car_Rentals", **_NEXT)]]
    transcript = hold_conversation(entry, answers, driven)
    assert classify_replies(transcript) == "rr"
    assert judge(entry, transcript).select_profile(driven.profile) == Passed()


@pytest.mark.parametrize("profile", Profile)
def test_a_day_too_many(entry: Entry, profile: Profile) -> None:
    """The second rental is for the wrong day: nothing else is called, so it is missing in the end."""
    wrong = {**_NEXT, "drop_off_date": "2024-11-30"}
    answers = [[write_call("Search_Car_Rentals", **_DAY), write_call("Search_Car_Rentals", **wrong)]]
    transcript = hold_conversation(entry, answers, PathSettings(profile))
    judgement = judge(entry, transcript)
    verdict, score = judgement.select_profile(profile), judgement.select_path_score(profile)
    assert isinstance(verdict, Failed)
    assert score is not None
    assert (verdict.code, classify_replies(transcript), score.right) == ("value_error", "rg", 1)
    (mistake,) = [v for v in score.verdicts if not v.right]
    assert [(d.parameter, d.expected, d.found) for d in mistake.differences] == [
        ("drop_off_date", "2024-11-29", "2024-11-30")
    ]


@pytest.mark.parametrize(("profile", "passes"), [(Profile.OFFICIAL, True), (Profile.CORRECTED, False)])
def test_the_coordinate_that_is_officially_overlooked(
    entry: Entry, profile: Profile, *, passes: bool
) -> None:
    """Officially only a judge looks at the latitude; 38.85 is not 38.8496 for ours, in either profile."""
    moved = {**_DAY, "pick_up_latitude": 38.8496017456056}
    answers = [[write_call("Search_Car_Rentals", **moved), write_call("Search_Car_Rentals", **_NEXT)]]
    judgement = judge(entry, hold_conversation(entry, answers, PathSettings(profile)))
    score = judgement.select_path_score(profile)
    assert score is not None
    stages = [verdict.stage for verdict in score.verdicts if verdict.made["arguments"] == moved]
    assert stages == (["builtin"] if passes else ["value"])
