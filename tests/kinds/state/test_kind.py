"""Lines of official score files on wrong conversations: calls, results and states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.domain.transcript import Completion, Fault, Step, Transcript
from pytest_fcbench.environments.api.file_system import Directory, File
from pytest_fcbench.kinds.state.kind import render_folder
from tests.factories import make_multi_turn, make_transcript
from tests.kinds.official_rows import write_and_read_row

TALK = make_multi_turn(
    ("Make a folder.", ["mkdir(dir_name='a')"]),
    ("Which are there?", ["ls()", "ls()"]),
    domains=["file_system"],
)
HERE = '{"current_directory_content": ["a"]}'


def make_conversation(*turns: Sequence[Sequence[str]], fault: Fault | None = None) -> Transcript:
    """Make a conversation in which each step makes these calls."""
    steps = tuple(
        tuple(Step(Completion(text="x", fault=fault), tuple(calls)) for calls in turn) for turn in turns
    )
    return replace(make_transcript("x"), turns=steps)


MAKE, LIST = "mkdir(dir_name='a')", "ls()"


def test_a_right_conversation_has_no_line() -> None:
    assert write_and_read_row(TALK, make_conversation([[MAKE]], [[LIST, LIST]])) is None


def test_what_was_not_returned() -> None:
    row = write_and_read_row(TALK, make_conversation([[MAKE], []], [[LIST]]), truth=[["t"]])
    assert row is not None
    assert list(row)[3:] == [
        *("valid", "error", "prompt", "model_result_raw", "model_result_decoded", "possible_answer"),
        "inference_log",
    ]
    assert row["model_result_decoded"] == [[[MAKE]], [[LIST]]]
    assert (row["possible_answer"], row["inference_log"]) == ([["t"]], "")
    assert row["error"] == {
        "error_message": f"turn 2: no call returned what ls() returns: {HERE}",
        "error_type": "multi_turn:execution_response_mismatch",
        "details": {
            "missing_items": [HERE],
            "model_response (including all previous turns)": ["None", HERE],
            "ground_truth_response (only the current turn)": [HERE, HERE],
        },
    }


def test_a_state_that_differs() -> None:
    row = write_and_read_row(TALK, make_conversation([["mkdir(dir_name='b')"], [LIST]], [[]]))
    assert row is not None
    error = row["error"]
    assert isinstance(error, dict)
    assert list(error) == ["error_message", "error_type", "details", "execution_result"]
    roots = {
        name: f"<Directory: lib, Parent: None, Contents: {{'{name}': "
        f"<Directory: {name}, Parent: lib, Contents: {{}}>}}>"
        for name in "ab"
    }
    assert error["details"] == {
        "differences": {"root": {"model": roots["b"], "ground_truth": roots["a"]}},
        "model_instance_state": {"long_context": False, "root": roots["b"]},
        "ground_truth_instance_state": {"long_context": False, "root": roots["a"]},
    }
    assert error["execution_result"] == [
        {"model": [["None"], [HERE.replace('a"]', 'b"]')]], "ground_truth": ["None"]}
    ]


def test_a_turn_without_a_call() -> None:
    row = write_and_read_row(TALK, make_conversation([[MAKE]], [[]]))
    assert row is not None
    assert row["error"] == {
        "error_message": "turn 2: no call was made; the truth makes ls(), ls()",
        "error_type": "multi_turn:empty_turn_model_response",
        "details": {
            "execution_result": [
                {"model": [["None"]], "ground_truth": ["None"]},
                {"model": [], "ground_truth": [HERE, HERE]},
            ]
        },
    }


@pytest.mark.parametrize(
    ("transcript", "code"),
    [
        pytest.param(make_conversation([[MAKE]]), "multi_turn:force_terminated", id="too few turns"),
        pytest.param(
            make_conversation([[]], fault=Fault.OVERFLOW), "multi_turn:inference_error", id="overflow"
        ),
        pytest.param(
            make_conversation([[]], fault=Fault.INFERENCE_ERROR), "multi_turn:inference_error", id="error"
        ),
    ],
)
def test_a_conversation_that_was_cut(transcript: Transcript, code: str) -> None:
    row = write_and_read_row(TALK, transcript)
    assert row is not None
    assert list(row)[4:] == ["error", "prompt", "model_result", "possible_answer", "inference_log"]
    error = row["error"]
    assert isinstance(error, dict)
    assert error.keys() == {"error_message", "error_type"}
    assert error["error_type"] == code
    assert isinstance(error["error_message"], list)


def test_a_folder_as_text() -> None:
    root = Directory("/")
    root.contents = {"a": Directory("a", root, {"b.txt": File("b.txt", "B's")})}
    assert render_folder(root) == (
        "<Directory: /, Parent: None, Contents: {'a': <Directory: a, Parent: /, "
        "Contents: {'b.txt': <<File: b.txt, Content: B's>>}>}>"
    )


def test_a_folder_that_lies_in_itself_comes_to_an_end() -> None:
    root = Directory("/")
    root.contents = {"again": root}
    assert render_folder(root) == repr(root)
