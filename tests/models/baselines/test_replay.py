"""Stored answers come back as they were given, whatever file they stand in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import Call, Completion, Fault, Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Judgement, Passed
from pytest_fcbench.models.baselines import replay
from pytest_fcbench.models.registry import choose_model
from pytest_fcbench.scorecard.record import Record, build_record, to_json
from tests.cases import each_case
from tests.factories import (
    ask_model,
    make_entry,
    make_multi_turn,
    make_scorecard,
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
    rows = (_make_row(text) for text in ("first", "second", "last"))
    path = _write_results(tmp_path, _make_row("other", 1), *rows)
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
