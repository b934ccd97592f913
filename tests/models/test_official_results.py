"""A row of an official result file is a completion, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.answers import Completion, Fault, ToolCall
from pytest_fcbench.entries import CATEGORIES
from pytest_fcbench.models.official_results import completion_of, path_of, row_of
from tests.factories import tool_calls


def row(result: object) -> Mapping[str, object]:
    return {"id": "simple_python_0", "result": result}


ERROR = "Error during inference: "


@pytest.mark.parametrize(
    ("result", "completion"),
    [
        pytest.param("[f(a=1)]", Completion(text="[f(a=1)]"), id="text"),
        pytest.param("", Completion(text=""), id="empty text"),
        pytest.param([{"f": '{"a": 1}'}], tool_calls(("f", '{"a": 1}')), id="arguments as JSON text"),
        pytest.param([{"f": {"a": 1}}], tool_calls(("f", {"a": 1})), id="arguments as an object"),
        pytest.param(
            [{"f": "{}"}, "and then", {"g": "{"}],
            Completion(tool_calls=(ToolCall("f", "{}"), "and then", ToolCall("g", "{"))),
            id="text parts among calls",
        ),
        pytest.param([], Completion(tool_calls=()), id="empty list"),
        pytest.param([5, {}], Completion(tool_calls=("5", "{}")), id="neither calls nor text"),
        pytest.param(None, Completion(), id="null"),
        pytest.param(7, Completion(text="7"), id="integer"),
        pytest.param({"a": [1]}, Completion(text='{"a": [1]}'), id="object"),
        pytest.param(
            f"{ERROR}503 Service Unavailable",
            Completion(text=f"{ERROR}503 Service Unavailable", fault=Fault.INFERENCE_ERROR),
            id="inference error",
        ),
        pytest.param(
            f"{ERROR}the maximum context length is 8192 tokens",
            Completion(text=f"{ERROR}the maximum context length is 8192 tokens", fault=Fault.OVERFLOW),
            id="context overflow",
        ),
        pytest.param(
            f"{ERROR}code Context_Length_Exceeded",
            Completion(text=f"{ERROR}code Context_Length_Exceeded", fault=Fault.OVERFLOW),
            id="context overflow by its code",
        ),
        pytest.param(
            "I see no Error during inference: context length is fine",
            Completion(text="I see no Error during inference: context length is fine"),
            id="prose about errors",
        ),
    ],
)
def test_a_result_is_a_completion(result: object, completion: Completion) -> None:
    assert completion_of(row(result)) == completion


@pytest.mark.parametrize(
    ("more", "completion"),
    [
        pytest.param(
            {"input_token_count": 12, "output_token_count": 3.0, "latency": 0.25},
            Completion(text="x", input_tokens=12, output_tokens=3, latency_s=0.25),
            id="counts",
        ),
        pytest.param(
            {"input_token_count": [[1]], "output_token_count": "3", "latency": True},
            Completion(text="x"),
            id="counts of another shape",
        ),
        pytest.param({"reasoning_content": "hm"}, Completion(text="x", reasoning="hm"), id="reasoning"),
        pytest.param({"reasoning_content": ["hm"]}, Completion(text="x"), id="reasoning of another shape"),
    ],
)
def test_what_stands_beside_a_result(more: Mapping[str, object], completion: Completion) -> None:
    assert completion_of({**row("x"), **more}) == completion


@pytest.mark.parametrize("count", ["NaN", "Infinity", "1e999", f"1{400 * '0'}"])
def test_a_count_that_is_no_finite_number_is_unknown(count: str) -> None:
    read = json.loads(f'{{"id": "a", "result": "x", "input_token_count": {count}}}')
    assert completion_of(read) == Completion(text="x")


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON, _JSON, _JSON)
def test_a_row_of_any_values_is_read(result: object, count: object, latency: object) -> None:
    completion = completion_of({"id": "a", "result": result, "input_token_count": count, "latency": latency})
    assert completion.text is None or completion.tool_calls is None


_COUNTS = st.none() | st.integers(0, 2**53)
_COMPLETIONS = st.builds(
    Completion,
    text=st.none() | st.text(),
    tool_calls=st.none()
    | st.lists(st.builds(ToolCall, st.text(), _JSON, st.text()) | st.text(), max_size=3).map(tuple),
    reasoning=st.none() | st.text(),
    input_tokens=_COUNTS,
    output_tokens=_COUNTS,
    latency_s=st.none() | st.floats(allow_nan=False, allow_infinity=False),
)


@given(_COMPLETIONS)
def test_a_row_holds_a_completion(completion: Completion) -> None:
    """All but the text beside tool calls and the ids of these."""
    held = completion
    if completion.tool_calls is not None:
        calls = [replace(c, id="") if isinstance(c, ToolCall) else c for c in completion.tool_calls]
        held = replace(completion, text=None, tool_calls=tuple(calls))
    assert completion_of(json.loads(json.dumps(row_of("a", completion)))) == held


def test_a_row_is_written_in_the_official_order() -> None:
    completion = Completion(text="x", reasoning="hm", input_tokens=5, output_tokens=2, latency_s=0.5)
    assert json.dumps(row_of("multiple_0", completion)) == (
        '{"id": "multiple_0", "result": "x", "input_token_count": 5, "output_token_count": 2, '
        '"latency": 0.5, "reasoning_content": "hm"}'
    )


def test_what_is_unknown_is_left_out() -> None:
    assert row_of("a", Completion(tool_calls=())) == {"id": "a", "result": []}
    assert row_of("a", Completion()) == {"id": "a", "result": None}


@pytest.mark.parametrize("text", [f"{ERROR}503", f"{ERROR}the maximum context is 8192"])
def test_a_fault_that_the_text_tells_is_held(text: str) -> None:
    completion = completion_of(row(text))
    assert completion.fault is not None
    assert completion_of(row_of("a", completion)) == completion


def test_where_results_lie() -> None:
    assert path_of(CATEGORIES["multiple"]) == Path("non_live/BFCL_v4_multiple_result.json")
    assert path_of(CATEGORIES["live_simple"]) == Path("live/BFCL_v4_live_simple_result.json")
