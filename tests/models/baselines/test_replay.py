"""Stored answers come back as they were given, whatever file they stand in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import Call, Completion, Fault, Step, ToolCall, Transcript, Turns
from pytest_fcbench.domain.verdict import Judgement, Passed
from pytest_fcbench.models.baselines import replay
from pytest_fcbench.models.baselines.replay import (
    find_result_path,
    read_turns,
    select_judged_text,
    write_row,
)
from pytest_fcbench.models.registry import choose_model
from pytest_fcbench.scorecard.record import Record, build_record, to_json
from tests.cases import each_case
from tests.factories import (
    ask_model,
    make_entry,
    make_multi_turn,
    make_scorecard,
    make_transcript,
    tool_calls,
    write_scorecard,
)


def _write_results(
    folder: Path, *rows: Mapping[str, object] | str, name: str = "BFCL_v4_simple_python_result.json"
) -> Path:
    """Write a result file; a row given as text is a line as it stands."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _make_row(result: object, number: int = 0) -> Mapping[str, object]:
    return {"id": f"simple_python_{number}", "result": result}


def _make_bfcl_entry(number: int = 0) -> Entry:
    return make_entry(suite="bfcl", entry_id=f"simple_python_{number}")


ERROR = "Error during inference: "

# Files


def test_all_result_files_below_a_folder_are_read(tmp_path: Path) -> None:
    _write_results(tmp_path / "non_live", _make_row("[f()]"), "", _make_row("[g()]", 1))
    _write_results(
        tmp_path / "live",
        {"id": "live_simple_0-0-0", "result": "[h()]"},
        name="BFCL_v4_live_simple_result.json",
    )
    _write_results(tmp_path, "no JSON", name="notes.json")
    model = replay.load(tmp_path)
    assert model.answers == {
        "bfcl:simple_python_0": ((Completion(text="[f()]"),),),
        "bfcl:simple_python_1": ((Completion(text="[g()]"),),),
        "bfcl:live_simple_0-0-0": ((Completion(text="[h()]"),),),
    }


def test_one_file_is_enough(tmp_path: Path) -> None:
    path = _write_results(tmp_path, _make_row("[f()]"))
    assert ask_model(replay.load(path), _make_bfcl_entry()) == Completion(text="[f()]")


def test_an_entry_without_result_is_not_scored(tmp_path: Path) -> None:
    model = replay.load(_write_results(tmp_path, _make_row("[f()]")))
    with pytest.raises(NotScoredError) as caught:
        ask_model(model, _make_bfcl_entry(1))
    assert caught.value.cause == "no_result"
    assert caught.value.reason == f"{model.path} has no result for bfcl:simple_python_1"


def test_results_answer_entries_of_bfcl_only(tmp_path: Path) -> None:
    model = replay.load(_write_results(tmp_path, _make_row("[f()]")))
    with pytest.raises(NotScoredError, match="has no result for core:simple_python_0"):
        ask_model(model, make_entry())


def test_an_id_in_two_files_is_refused(tmp_path: Path) -> None:
    one, other = (
        _write_results(tmp_path / "a", _make_row("x")),
        _write_results(tmp_path / "b", _make_row("y")),
    )
    with pytest.raises(UsageError) as caught:
        replay.load(tmp_path)
    assert str(caught.value) == (
        f"bfcl:simple_python_0 has results in both {one} and {other}; give the folder of a single model"
    )


def test_of_an_id_that_is_twice_in_one_file_the_last_counts(tmp_path: Path) -> None:
    path = _write_results(tmp_path, _make_row("first"), _make_row("other", 1), _make_row("last"))
    model = replay.load(path)
    assert ask_model(model, _make_bfcl_entry()) == Completion(text="last")
    assert model.notes == (
        "entries with more than one result in a file, of which the last one counts: 1 (bfcl:simple_python_0)",
    )
    assert replay.load(_write_results(tmp_path / "once", _make_row("x"))).notes == ()


@each_case(
    ("before", "today"),
    [
        ("simple_0", "simple_python_0"),
        ("java_12", "simple_java_12"),
        ("javascript_3", "simple_javascript_3"),
        ("live_simple_0-0-0", "live_simple_0-0-0"),
        ("simple_python_7", "simple_python_7"),
    ],
)
def test_ids_of_earlier_versions_are_those_of_today(tmp_path: Path, before: str, today: str) -> None:
    path = _write_results(tmp_path, {"id": before, "result": "x"}, name="BFCL_v3_simple_result.json")
    assert list(replay.load(path).answers) == [f"bfcl:{today}"]


