"""Rows of official result files hold what they were written from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall, Turns
from pytest_fcbench.models.baselines.result_rows import (
    find_result_path,
    read_turns,
    select_judged_text,
    write_row,
)
from tests.cases import each_case
from tests.factories import (
    make_entry,
    make_multi_turn,
    make_transcript,
    tool_calls,
)

PLAIN = make_entry(entry_id="a")
ROW_TALK = make_multi_turn(("Go.", []), ("On.", []), entry_id="b")


def read_completion(row: Mapping[str, object]) -> Completion:
    """Read the only completion of a row."""
    ((completion,),) = read_turns(row)
    return completion


def make_row(result: object) -> Mapping[str, object]:
    return {"id": "simple_python_0", "result": result}


ROW_ERROR = "Error during inference: "


@each_case(
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
            f"{ROW_ERROR}503 Service Unavailable",
            Completion(text=f"{ROW_ERROR}503 Service Unavailable", fault=Fault.INFERENCE_ERROR),
            id="inference error",
        ),
        pytest.param(
            f"{ROW_ERROR}the maximum context length is 8192 tokens",
            Completion(text=f"{ROW_ERROR}the maximum context length is 8192 tokens", fault=Fault.OVERFLOW),
            id="context overflow",
        ),
        pytest.param(
            f"{ROW_ERROR}code Context_Length_Exceeded",
            Completion(text=f"{ROW_ERROR}code Context_Length_Exceeded", fault=Fault.OVERFLOW),
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
    assert read_completion(make_row(result)) == completion


@each_case(
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
    assert read_completion({**make_row("x"), **more}) == completion


@each_case("count", ["NaN", "Infinity", "1e999", f"1{400 * '0'}"])
def test_a_count_that_is_no_finite_number_is_unknown(count: str) -> None:
    read = json.loads(f'{{"id": "a", "result": "x", "input_token_count": {count}}}')
    assert read_completion(read) == Completion(text="x")


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
    turns = read_turns({"id": "a", "result": result, "input_token_count": count, "latency": latency})
    assert turns
    for completion in (step for turn in turns for step in turn):
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
    assert read_completion(_reload_row(write_row(PLAIN, ((completion,),)))) == _drop_unwritten(completion)


def _drop_unwritten(completion: Completion) -> Completion:
    """Reduce a completion to what a row can hold."""
    if completion.tool_calls is None:
        return completion
    calls = [replace(c, id="") if isinstance(c, ToolCall) else c for c in completion.tool_calls]
    return replace(completion, text=None, tool_calls=tuple(calls))


def _reload_row(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row as it comes back from its file."""
    read: Mapping[str, object] = json.loads(json.dumps(row))
    return read


def test_a_row_is_written_in_the_official_order() -> None:
    completion = Completion(text="x", reasoning="hm", input_tokens=5, output_tokens=2, latency_s=0.5)
    assert json.dumps(write_row(PLAIN, ((completion,),))) == (
        '{"id": "a", "result": "x", "input_token_count": 5, "output_token_count": 2, '
        '"latency": 0.5, "reasoning_content": "hm"}'
    )


def test_what_is_unknown_is_left_out() -> None:
    assert write_row(PLAIN, ((Completion(tool_calls=()),),)) == {"id": "a", "result": []}
    assert write_row(PLAIN, ((Completion(),),)) == {"id": "a", "result": None}


@pytest.mark.parametrize("text", [f"{ROW_ERROR}503", f"{ROW_ERROR}the maximum context is 8192"])
def test_a_fault_that_the_text_tells_is_held(text: str) -> None:
    completion = read_completion(make_row(text))
    assert completion.fault is not None
    assert read_completion(write_row(PLAIN, ((completion,),))) == completion


