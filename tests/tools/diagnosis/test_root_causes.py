"""What a judge is shown of a failed conversation, and what it may answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.explanation import Divergence, FailureClass
from pytest_fcbench.domain.transcript import Completion, Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.tools.diagnosis.agreement import Agreement, Labels, read_labels
from pytest_fcbench.tools.diagnosis.root_causes import (
    LONGEST,
    SCHEMA,
    TASK,
    DiagnosedFailure,
    Diagnosis,
    Misunderstanding,
    RootCause,
    build_document,
    build_question,
)
from tests.cases import each_case
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


@each_case(
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


FAILED_TURN = Failed("multi_turn:x", "turn 1: no")
AT = Divergence(FailureClass.WRONG_ARGUMENT, 1, "f(a=1)", "f(a=2)", "a")
FINDINGS = [
    DiagnosedFailure(
        *("core:a", "multi_turn_base", FAILED_TURN, AT),
        Diagnosis(RootCause.OTHER, Misunderstanding.USER_REQUEST, 1, "So."),
    ),
    DiagnosedFailure("core:b", "multi_turn_base", FAILED_TURN, AT, NotScored("timeout", "no answer")),
    DiagnosedFailure("core:c-t2", "multi_turn_base", FAILED_TURN, Divergence(FailureClass.UNEXPLAINED)),
]


def write_file(path: Path, value: object) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_what_is_written_of_a_finding() -> None:
    told = build_document(FINDINGS, model="m", profile=Profile.OFFICIAL, judge="openai/j")
    entries = told["entries"]
    assert isinstance(entries, list)
    assert {key: told[key] for key in ("schema", "model", "profile", "judge")} == {
        "schema": SCHEMA,
        "model": "m",
        "profile": "official",
        "judge": "openai/j",
    }
    assert entries[0] == {
        "entry": "core:a",
        "category": "multi_turn_base",
        "code": "multi_turn:x",
        "reason": "turn 1: no",
        "class": "wrong_argument",
        "divergence": {"turn": 1, "expected": "f(a=1)", "found": "f(a=2)", "parameter": "a"},
        "root_cause": {"class": "other", "misunderstood": "user_request", "turn": 1, "explanation": "So."},
    }
    assert entries[1]["not_diagnosed"] == {"cause": "timeout", "reason": "no answer"}
    assert "root_cause" not in entries[1]
    assert entries[2].keys() & {"root_cause", "not_diagnosed"} == set()


def test_labels_are_those_of_the_judge(tmp_path: Path) -> None:
    told = build_document(FINDINGS, model="m", profile=Profile.OFFICIAL, judge="openai/j")
    path = write_file(tmp_path / "d.json", told)
    assert read_labels(path) == Labels(path, "m", {"core:a": "other"})


def test_a_person_needs_to_write_little(tmp_path: Path) -> None:
    rows = [{"entry": "core:a", "root_cause": {"class": "implicit_action"}}, {"entry": "core:b"}]
    path = write_file(tmp_path / "mine.json", {"schema": SCHEMA, "entries": rows})
    assert read_labels(path) == Labels(path, None, {"core:a": "implicit_action"})


ROW = {"entry": "core:a", "root_cause": {"class": "other"}}


@each_case(
    ("content", "says"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ([], "not a file of diagnoses: it must have 'schema': 'fcbench-diagnosis/1' and a list 'entries'"),
        ({"schema": "fcbench-diagnosis/2", "entries": []}, "not a file of diagnoses"),
        ({"schema": SCHEMA, "entries": {}}, "not a file of diagnoses"),
        ({"schema": SCHEMA, "entries": []}, "no entry has a root cause"),
        ({"schema": SCHEMA, "entries": [{"entry": "core:a"}]}, "no entry has a root cause"),
        (
            {"schema": SCHEMA, "entries": [ROW, ROW]},
            "entry 2 must have a name under 'entry' that no other entry has",
        ),
        ({"schema": SCHEMA, "entries": [1]}, "entry 1 must have a name"),
        (
            {"schema": SCHEMA, "entries": [{**ROW, "root_cause": {"class": "othr"}}]},
            "core:a: unknown class 'othr'. Did you mean 'other'?",
        ),
        ({"schema": SCHEMA, "entries": [{**ROW, "root_cause": "other"}]}, "core:a: unknown class 'None'"),
        ({"schema": SCHEMA, "entries": [{**ROW, "root_cause": {"class": []}}]}, "core:a: unknown class"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: object, says: str) -> None:
    path = write_file(tmp_path / "d.json", content)
    with pytest.raises(UsageError) as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"{path}: {says}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_labels(tmp_path / "none.json")


def make_agreement(counts: dict[tuple[str, str], int]) -> Agreement:
    """Make labels that give this table."""
    pairs = [pair for pair, times in counts.items() for _ in range(times)]
    return Agreement(
        {str(n): one for n, (one, _) in enumerate(pairs)},
        {str(n): other for n, (_, other) in enumerate(pairs)},
    )


@each_case(
    ("counts", "share", "kappa"),
    [
        # 35 of 50 agree; by chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5
        ({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}, 0.7, 0.4),
        # The same share twice; chance is 60*70 + 40*30 = 5,400 of 10,000, then 60*30 + 40*70 = 4,600.
        ({("y", "y"): 45, ("y", "n"): 15, ("n", "y"): 25, ("n", "n"): 15}, 0.6, (0.6 - 0.54) / 0.46),
        ({("y", "y"): 25, ("y", "n"): 35, ("n", "y"): 5, ("n", "n"): 35}, 0.6, (0.6 - 0.46) / 0.54),
        # Three labels: chance is (4*3 + 3*4 + 3*3) / 100
        (
            {("a", "a"): 3, ("a", "b"): 1, ("b", "b"): 2, ("b", "c"): 1, ("c", "c"): 2, ("c", "b"): 1},
            0.7,
            (0.7 - 0.33) / 0.67,
        ),
        ({("y", "y"): 2, ("n", "n"): 3}, 1.0, 1.0),
        ({("y", "n"): 1, ("n", "y"): 1}, 0.0, -1.0),
        ({("y", "y"): 5, ("y", "n"): 5}, 0.5, 0.0),
        ({("y", "n"): 3}, 0.0, 0.0),
        ({("y", "y"): 7}, 1.0, None),
    ],
)
def test_share_and_kappa_are_those_of_worked_examples(
    counts: dict[tuple[str, str], int], share: float, kappa: float | None
) -> None:
    agreement = make_agreement(counts)
    assert agreement.share == pytest.approx(share)
    assert agreement.kappa == (None if kappa is None else pytest.approx(kappa))
    assert agreement.table == counts


def test_only_what_both_labelled_counts() -> None:
    agreement = Agreement({"a": "x", "b": "x", "c": "y"}, {"d": "y", "c": "x", "b": "x"})
    assert agreement.both == ["b", "c"]
    assert agreement.different == ["c"]
    assert agreement.share == 0.5


def test_nothing_in_common_has_no_agreement() -> None:
    agreement = Agreement({"a": "x"}, {"b": "x"})
    assert (agreement.share, agreement.kappa, agreement.different) == (None, None, [])


LABELS = st.dictionaries(st.integers(0, 30).map(str), st.sampled_from("abc"), min_size=1)


@given(one=LABELS, other=LABELS)
def test_kappa_is_symmetric_and_at_most_the_share(one: dict[str, str], other: dict[str, str]) -> None:
    agreement, turned = Agreement(one, other), Agreement(other, one)
    assert agreement.share == turned.share
    if agreement.kappa is None or agreement.share is None:
        assert turned.kappa is None
    else:
        assert agreement.kappa == pytest.approx(turned.kappa)
        assert -1 <= agreement.kappa <= agreement.share + 1e-9