def test_a_folder_without_results_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        replay.load(tmp_path)
    assert str(caught.value) == (
        f"replay:{tmp_path}: there is no *_result.json below it; give the folder of one model's results "
        "(result/<model>) or a scorecard.json"
    )


@each_case(
    ("line", "says"),
    [
        pytest.param('{"id": "simple_python_1", "result"', "not JSON: Expecting ':' delimiter", id="cut"),
        pytest.param("[" * 100_000, "not JSON: ", id="nested"),
        pytest.param('{"result": "x"}', "a result must have 'id' and 'result'", id="no id"),
        pytest.param('{"id": 1, "result": "x"}', "a result must have 'id' and 'result'", id="id is a number"),
        pytest.param('{"id": "a"}', "a result must have 'id' and 'result'", id="no result"),
        pytest.param("[]", "a result must have 'id' and 'result'", id="no object"),
    ],
)
def test_a_broken_line_is_told_with_its_number(tmp_path: Path, line: str, says: str) -> None:
    path = _write_results(tmp_path, _make_row("x"), "", line)
    with pytest.raises(UsageError) as caught:
        replay.load(tmp_path)
    assert str(caught.value).startswith(f"{path}:3: {says}")


def test_a_line_that_is_no_text_is_told_with_its_number(tmp_path: Path) -> None:
    path = _write_results(tmp_path, _make_row("x"))
    path.write_bytes(path.read_bytes() + b'{"id": "a", "result": "\xff"}\n')
    with pytest.raises(UsageError, match=r"_result\.json:2: not JSON: "):
        replay.load(path)


def test_line_separators_inside_a_text_do_not_end_the_line(tmp_path: Path) -> None:
    row = json.dumps(_make_row("one\u2028two\x85three"), ensure_ascii=False)
    assert (
        ask_model(replay.load(_write_results(tmp_path, row)), _make_bfcl_entry()).text
        == "one\u2028two\x85three"
    )


# Several turns

TALK = make_multi_turn(
    ("Go.", ["f()"]), ("On.", []), ("Stop.", []), suite="bfcl", entry_id="multi_turn_base_0"
)


def _make_talk_row(result: object) -> Mapping[str, object]:
    return {"id": TALK.id, "result": result, "latency": [[0.5, 1.5], [2.5]]}


def test_steps_are_given_by_turn_and_step(tmp_path: Path) -> None:
    model = replay.load(_write_results(tmp_path, _make_talk_row([[[{"f": "{}"}], "Done."], ["Yes."]])))
    assert ask_model(model, TALK) == replace(tool_calls(("f", "{}")), latency_s=0.5)
    assert ask_model(model, TALK, step=1) == Completion(text="Done.", latency_s=1.5)
    assert ask_model(model, TALK, turn=1) == Completion(text="Yes.", latency_s=2.5)


@pytest.mark.parametrize(("turn", "step"), [(0, 1), (1, 1), (2, 0)])
def test_a_turn_that_ends_with_a_call_or_without_an_answer_ends_there(
    tmp_path: Path, turn: int, step: int
) -> None:
    model = replay.load(_write_results(tmp_path, _make_talk_row([["[f()]"], ["Yes."], []])))
    assert ask_model(model, TALK, turn, step) == Completion(text="")


@pytest.mark.parametrize(
    ("turns", "turn", "step", "text"),
    [
        ([["[f()]", "Done."], ["Yes."]], 2, 0, ""),
        ([["[f()]", "Done."], ["Yes."], ["[g()]", "Bye."], ["More."]], 2, 1, "Bye."),
        ([["[f()]", "Done."], ["Yes."], [], ["More."]], 2, 0, ""),
    ],
    ids=["fewer", "more", "more, none in the last"],
)
def test_another_number_of_turns_than_the_entry_is_an_end_by_force(
    tmp_path: Path, turns: Sequence[Sequence[str]], turn: int, step: int, text: str
) -> None:
    model = replay.load(_write_results(tmp_path, {"id": TALK.id, "result": turns}))
    assert ask_model(model, TALK, 0, 1) == Completion(text="Done.")
    assert ask_model(model, TALK, 1) == Completion(text="Yes.")
    assert ask_model(model, TALK, turn, step) == Completion(text=text, fault=Fault.OTHER_TURNS)


