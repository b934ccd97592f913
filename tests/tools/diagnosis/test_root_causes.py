"""What a judge is shown of a failed conversation, and what it may answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fcbench.domain.transcript import Completion, Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.tools.diagnosis.root_causes import (
    LONGEST,
    TASK,
    Diagnosis,
    Misunderstanding,
    RootCause,
    build_question,
)
from tests.kinds.state.test_verdict import LS, MKDIR, TOUCH, entry_of, make_step, open_entry, transcript_of

FAILED = Failed("code", "turn 2: 'new' is missing", {"turn": 2})


def ask_about(transcript: Transcript, **withheld: list[str]) -> JudgeQuestion[Diagnosis]:
    late = {int(turn.removeprefix("turn_")): names for turn, names in withheld.items()}
    entry = entry_of([[LS], [MKDIR], [TOUCH]], withheld=late)
    return build_question(entry, transcript, FAILED, open_entry(entry))


TALK = transcript_of(
    [
        Step(Completion("[ls()]"), (LS,), ('{"current_directory_content": ["notes.txt"]}',)),
        make_step(said="There is one file."),
    ],
    [Step(Completion("Sorry", (ToolCall("mkdir", "{"),)))],
)


def test_the_judge_sees_the_whole_conversation() -> None:
    shown: Any = ask_about(TALK, turn_1=["mkdir"]).material
    assert shown["state at the start"]["vehicle.fuelLevel"] == "20.0"
    assert "ls" in shown["functions"]
    assert "mkdir" not in shown["functions"]
    first, second, third = shown["turns"]
    assert first == {
        "turn": 1,
        "messages": ["user: Please."],
        "what the model did": [
            [{"call": LS, "result": '{"current_directory_content": ["notes.txt"]}'}],
            {"answer": "There is one file."},
        ],
        "right calls": [LS],
    }
    assert list(second["functions from now on"]) == ["mkdir"]
    assert second["what the model did"] == [{"answer": "Sorry mkdir {"}]
    assert third["what the model did"] == "the conversation was over"
    assert shown["what was found wrong"] == "turn 2: 'new' is missing"
    json.dumps(shown)


def test_the_task_names_every_class() -> None:
    assert all(f'"{cause}"' in TASK for cause in RootCause)


def test_a_long_conversation_is_cut() -> None:
    huge = Step(Completion("x"), (f"echo('{'a' * 90_000}')",) * 50, ("b" * 90_000,) * 50)
    talk = transcript_of(
        [*([huge] * 19), make_step()], [*([huge] * 19), make_step()], [make_step(said="c" * 90_000)]
    )
    shown: Any = ask_about(talk).material
    assert len(repr(shown)) < 1.5 * LONGEST
    did = shown["turns"][0]["what the model did"]
    assert did[-1] == "… (8 more steps)"
    assert did[1] == "… (42 more calls)"
    assert did[0][0]["result"].startswith("b" * 60 + "… (89,940 more")
    small: Any = ask_about(transcript_of([make_step(said="c" * 900)])).material
    assert small["turns"][0]["what the model did"] == [{"answer": "c" * 600 + "… (300 more characters)"}]


GOOD: dict[str, object] = {
    "class": "current_state",
    "misunderstood": "environment_state",
    "turn": 2,
    "explanation": " It did not look. ",
}


def test_an_answer_is_read_as_a_diagnosis() -> None:
    assert ask_about(TALK).read(GOOD) == Diagnosis(
        RootCause.CURRENT_STATE, Misunderstanding.ENVIRONMENT_STATE, 2, "It did not look."
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"class": "lazy"},
            "must have as class one of: implicit_action, current_state, needless_planning, other",
        ),
        ({"class": ["other"]}, "must have as class"),
        ({"class": None}, "must have as class"),
        (
            {"misunderstood": "current_state"},
            "must have as misunderstood one of: environment_state, user_request, function_documentation, "
            "nothing",
        ),
        ({"misunderstood": None}, "must have as misunderstood"),
        ({"turn": 0}, "must have as turn a whole number from 1 to 3"),
        ({"turn": 4}, "must have as turn"),
        ({"turn": "2"}, "must have as turn"),
        ({"turn": True}, "must have as turn"),
        ({"turn": 2.0}, "must have as turn"),
        ({"explanation": " "}, "must have as explanation a text"),
        ({"explanation": None}, "must have as explanation"),
        ({"confidence": 1}, "must have the keys class, misunderstood, turn, explanation and no others"),
    ],
)
def test_an_answer_that_is_not_as_demanded_is_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(Unfit, match=says):
        ask_about(TALK).read({**GOOD, **change})