@each_case(
    ("fault", "text"),
    [
        (Fault.INFERENCE_ERROR, "503"),
        (Fault.OVERFLOW, "litellm.ContextWindowExceededError: too long"),
        (Fault.OVERFLOW, "Your request exceeded model token limit: 8192"),
        (Fault.UNREADABLE_CALL, "Failed to parse input at pos 12: <tool_call>"),
        (Fault.UNREADABLE_CALL, "m: HTTP 500; a call in the history of the request is not a JSON object"),
    ],
)
def test_a_fault_becomes_one_that_the_text_tells(fault: Fault, text: str) -> None:
    written = write_row(PLAIN, ((Completion(text=text, fault=fault),),))
    assert written["result"] == f"{ROW_ERROR}{text}"
    assert read_completion(written) == Completion(text=f"{ROW_ERROR}{text}", fault=fault)


# Rows of several turns

TURNS: Turns = (
    (
        Completion(tool_calls=(ToolCall("f", "{}"),), input_tokens=5, output_tokens=2, latency_s=0.5),
        Completion(text="Done.", reasoning="hm", input_tokens=9),
    ),
    (Completion(text="No.", input_tokens=12, output_tokens=1, latency_s=0.25),),
)
ROW: Mapping[str, object] = {
    "id": "b",
    "result": [[[{"f": "{}"}], "Done."], ["No."]],
    "input_token_count": [[5, 9], [12]],
    "output_token_count": [[2, None], [1]],
    "latency": [[0.5, None], [0.25]],
    "reasoning_content": [[None, "hm"], [None]],
}


def test_a_row_of_several_turns_has_lists_of_lists() -> None:
    assert write_row(ROW_TALK, TURNS) == ROW
    assert list(write_row(ROW_TALK, TURNS)) == list(ROW)
    assert read_turns(ROW) == TURNS


def test_of_several_turns_too_only_what_is_known_is_written() -> None:
    turns = ((Completion(text="x"),), (Completion(), Completion(text="y")))
    assert write_row(ROW_TALK, turns) == {"id": "b", "result": [["x"], [None, "y"]]}


@each_case(
    ("result", "texts"),
    [
        pytest.param([["x"]], [["x"]], id="one turn"),
        pytest.param([["x"], []], [["x"], []], id="a turn without a step"),
        pytest.param([["x", 7], [None]], [["x", "7"], [None]], id="neither text nor calls"),
        pytest.param([["Error during inference: 503"]], [["Error during inference: 503"]], id="an error"),
    ],
)
def test_a_list_of_lists_is_turns(result: object, texts: list[list[str | None]]) -> None:
    assert [[step.text for step in turn] for turn in read_turns(make_row(result))] == texts


@each_case("result", ["x", [], ["x", ["y"]], [{"f": "{}"}, ["y"]], {"f": [["y"]]}, None])
def test_any_other_result_is_one_completion(result: object) -> None:
    assert [len(turn) for turn in read_turns(make_row(result))] == [1]


@each_case(
    ("counts", "known"),
    [
        pytest.param([[5, 9], [12]], [5, 9, 12], id="a number for each step"),
        pytest.param([[5]], [5, None, None], id="too few"),
        pytest.param([[5, 9, 7], [12, 7], [7]], [5, 9, 12], id="too many"),
        pytest.param([[5, 9], "12"], [5, 9, None], id="no list for a turn"),
        pytest.param([["5", True], [[12]]], [None] * 3, id="no numbers"),
        pytest.param([5, 12], [None] * 3, id="a number for each turn"),
        pytest.param(5, [None] * 3, id="a number"),
        pytest.param({"0": [5, 9]}, [None] * 3, id="an object"),
    ],
)
def test_counts_of_another_shape_are_unknown(counts: object, known: list[int | None]) -> None:
    found = read_turns({**ROW, "input_token_count": counts, "latency": counts})
    steps = [step for turn in found for step in turn]
    assert [step.input_tokens for step in steps] == [step.latency_s for step in steps] == known
    assert [step.output_tokens for step in steps] == [2, None, 1]


