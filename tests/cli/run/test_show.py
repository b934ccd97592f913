"""``fcbench run show``: an entry with what is right, or with what was answered, for people."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.cli.output import escape_long_line
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.pipeline import Pipeline
from pytest_fcbench.dispatch.stored_answers import StoredAnswers
from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import Completion, RecordedCall, Step, ToolCall
from pytest_fcbench.domain.verdict import Difference, Failed, Judgement, NotScored, Passed
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.models import registry
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.entry_text import render_entry, render_paths
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard import record as records
from tests.factories import (
    FACTS,
    make_answered_record,
    make_call_verdict,
    make_entry,
    make_path_score,
    make_record,
    make_transcript,
    tool_calls,
    write_scorecard,
)

RunShow: TypeAlias = Callable[..., str]


@pytest.fixture
def run_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunShow:
    """Run the command in an empty folder and return what it prints."""
    monkeypatch.chdir(tmp_path)

    def run_command(*words: str) -> str:
        assert main.main(["run", "show", *words]) == 0
        return capsys.readouterr().out

    return run_command


def run_refused_show(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main.main(["run", "show", *words])
    assert ended.value.code == 4
    return capsys.readouterr().err


def write_script(folder: Path, *turns: object, key: str = "core:multi_turn_base_0") -> str:
    """Write a script of these turns and return the option that names it as the model."""
    path = folder / "script.yaml"
    path.write_text(json.dumps({"answers": {key: {"turns": list(turns)}}, "default": "I see."}))
    return f"--model=scripted:{path}"


# What an entry is


def test_an_entry_with_its_truth(run_show: RunShow) -> None:
    lines = run_show("core:multi_turn_base_3").splitlines()
    assert lines[0] == "core:multi_turn_base_3 · multi_turn_base · travel, posting"
    assert "state          posting.tweet_counter: 7" in lines
    assert [line for line in lines if line.startswith("turn")] == [f"turn {n}" for n in (1, 2, 3, 4)]
    call = next(n for n, line in enumerate(lines) if line.startswith("  call         post_tweet("))
    assert lines[call + 1].startswith('    returns    {"id": 7,')
    assert lines[call + 2].startswith("    changes    posting.tweets.7: → {'id': 7")
    assert lines[call + 3] == "    changes    posting.tweet_counter: 7 → 8"
    assert not [line for line in lines if line.startswith("official")]


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("core:parallel_0", "  accepted     "),
        ("core:irrelevance_0", "  accepted  no call"),
        ("core:live_relevance_0", "  accepted  any call"),
        ("core:exec_simple_6", "  result of    weekday(day='1969-07-20')  (exact_match)"),
        ("core:rest_5", "  answer to    requests.get(url='https://trams.varnholm.example/v1/lines/7')"),
        ("core:multi_turn_miss_param_0", "  (nothing can be called yet)"),
        ("core:multi_turn_miss_func_0", "  new          "),
    ],
)
def test_what_is_right_depends_on_the_kind(run_show: RunShow, entry: str, line: str) -> None:
    assert any(shown.startswith(line) for shown in run_show(entry).splitlines())


def test_long_values_are_cut_unless_all_is_asked_for(run_show: RunShow) -> None:
    entry = "core:multi_turn_long_context_0"
    assert " more characters)" in run_show(entry)
    assert " more characters)" not in run_show(entry, "--full")
    assert len(run_show(entry, "--full")) > len(run_show(entry))


# What was answered


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_a_right_conversation_is_shown_beside_its_truth(run_show: RunShow, mode: Mode) -> None:
    text = run_show("core:multi_turn_base_0", "--model=oracle", f"--mode={mode}")
    assert text.count("  truth        ") == text.count("\nturn ")
    assert text.endswith("official  passed\ncorrected passed\n")


def test_a_wrong_conversation_says_where(run_show: RunShow, tmp_path: Path) -> None:
    text = run_show("core:multi_turn_base_0", write_script(tmp_path, [[{"nonsense": {"a": 1}}], "Well."]))
    assert "  call         nonsense(a=1)\n    returns    Error: there is no function nonsense\n" in text
    assert "  model        I see.\n" in text
    assert "\nofficial  failed  multi_turn:instance_state_mismatch: turn 1: " in text


def test_a_conversation_that_was_ended_by_force(run_show: RunShow, tmp_path: Path) -> None:
    endless = [[{"nonsense": {"a": n}}] for n in range(21)]
    text = run_show("core:multi_turn_base_0", write_script(tmp_path, endless))
    assert text.count("  call ") == 21
    assert "  (the conversation was over)" in text
    assert "multi_turn:force_terminated" in text


def test_an_answer_that_is_only_read(run_show: RunShow) -> None:
    text = run_show("core:simple_python_0", "--model=oracle")
    assert "  tool call    " in text
    assert text.endswith("official  passed\ncorrected passed\n")


def test_a_wrong_statement_is_shown_with_its_tables_and_rows(run_show: RunShow, tmp_path: Path) -> None:
    call = {"rental_db.run": {"sql_keyword": "SELECT", "table_name": "bikes", "columns": "model"}}
    path = tmp_path / "script.yaml"
    path.write_text(json.dumps({"answers": {"core:sql_0": [call]}}))
    lines = run_show("core:sql_0", f"--model=scripted:{path}").splitlines()
    assert lines.index("table rentals") < next(
        n for n, line in enumerate(lines) if line.startswith("official")
    )
    assert "rows (5 and 9)" in lines
    right = run_show("core:sql_0", "--model=oracle")
    assert "table rentals" in right
    assert right.endswith("corrected passed\n")


def test_what_a_model_writes_cannot_touch_the_terminal(run_show: RunShow, tmp_path: Path) -> None:
    key = "core:simple_python_0"
    path = tmp_path / "script.yaml"
    path.write_text(json.dumps({"answers": {key: "\x1b[31mred " + "x" * 2000}}))
    text = run_show(key, f"--model=scripted:{path}", "--full")
    assert "\x1b" not in text
    assert "\\x1b[31mred" in text
    assert "x" * 2000 in text.replace("\n", "").replace(" ", "")


def test_a_scorecard_has_the_conversation(run_show: RunShow, tmp_path: Path) -> None:
    with closing(Session(RunContext(build_settings({"model": "oracle"}, None)))) as run:
        entry = run.context.suites["core"].load(CATEGORIES["multi_turn_base"])[1]
        transcript = run.transcript(entry)
    record = records.build_record(entry, run.context.manner, Judgement.same_in_both(Passed()), transcript)
    write_scorecard(tmp_path / "card.json", [record])
    expected_text = run_show(entry.key, "--model=oracle")
    # Today's mode has no say in how recorded answers are read.
    (tmp_path / "fcbench.yaml").write_text("mode: prompt\n")
    text = run_show(entry.key, "--scorecard=card.json")
    assert text == expected_text
    assert "official  passed" in text


def test_stored_answers_are_shown_and_nobody_is_asked(
    run_show: RunShow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a trial too. Where an answer is missing, it says so."""
    settings = build_settings({"model": "openai/x", "api_key_env": ""}, None)
    run = RunContext(settings)
    entry = replace(run.suites["core"].load(CATEGORIES["multi_turn_base"])[0], trial=2)
    store = AnswerStore(tmp_path / ".fcbench/answers.sqlite")
    identity = registry.describe_identity(settings)
    oracle = OracleModel(Prompting.make_default(Mode.FC))
    model = Pipeline(oracle, [StoredAnswers(store, identity, immediate=True)], immediate=True)
    talk = run.converse(entry, {})
    request = next(talk)
    while True:
        try:
            request = talk.send(run_through(model.complete(entry, request)))
        except StopIteration:
            break
    store.close()
    assert "official  passed" in run_show("core:multi_turn_base_0-t2", "--model=openai/x")
    assert "offline" in run_refused_show(capsys, "core:multi_turn_base_0", "--model=openai/x")