def test_a_step_of_other_conversations_that_is_not_there_is_not_scored(tmp_path: Path) -> None:
    path = _write_results(tmp_path, {"id": "memory_kv_0", "result": [["[f()]"]]})
    entry = make_entry(suite="bfcl", entry_id="memory_kv_0")
    with pytest.raises(NotScoredError) as caught:
        ask_model(replay.load(path), entry, 0, 1)
    assert caught.value.cause == "no_result"
    assert caught.value.reason == f"{path} has no result for turn 1, step 2 of bfcl:memory_kv_0"


def test_the_error_of_a_whole_conversation_answers_wherever_it_is(tmp_path: Path) -> None:
    model = replay.load(_write_results(tmp_path, _make_talk_row(f"{ERROR}503")))
    for turn, step in ((0, 0), (0, 1), (2, 0)):
        assert ask_model(model, TALK, turn, step).fault is Fault.INFERENCE_ERROR


def test_an_error_among_steps_stays_where_it_is(tmp_path: Path) -> None:
    model = replay.load(_write_results(tmp_path, _make_talk_row([["[f()]", f"{ERROR}maximum context"]])))
    assert ask_model(model, TALK).fault is None
    assert ask_model(model, TALK, step=1).fault is Fault.OVERFLOW


# Mode and syntax

KIMI_CALL = NATIVE_SYNTAXES["kimi_k2"].write_calls([Call("f", {"a": 1})])


@each_case(
    ("results", "mode", "syntax"),
    [
        pytest.param([[{"f": "{}"}], "Sorry."], Mode.FC, "tool_calls", id="tool calls"),
        pytest.param(["[f(a=1)]", "Sorry."], Mode.PROMPT, "python", id="python"),
        pytest.param(['\n<tool_call>\n{"name": "f"}\n</tool_call>', "Sorry."], Mode.FC, "qwen", id="qwen"),
        pytest.param(['[{"name": "f", "arguments": {}}]', "Sorry."], Mode.FC, "xlam", id="xlam list"),
        pytest.param(['{"tool_calls": []}', "Sorry."], Mode.FC, "xlam", id="xlam object"),
        pytest.param(['weather_forecast\n{"a": 1}', "Sorry."], Mode.FC, "glm", id="glm"),
        pytest.param(["Sorry.", None, ""], Mode.PROMPT, "python", id="nothing to go by"),
        pytest.param(["[f()]", "[g()]", "<tool_call>"], Mode.PROMPT, "python", id="the most frequent"),
        pytest.param(
            [[["No."], [[], [{"f": "{}"}]]]], Mode.FC, "tool_calls", id="tool calls in a later step"
        ),
        pytest.param([[["No."], ["No.", "[f()]"]]], Mode.PROMPT, "python", id="python in a later step"),
        pytest.param([[["No."], ["<tool_call>\n{}"]]], Mode.FC, "qwen", id="qwen in a later turn"),
        pytest.param([KIMI_CALL, "Sorry."], Mode.FC, "kimi_k2", id="a native syntax"),
    ],
)
def test_mode_and_syntax_are_seen_from_all_results(
    tmp_path: Path, results: Sequence[object], mode: Mode, syntax: str
) -> None:
    model = replay.load(
        _write_results(tmp_path, *[_make_row(result, number) for number, result in enumerate(results)])
    )
    assert (model.recorded.mode, model.recorded.syntax) == (mode, syntax)


def test_calls_in_a_native_syntax_are_read_unless_another_syntax_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    _write_results(folder, _make_row(KIMI_CALL))
    read_calls = (ToolCall("f", '{"a": 1}', "call_0"),)
    for options, calls in (({}, read_calls), ({"mode": "prompt"}, None)):
        settings = build_settings({"model": f"replay:{folder}", **options}, None)
        assert ask_model(choose_model(settings).model, _make_bfcl_entry()).tool_calls == calls


CALLS = [{"a.b": "{}"}, {"c_d": "{}"}]


