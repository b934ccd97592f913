from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_fcbench.cli.main import main
from pytest_fcbench.kinds import entry_files
from tests.loopback import Body, Reply, make_message_reply, serve_answers

_WORDS = ["suite", "sample", "core:multi_turn_base_1", "--count", "2", "--turns", "2"]


def _run_sample(*words: str) -> int:
    try:
        return main([*_WORDS, *words])
    except SystemExit as ended:
        return int(str(ended.code))


def test_walks_are_shown_with_what_leads_where(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run_sample() == 0
    first = capfd.readouterr().out
    assert first.startswith("walk 0\n  turn 0  ")
    assert " -> " in first

    assert _run_sample() == 0
    assert capfd.readouterr().out == first
    assert _run_sample("--seed", "2") == 0
    assert capfd.readouterr().out != first


def test_a_draft_names_what_is_to_be_done(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "draft.yaml"

    assert _run_sample("--to", str(file), "--first", "7") == 0

    assert f"{file}: 2 entries, 4 turns still without a question" in capfd.readouterr().out
    entries = yaml.safe_load(file.read_text())["entries"]
    assert [entry["id"] for entry in entries] == ["multi_turn_base_7", "multi_turn_base_8"]
    assert all(turn["user"].startswith("TODO: ") for entry in entries for turn in entry["turns"])
    assert _run_sample("--to", str(file)) == 4
    assert "already exists" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["--count", "0"], "argument --count: '0' must be a whole number, 1 or more"),
        (["--turns", "-1"], "argument --turns: '-1' must be a whole number, 1 or more"),
    ],
)
def test_wrong_words_are_told(words: list[str], rule: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert _run_sample(*words) == 4
    assert rule in capfd.readouterr().err


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("core:multi_turn_base_999", "has no multi-turn entry 'multi_turn_base_999'"),
        ("core:simple_python_0", "has no multi-turn entry"),
        ("cor:multi_turn_base_1", "Did you mean 'core'?"),
        ("multi_turn_base_1", "Name an entry as suite:id"),
    ],
)
def test_another_entry_is_refused(entry: str, rule: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["suite", "sample", entry])
    assert ended.value.code == 4
    assert rule in capfd.readouterr().err


def _read_turns(asked: Body) -> list[dict[str, object]]:
    """Return what the writer is shown between two marked lines."""
    messages: Any = asked["messages"]
    content: str = messages[1]["content"]
    told: dict[str, list[dict[str, object]]] = json.loads("\n".join(content.split("\n")[1:-1]))
    return told["turns"]


def _mention_all(asked: Body) -> Reply:
    texts = [f"Could you see to {turn['mention']}?" for turn in _read_turns(asked)]
    return make_message_reply(json.dumps({"messages": texts}))


def _mention_nothing(asked: Body) -> Reply:
    return make_message_reply(json.dumps({"messages": ["Do it."] * len(_read_turns(asked))}))


def _word_no_turn(asked: Body) -> Reply:
    return make_message_reply(json.dumps({"messages": []}))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("answer", "left", "rule"),
    [
        (_mention_all, 0, "writer openai/writer: calls 2"),
        (_mention_nothing, 4, "does not mention"),
        (_word_no_turn, 4, "must have 2 messages, one for each turn, it has 0"),
        (lambda _: make_message_reply("as you like"), 4, "walk 0 is not worded: judge_reply"),
    ],
)
def test_a_writer_words_the_turns_and_is_held_to_them(
    answer: Callable[[Body], Reply],
    left: int,
    rule: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WRITER_KEY", "w-key")
    with serve_answers(answer) as endpoint:
        words = [
            "--writer=openai/writer",
            f"--judge-api-base={endpoint.api_base}",
            "--judge-api-key-env=WRITER_KEY",
        ]
        assert _run_sample("--to", "draft.yaml", *words) == 0

    told = capfd.readouterr().out
    assert rule in told
    assert f"draft.yaml: 2 entries, {left} turns still without a question" in told
    if not left:
        entries = entry_files.read_entries(tmp_path / "draft.yaml", "mine")
        assert [turn[0].content for entry in entries for turn in entry.turns] == [
            f"Could you see to {turn['mention']}?"
            for asked in endpoint.requests
            for turn in _read_turns(asked)
        ]
