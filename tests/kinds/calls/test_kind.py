"""Lines of official score files on wrong calls: their fields, and the values in them."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.transcript import Completion, Fault
from tests.factories import make_doc, make_entry, tool_calls
from tests.kinds.official_rows import QUESTION, write_and_read_row


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