@each_case(
    ("result", "names", "told"),
    [
        (CALLS, Names.DOTTED, "answers look like tool_calls with dotted names; --fcbench-as=OFFICIAL_ID"),
        ([{"a.b": "{}"}] + [{"c_d": "{}"}] * 50, Names.UNDERSCORED, None),
        (
            '{"name": "a.b", "parameters": {}}',
            Names.DOTTED,
            "answers look like llama_3_1 with dotted names; --fcbench-as=OFFICIAL_ID",
        ),
        ("[a.b()]", None, None),
    ],
    ids=["one in two", "one in 51", "text", "prompting shows them anyway"],
)
def test_names_are_recognised_from_the_calls_and_told(
    tmp_path: Path, result: object, names: Names | None, told: str | None
) -> None:
    model = replay.load(_write_results(tmp_path, _make_row(result, 0)))
    assert model.recorded.names == names
    assert [note.startswith(str(told)) for note in model.notes] == ([True] if told else [])


def test_a_folder_with_an_official_name_is_read_as_its_model(tmp_path: Path) -> None:
    folder = tmp_path / "MadeAgents_Hammer2.1-7b"
    _write_results(folder, _make_row("```\n[]\n```"))
    model = replay.load(folder)
    assert (model.recorded.syntax, model.recorded.names) == ("hammer", Names.DOTTED)
    assert model.notes == ("answers are read as those of MadeAgents/Hammer2.1-7b (hammer, dotted names)",)


# A scorecard of ours

FC = ModelPresentation("gpt", Prompting.make_default(Mode.FC))
PROMPTED = ModelPresentation("gpt", Prompting.make_default(Mode.PROMPT))


def _make_record(completion: Completion | None, manner: ModelPresentation = FC, number: int = 0) -> Record:
    entry = make_entry(entry_id=f"simple_python_{number}")
    transcript = None
    if completion is not None:
        turns = ((Step(completion),),)
        transcript = Transcript(entry.key, manner.model, manner.prompting, turns)
    return build_record(entry, manner, Judgement.same_in_both(Passed()), transcript)


_RECORD = {**to_json(_make_record(Completion(text="x")))}


def _write_scorecard(folder: Path, *records: Record) -> Path:
    return write_scorecard(folder / "scorecard.json", records)


@each_case(
    "completion",
    [
        pytest.param(Completion(text="[f(a=1)]"), id="text"),
        pytest.param(Completion(text=""), id="empty text"),
        pytest.param(tool_calls(("f", '{"a": 1}'), ("g", "{")), id="tool calls"),
        pytest.param(Completion(tool_calls=(ToolCall("f", {"a": 1}), "part")), id="objects and parts"),
        pytest.param(Completion(tool_calls=()), id="no calls"),
        pytest.param(Completion(), id="nothing"),
        pytest.param(
            Completion(text=f"{ERROR}no endpoint", fault=Fault.INFERENCE_ERROR), id="inference error"
        ),
    ],
)
def test_a_scorecard_gives_the_answers_back(tmp_path: Path, completion: Completion) -> None:
    model = replay.load(_write_scorecard(tmp_path, _make_record(completion)))
    assert ask_model(model, make_entry()) == completion


@pytest.mark.parametrize("manner", [FC, PROMPTED], ids=["fc", "prompt"])
def test_a_scorecard_knows_mode_and_syntax(tmp_path: Path, manner: ModelPresentation) -> None:
    model = replay.load(_write_scorecard(tmp_path, _make_record(Completion(text="x"), manner)))
    assert (model.recorded.mode, model.recorded.syntax) == (manner.prompting.mode, manner.prompting.syntax)


def test_an_entry_without_answer_in_the_scorecard_is_not_scored(tmp_path: Path) -> None:
    model = replay.load(
        _write_scorecard(tmp_path, _make_record(None), _make_record(Completion(text="x"), number=1))
    )
    with pytest.raises(NotScoredError, match=r"scorecard\.json has no result for core:simple_python_0"):
        ask_model(model, make_entry())


def test_trials_of_a_scorecard_stay_apart(tmp_path: Path) -> None:
    answers = [replace(_make_record(Completion(text=f"answer {n}")), trial=n) for n in (1, 2)]
    model = replay.load(_write_scorecard(tmp_path, *answers))
    assert ask_model(model, make_entry()).text == "answer 1"
    assert [ask_model(model, replace(make_entry(), trial=n)).text for n in (1, 2)] == ["answer 1", "answer 2"]
    with pytest.raises(NotScoredError, match="no result for core:simple_python_0-t3"):
        ask_model(model, replace(make_entry(), trial=3))


