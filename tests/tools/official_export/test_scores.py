"""Lines of official score files: their fields, and the values in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Completion, Fault, Step, Transcript
from pytest_fcbench.environments import open_environments
from pytest_fcbench.environments.api.file_system import Directory, File
from pytest_fcbench.environments.world import World
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.execution.truth import ExpectedResults, ResultRule
from pytest_fcbench.tools.official_export.scores import (
    AnsweredEntry,
    Header,
    build_score_row,
    render_folder,
    write_line,
)
from tests.factories import make_doc, make_entry, make_multi_turn, make_transcript, tool_calls

WORLD = World(defaults={"file_system": {"root": {"lib": {"type": "directory", "contents": {}}}}})
QUESTION: Mapping[str, object] = {"id": "q"}


def write_and_read_row(
    entry: Entry, answer: Transcript | Completion | str, truth: object = None, result: object = "raw"
) -> dict[str, object] | None:
    """Return the line on an answer, as it comes back from the file."""
    transcript = answer if isinstance(answer, Transcript) else make_transcript(answer)
    answered = AnsweredEntry(entry, transcript, result, QUESTION, truth)
    with closing(Pool()) as execute:  # whose processes start when there is something to carry out
        row = build_score_row(answered, "my_model", lambda entry: open_environments(entry, WORLD), execute)
    read: dict[str, object] | None = None if row is None else json.loads(write_line(row))
    return read


def test_the_first_line_has_the_counts() -> None:
    assert write_line(Header(3, 4).row) == '{"accuracy": 0.75, "correct_count": 3, "total_count": 4}'


def test_the_first_line_of_prompt_formats_has_their_spread() -> None:
    header = Header(3, 8, {"a": Header(1, 4), "b": Header(2, 4)})
    of_a, of_b = ({"accuracy": n / 4, "correct_count": n, "total_count": 4} for n in (1, 2))
    assert list(header.row.items()) == [
        *(("accuracy", 0.375), ("correct_count", 3), ("total_count", 8)),
        *(("accuracy_max_delta", 25.0), ("accuracy_variance", 312.5), ("accuracy_std", 17.68)),
        *(("a", of_a), ("b", of_b)),
    ]


# Single-turn


def test_a_right_answer_has_no_line() -> None:
    assert write_and_read_row(make_entry(), "[weather.forecast(city='Bergen')]") is None
    assert write_and_read_row(make_entry("irrelevance"), "I cannot.") is None
    assert write_and_read_row(make_entry("live_relevance"), "[f()]") is None


def test_a_wrong_value_is_told_with_call_and_truth() -> None:
    truth = [{"weather.forecast": {"city": ["Bergen"]}}]
    row = write_and_read_row(make_entry(), "[weather.forecast(city='Oslo', days=(1, 2j))]", truth)
    assert row == {
        "id": "simple_python_0",
        "model_name": "my_model",
        "test_category": "simple_python",
        "valid": False,
        "error": ["weather.forecast: city is 'Oslo', accepted: ['Bergen']"],
        "error_type": "value_error:string",
        "prompt": QUESTION,
        "model_result_raw": "raw",
        "model_result_decoded": [{"weather.forecast": {"city": "Oslo", "days": "(1, 2j)"}}],
        "possible_answer": truth,
    }
    assert row is not None
    assert list(row)[4:] == [
        "error",
        "error_type",
        "prompt",
        "model_result_raw",
        "model_result_decoded",
        "possible_answer",
    ]


TWO = ["math_gcd(a=12, b=18)", "math_gcd(a=1, b=1)"]


@pytest.mark.parametrize(
    ("answer", "code", "decoded"),
    [
        ("[math_gcd(a=12, b=17)]", "executable_checker:wrong_result", ["math_gcd(a=12, b=17)"]),
        ("[math_gcd(a=12, b=18), math_gcd(a=1, b=1)]", "simple_exec_checker:wrong_count", TWO),
        ("[]", "executable_decoder:wrong_output_format", []),
        ("It is six.", "executable_decoder:decoder_failed", None),
        (Completion("too long", fault=Fault.OVERFLOW), "executable_decoder:decoder_failed", None),
    ],
)
def test_calls_that_are_carried_out(answer: Completion | str, code: str, decoded: object) -> None:
    call = "math_gcd(a=12, b=18)"
    expected = ExpectedResults((call,), (ResultRule.EXACT,))
    entry = replace(make_entry("exec_simple", functions=[make_doc("math_gcd")]), expectation=expected)
    assert write_and_read_row(entry, f"[{call}]", [call]) is None
    row = write_and_read_row(entry, answer, [call])
    assert row is not None
    assert (row["error_type"], row["model_result_raw"], row["possible_answer"]) == (code, "raw", [call])
    assert row.get("model_result_decoded") == decoded


@pytest.mark.parametrize("answer", ["Bergen is nice.", Completion(text="x", fault=Fault.OVERFLOW)])
def test_what_cannot_be_read_has_nothing_decoded(answer: str | Completion) -> None:
    """The error of a call is read as any text."""
    row = write_and_read_row(make_entry(), answer, result=["raw"])
    assert row is not None
    assert row["error_type"] == "ast_decoder:decoder_failed"
    assert row["model_result_raw"] == ["raw"]
    assert "model_result_decoded" not in row


@pytest.mark.parametrize(
    ("category", "answer", "decoded"),
    [
        pytest.param(
            "simple_python", tool_calls(("f", "{}"), ("g", "[1]")), "[{'f': {}}, {'g': [1]}]", id="list"
        ),
        pytest.param("simple_python", tool_calls(("f", 7)), "[{'f': 7}]", id="not even text"),
        pytest.param("simple_java", "", "{}", id="Java"),
        pytest.param("simple_javascript", "hello", "None", id="JavaScript"),
    ],
)
def test_what_is_read_as_something_else_is_shown_as_text(
    category: str, answer: Completion | str, decoded: str
) -> None:
    row = write_and_read_row(make_entry(category), answer, result=[{"f": 1}])
    assert row is not None
    assert row["error_type"] == "ast_decoder:decoder_wrong_output_format"
    assert row["model_result_raw"] == "[{'f': 1}]"
    assert row["model_result_decoded"] == decoded


def test_an_argument_without_a_name() -> None:
    """Only a text can have one; a model that calls its argument so in JSON means it."""
    for answer, name in (("[f(**d)]", "null"), (tool_calls(("f", '{"**": "d"}')), "**")):
        row = write_and_read_row(make_entry(), answer)
        assert row is not None
        assert row["model_result_decoded"] == [{"f": {name: "d"}}]


def test_where_no_call_matches_each_that_is_left_is_told() -> None:
    docs = [make_doc("f", {"n": {"type": "integer"}}, ["n"])]
    truth = [{"f": {"n": [number]}} for number in (1, 2, 3)]
    entry = make_entry("parallel", functions=docs, expect=truth)
    row = write_and_read_row(entry, "[f(n='x'), f(n=1), g()]", truth)
    assert row is not None
    assert row["error_type"] == "parallel_function_checker_no_order:cannot_find_match"
    errors = row["error"]
    assert isinstance(errors, list)
    assert isinstance(errors[0], str)
    assert errors[1:] == [
        {
            f"Model Result Index {index}": {
                "sub_error": [reason],
                "sub_error_type": code,
                "model_output_item": call,
                "possible_answer_item": truth[1],
            }
        }
        for index, reason, code, call in (
            (0, "f: n is 'x', accepted: [2]", "type_error:simple", {"f": {"n": "x"}}),
            (2, "g was called, f expected", "simple_function_checker:wrong_func_name", {"g": {}}),
        )
    ]


@pytest.mark.parametrize(
    ("category", "answer", "decoded", "code"),
    [
        pytest.param(
            "irrelevance", "[f(x=1)]", [{"f": {"x": 1}}], "irrelevance_error:decoder_success", id="call"
        ),
        pytest.param("live_relevance", "Hm.", None, "relevance_error:decoder_failed", id="prose"),
        pytest.param("live_relevance", "[]", [], "relevance_error:decoder_failed", id="no call"),
        pytest.param(
            "live_relevance", tool_calls(("f", "7")), [{"f": 7}], "relevance_error:decoder_failed", id="odd"
        ),
    ],
)
def test_a_wrong_call_or_abstention_is_told(
    category: str, answer: str | Completion, decoded: object, code: str
) -> None:
    row = write_and_read_row(make_entry(category), answer)
    assert row is not None
    assert list(row)[3:] == ["valid", "prompt", "model_result", "decoded_result", "error", "error_type"]
    assert (row["model_result"], row["decoded_result"], row["error_type"]) == ("raw", decoded, code)


# Multi-turn

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


# Values of any kind


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


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ((1, "a"), [1, "a"]),
        ((1, b"a"), "(1, b'a')"),
        ([1j, {"a": b"x"}], ["1j", {"a": "b'x'"}]),
        ({(1, 2): 3, None: 4, True: 5, 6: 7}, {"(1, 2)": 3, "null": 4, "true": 5, "6": 7}),
        ("\ud83d\x00\x1b[31m", "\ud83d\x00\x1b[31m"),
    ],
)
def test_any_value_is_written(value: object, written: object) -> None:
    text = write_line({"value": value})
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text) == {"value": written}


def test_a_value_that_is_nested_too_deeply() -> None:
    deep: object = []
    for _ in range(100_000):
        deep = [deep]
    assert write_line({"id": "a", "deep": deep}) == '{"id": "a", "deep": "(nested too deeply)"}'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_what_json_has_a_form_for_is_written_as_it_is(value: object) -> None:
    assert json.loads(write_line({"value": value})) == {"value": value}