def test_tool_calls_and_text_beside_each_other(run_show: RunShow, tmp_path: Path) -> None:
    """A text that a provider puts beside the calls, and reasoning, are shown too."""
    completion = Completion(
        text="Let me see.", tool_calls=(ToolCall("f", "{"), "and a part"), reasoning="Hm."
    )
    with closing(Session(RunContext(build_settings({"model": "oracle"}, None)))) as run:
        entry = run.context.suites["core"].load(CATEGORIES["simple_python"])[0]
        transcript = run.transcript(entry)
    transcript = replace(transcript, turns=((replace(transcript.turns[0][0], completion=completion),),))
    record = records.build_record(entry, run.context.manner, Judgement.same_in_both(Passed()), transcript)
    write_scorecard(tmp_path / "card.json", [record])
    text = run_show(entry.key, "--scorecard=card.json")
    for line in (
        "  reasoning    Hm.",
        "  model        Let me see.",
        "  tool call    f {",
        "  tool call    and a part",
    ):
        assert line in text


def test_reasoning_in_a_text_is_shown_apart(run_show: RunShow, tmp_path: Path) -> None:
    completion = Completion(text="<think>\nHm.\n</think>\n\nLet me see.")
    record = make_answered_record(completion)
    write_scorecard(tmp_path / "card.json", [record])
    text = run_show(record.entry, "--scorecard=card.json")
    assert "  reasoning    Hm." in text
    assert "  model        Let me see." in text
    assert "> answered   Let me see." in text