def _make_talk_record(*turns: Sequence[Completion]) -> Record:
    """Make the Record of a conversation of several turns."""
    held = tuple(tuple(map(Step, turn)) for turn in turns)
    transcript = Transcript(TALK.key, FC.model, FC.prompting, held)
    return build_record(TALK, FC, Judgement.same_in_both(Passed()), transcript)


def test_a_scorecard_gives_every_step_back(tmp_path: Path) -> None:
    turns = (
        (replace(tool_calls(("f", "{")), input_tokens=5), Completion(text="Done.", latency_s=0.5)),
        (Completion(),),
        (Completion(text="a", reasoning="hm"), Completion(text="too long", fault=Fault.OVERFLOW)),
    )
    model = replay.load(
        _write_scorecard(tmp_path, _make_talk_record(*turns), _make_record(Completion(text="x")))
    )
    given_back = [[ask_model(model, TALK, t, s) for s in range(len(turns[t]))] for t in range(3)]
    assert given_back == [list(turn) for turn in turns]
    with pytest.raises(NotScoredError, match="no result for turn 2, step 2 of bfcl:multi_turn_base_0"):
        ask_model(model, TALK, 1, 1)


def _write_report(record: object) -> str:
    return json.dumps(make_scorecard([]) | {"tests": [{"metadata": {"fcbench": record}}]})


@each_case(
    "text",
    [
        pytest.param("no JSON", id="no JSON"),
        pytest.param("[]", id="a list"),
        pytest.param('{"exitcode": 0}', id="no tests"),
        pytest.param(_write_report({}), id="an empty record"),
        pytest.param(_write_report([1]), id="a list for a record"),
        pytest.param(_write_report(_RECORD | {"turns": [[{"x": 1}]]}), id="an answer of another shape"),
        pytest.param(_write_report(_RECORD | {"turns": [["x"]]}), id="a text for an answer"),
        pytest.param(_write_report(_RECORD | {"turns": ["x"]}), id="a text for a turn"),
        pytest.param(_write_report(_RECORD | {"turns": 5}), id="a number for turns"),
        pytest.param(_write_report(_RECORD | {"steps": []}), id="an answer without usage"),
        pytest.param(_write_report(_RECORD | {"steps": [{}]}), id="usage of another shape"),
        pytest.param(_write_report(_RECORD | {"turns": [], "mode": "f"}), id="an unknown mode"),
        pytest.param("[" * 100_000, id="nested"),
    ],
)
def test_another_json_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        replay.load(path)
    assert str(caught.value).startswith(f"replay:{path}: ")


def test_metadata_of_other_plugins_does_not_matter(tmp_path: Path) -> None:
    path = _write_scorecard(tmp_path, _make_record(Completion(text="x")))
    report = json.loads(path.read_text(encoding="utf-8"))
    report["tests"].append({"nodeid": "foreign", "metadata": {"ticket": 12}})
    path.write_text(json.dumps(report), encoding="utf-8")
    assert ask_model(replay.load(path), make_entry()) == Completion(text="x")


def test_a_context_overflow_stays_one(tmp_path: Path) -> None:
    """As litellm reports it, whose words are not those of the official result files."""
    completion = Completion(text="ContextWindowExceededError: 9000 tokens", fault=Fault.OVERFLOW)
    model = replay.load(_write_scorecard(tmp_path, _make_record(completion)))
    assert ask_model(model, make_entry()).fault is Fault.OVERFLOW


def test_reasoning_is_read_back(tmp_path: Path) -> None:
    model = replay.load(_write_scorecard(tmp_path, _make_record(Completion(text="x", reasoning="hm"))))
    assert ask_model(model, make_entry()).reasoning == "hm"


def test_tokens_and_latency_are_read_back(tmp_path: Path) -> None:
    completion = Completion(text="x", input_tokens=5, output_tokens=2, latency_s=0.5)
    model = replay.load(_write_scorecard(tmp_path, _make_record(completion)))
    assert ask_model(model, make_entry()) == completion


def test_a_report_without_answers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    with pytest.raises(UsageError, match="contains no answers; give the scorecard of a benchmark run"):
        replay.load(write_scorecard(path, []))


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
