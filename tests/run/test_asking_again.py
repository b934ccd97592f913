"""Entries that are asked again in other ways, of a served model that is right in each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import Settings, build_settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import ToolCall
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.run.asking_again import ask_by_prompting, hold_conversations, put_truths_through
from pytest_fcbench.run.context import RunContext
from tests.served import served

CATEGORIES = ("parallel", "simple_java", "multi_turn_base", "irrelevance")


def load(api_base: str, tmp_path: Path) -> tuple[Settings, list[Entry]]:
    options = {"model": "hosted_vllm/m", "api_base": api_base, "store": "none"}
    settings = build_settings(options, None, tmp_path)
    context = RunContext(settings)
    return settings, [context.selection.entries(category)[0] for category in CATEGORIES]


@pytest.mark.few(1)
@pytest.mark.parametrize("syntax", ["qwen3_coder", "lfm2", "deepseek_v31", None])
def test_a_right_model_is_right_by_prompting_in_any_syntax(syntax: str | None, tmp_path: Path) -> None:
    with served("--model", "oracle", "--name", "m") as api_base:
        settings, entries = load(api_base, tmp_path)
        held = hold_conversations(ask_by_prompting(settings, syntax), entries)
    assert [each.judgement.corrected for each in held.values()] == [Passed()] * len(CATEGORIES)
    completions = [each for one in held.values() if one.transcript for each in one.transcript.completions]
    assert any(isinstance(part, ToolCall) for each in completions for part in each.tool_calls or ()) == bool(
        syntax
    )


def test_forced_truth_tells_the_syntax_of_a_server(tmp_path: Path) -> None:
    with served("--model", "oracle:granite_pipe", "--name", "m") as api_base:
        settings, entries = load(api_base, tmp_path)
        truths = put_truths_through(settings, entries[:1])
        guessed = put_truths_through(replace(settings, syntax="granite_pipe"), entries[:1])
    assert [(each.syntax, each.is_guessed) for each in (*truths.values(), *guessed.values())] == [
        ("granite_pipe", False)
    ] * 2