@pytest.mark.parametrize("fault", [Fault.OVERFLOW, Fault.INFERENCE_ERROR])
def test_of_a_conversation_that_broke_off_the_fault_is_all_that_stays(fault: Fault) -> None:
    """As in official files."""
    text = f"{ROW_ERROR}maximum context" if fault is Fault.OVERFLOW else f"{ROW_ERROR}503"
    broken = Completion(text=text, fault=fault, input_tokens=20)
    told = {"id": "b", "result": text, "input_token_count": 20}
    assert write_row(ROW_TALK, (*TURNS, (Completion(text="x"), broken))) == told
    assert read_turns(told) == ((broken,),)


@pytest.mark.parametrize(
    ("last", "results"),
    [
        (Completion(text="", fault=Fault.OTHER_TURNS), [["Go on."]]),
        (Completion(text="Bye.", fault=Fault.OTHER_TURNS), [["Go on."], ["Bye."], []]),
    ],
    ids=["fewer", "more"],
)
def test_a_conversation_of_another_number_of_turns_stays_one(
    last: Completion, results: list[list[str]]
) -> None:
    """Of two turns: a row with one, or with three."""
    row = write_row(ROW_TALK, ((Completion(text="Go on."),), (last,)))
    assert row == {"id": "b", "result": results}


_TURNS = st.lists(st.lists(_COMPLETIONS, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)


@given(_TURNS.map(tuple))
def test_a_row_holds_turns_of_completions(turns: Turns) -> None:
    held = tuple(tuple(map(_drop_unwritten, turn)) for turn in turns)
    assert read_turns(_reload_row(write_row(ROW_TALK, turns))) == held


_PART = st.dictionaries(st.text(max_size=5), _JSON, min_size=1, max_size=1) | st.text(max_size=5)
_STEP = st.fixed_dictionaries(
    {
        "result": st.text(max_size=20) | st.lists(_PART, max_size=3) | st.none(),
        "input_token_count": _COUNTS,
        "output_token_count": _COUNTS,
        "latency": st.none() | st.floats(0, 1e6),
        "reasoning_content": st.none() | st.text(max_size=20),
    }
)
_STEPS = st.lists(st.lists(_STEP, min_size=1, max_size=3), min_size=1, max_size=3)


@given(_STEPS)
def test_a_row_of_several_turns_is_written_as_it_was_read(steps: list[list[dict[str, object]]]) -> None:
    given = {key: [[step[key] for step in turn] for turn in steps] for key in steps[0][0]}
    known = {
        key: value
        for key, value in given.items()
        if key == "result" or any(part is not None for turn in value for part in turn)
    }
    assert _reload_row(write_row(ROW_TALK, read_turns({"id": "b", **known}))) == {"id": "b", **known}


def test_of_an_answer_in_text_only_the_text_is_judged() -> None:
    both = Completion(text="[f()]", tool_calls=(ToolCall("f", "{}"),))
    assert select_judged_text(make_transcript(both)) == ((both,),)
    assert select_judged_text(make_transcript(both, syntax="python")) == ((Completion(text="[f()]"),),)


# Files


def test_where_results_and_scores_lie() -> None:
    assert find_result_path(CATEGORIES["irrelevance"], "score") == Path(
        "non_live/BFCL_v4_irrelevance_score.json"
    )
    assert find_result_path(CATEGORIES["multiple"]) == Path("non_live/BFCL_v4_multiple_result.json")
    assert find_result_path(CATEGORIES["live_simple"]) == Path("live/BFCL_v4_live_simple_result.json")
    assert find_result_path(CATEGORIES["multi_turn_base"]) == Path(
        "multi_turn/BFCL_v4_multi_turn_base_result.json"
    )
    memory = Path("agentic/memory/rec_sum/BFCL_v4_memory_rec_sum_score.json")
    assert find_result_path(CATEGORIES["memory_rec_sum"], "score") == memory
    assert find_result_path(CATEGORIES["web_search_base"]).parent == Path("agentic")