@pytest.mark.nightly
def test_a_reader_that_has_read_enough(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest_fcbench.cli.main",
        "run",
        "show",
        "core:multi_turn_long_context_10",
        "--full",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("core:multi_turn_long_context_10")
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


# Golden paths


GOLDEN = GoldenPath(
    (
        (RecordedCall.with_reply("find_place", {"name": "Bergen"}, {"id": 7}),),
        (
            RecordedCall.with_reply("book", {"place_id": 7, "nights": 2}, {}),
            RecordedCall.with_reply("book", {"place_id": 8}, {}),
        ),
    )
)


def _make_golden_entry() -> Entry:
    return replace(make_entry(entry_id="hotels_0"), category=CATEGORIES["hotels"], expectation=GOLDEN)


def test_a_golden_path_is_told_step_by_step() -> None:
    text = list(render_entry(_make_golden_entry(), None, Environments({}), None))
    assert text[-3:] == [
        '  step 1       find_place {"name": "Bergen"}',
        '  step 2       book {"place_id": 7, "nights": 2}',
        '  step 2       book {"place_id": 8}',
    ]


def test_replies_of_a_conversation_are_those_it_had() -> None:
    """Nothing is carried out again."""
    first = Step(tool_calls(("find_place", {"name": "Oslo"})), ('find_place(name="Oslo")',), ('{"id": 9}',))
    transcript = replace(make_transcript("Done."), turns=((first, Step(Completion("Done."))),))
    text = list(render_entry(_make_golden_entry(), transcript, Environments({}), None))
    assert text[-3:] == [
        '  call         find_place(name="Oslo")',
        '    returns    {"id": 9}',
        "  model        Done.",
    ]


def test_a_call_that_ended_the_conversation_has_no_reply() -> None:
    first = Step(tool_calls(("find_place", {"name": "Oslo"})), ('find_place(name="Oslo")',))
    transcript = replace(make_transcript("Done."), turns=((first,),))
    text = list(render_entry(_make_golden_entry(), transcript, Environments({}), None))
    assert text[-1] == '  call         find_place(name="Oslo")'


def test_calls_are_told_with_what_became_of_them() -> None:
    wrong = make_call_verdict(
        step=2,
        made={"city": "Oslo", "stars": 5},
        expected={"city": "Bergen", "nights": 2},
        code="value_error",
        stage="judge",
        reason="another city",
        differences=[
            Difference("city", "value_error", "string", "Bergen", "Oslo"),
            Difference("nights", "param_missing", "number", 2),
            Difference("stars", "param_hallucination", None, found=5),
        ],
    )
    alone = make_call_verdict(step=3, paired=False, code="unpaired", stage="unpaired")
    path = make_path_score(make_call_verdict(), wrong, alone, right_steps=1, taken=3, completeness=2)
    judgement = Judgement(Passed(), Passed(), path, path)
    assert (
        "\n".join(render_paths(judgement, 240))
        == """
calls (both profiles): 1 of 3 right, 1 of 2 steps finished, 3 taken
completeness of the answer: 2 of 2
  step 1       find_hotels {"city": "Bergen"}
    verdict    right (exact)
  step 2       find_hotels {"city": "Oslo", "stars": 5}
    verdict    value_error (judge)
    expected   find_hotels {"city": "Bergen", "nights": 2}
    differs    city (string) is Oslo, expected Bergen
    differs    nights (number) is missing, expected 2
    differs    stars is 5, expected none
    reason     another city
  step 3       find_hotels {"city": "Bergen"}
    verdict    unpaired (unpaired)"""
    )


def test_profiles_that_say_otherwise_of_calls_are_both_told() -> None:
    one, other = make_path_score(make_call_verdict()), make_path_score(make_call_verdict(code="value_error"))
    text = list(render_paths(Judgement(Passed(), Passed(), one, other), None))
    assert [line for line in text if line.startswith("calls")] == [
        "calls (official profile): 1 of 1 right, 2 of 2 steps finished, 2 taken",
        "calls (corrected profile): 0 of 1 right, 2 of 2 steps finished, 2 taken",
    ]
    assert list(render_paths(Judgement.same_in_both(Passed()), None)) == []


def test_long_and_hostile_calls_can_be_shown() -> None:
    verdict = make_call_verdict(name="\x1b[31m", made={"x\ud800": "y" * 5000}, code="value_error")
    judgement = Judgement(Passed(), Passed(), make_path_score(verdict))
    for longest, most in ((240, 1_000), (None, 6_000)):
        text = [escape_long_line(line) for line in render_paths(judgement, longest)]
        assert all(line.isprintable() for line in text)
        assert sum(map(len, text)) < most
    assert "y" * 5000 in "".join(render_paths(judgement, None))


# Wrong words


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["core:multi_turn_bse_3"],
            "unknown entry 'core:multi_turn_bse_3'. Did you mean 'core:multi_turn_base_3'",
        ),
        (["core:multi_turn_base_0-tx"], "unknown entry 'core:multi_turn_base_0-tx'"),
        (["cor:multi_turn_base_0"], "unknown suite 'cor'. Did you mean 'core'?"),
        (["multi_turn_base_x"], "unknown entry 'core:multi_turn_base_x'. Did you mean"),
        (["core:multi_turn"], "'core:multi_turn': 136 entries begin so, and at most 20 are shown"),
        (
            ["core:multiple_0", "--model=oracle", "--expected"],
            "--model and --expected exclude each other; give one of them",
        ),
        (["core:multiple_0", "--scorecard=none.json"], "none.json: cannot be read: No such file"),
        (["core:multiple_0", "--model=oracle", "--mode=x"], "unknown mode 'x'"),
    ],
)
def test_wrong_words_are_refused(
    run_show: RunShow, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert says in run_refused_show(capsys, *words)


# What did not pass in a run


def test_without_an_entry_what_did_not_pass_is_listed(run_show: RunShow, tmp_path: Path) -> None:
    failed = [make_record(Failed("wrong_count", f"{n} calls came"), number=n) for n in range(12)]
    late = [make_record(NotScored("timeout", "no answer in 60 s"), number=n) for n in range(12, 17)]
    path = write_scorecard(tmp_path / "run.json", [*failed, *late, make_record(number=17)])
    first, *lines = run_show("--scorecard", str(path)).splitlines()
    assert first.endswith(f"{path.name}: {FACTS.model} ({FACTS.mode}), 18 tests")
    listed = [line.split()[0].rstrip(":") for line in lines if line.strip().startswith("core:")]
    assert listed == [f"core:simple_python_{n}" for n in range(17)]
    assert "      core:simple_python_11  11 calls came" in lines
    assert "  timeout: 5" in lines


def test_a_run_in_which_every_entry_passed(run_show: RunShow, tmp_path: Path) -> None:
    path = write_scorecard(tmp_path / "run.json", [make_record(Passed())])
    _, headline, *_, last = run_show("--scorecard", str(path)).splitlines()
    assert headline == last == "100.0% of simple_python passed: 1 of 1 (95% CI 20.7-100.0%)"


def test_the_newest_run_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ".fcbench/runs has 0 runs; run pytest first" in run_refused_show(capsys)


def test_options_about_one_entry_need_an_entry(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--expected needs an entry" in run_refused_show(capsys, "--expected")
