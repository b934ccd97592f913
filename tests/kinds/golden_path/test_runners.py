"""Which official runner asks a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.runners import RUNNERS, find_runner, list_path_settings
from pytest_fcbench.kinds.golden_path.walk import get_golden_path
from pytest_fcbench.kinds.golden_path.wording import JudgePrompt, PathWording
from tests.factories import make_entry, make_golden_path


@pytest.mark.parametrize(
    ("model", "runner"),
    [
        ("gpt-4o", "gpt"),
        ("openai/gpt-4o-mini", "gpt"),
        ("anthropic/claude-3-5-sonnet-20241022", "claude"),
        ("mistral/mistral-large-2407", "mistral"),
        ("Qwen/Qwen2.5-72B-Instruct", "qwen"),
        ("ollama/qwen2.5", "qwen"),
        ("THUDM/glm-4-9b-chat", "glm"),
        ("chatglm3", "glm"),
        ("meta-llama/Llama-3.1-70B-Instruct", "llama"),
        ("deepseek/deepseek-r1-distill-llama-70b", "llama"),
        # ``ollama`` is no Llama, and a name that is no family's goes to the first runner.
        ("ollama/phi4", "gpt"),
        ("my-ft", "gpt"),
        # The last part that names a family decides.
        ("qwen/my-llama", "llama"),
    ],
)
def test_the_runner_follows_from_the_name(model: str, runner: str) -> None:
    assert find_runner(model).name == runner


def test_every_runner_can_be_chosen() -> None:
    (option,) = (option for option in OPTIONS if option.key == "runner")
    assert option.choices == tuple(RUNNERS)


def test_all_runners_send_the_official_parameters() -> None:
    assert {name: (runner.parameters or {})["max_tokens"] for name, runner in RUNNERS.items()} == {
        **dict.fromkeys(RUNNERS, 2048),
        "llama": 4096,
    }
    assert {(runner.parameters or {})["temperature"] for runner in RUNNERS.values()} == {0.0}


def test_the_settings_of_an_entry_are_those_under_which_it_can_be_put() -> None:
    path = make_golden_path([("book", {"id": 7}, "done")])
    by_runner = replace(path, expectation=replace(get_golden_path(path), by_runner=True))
    official, corrected = PathSettings(Profile.OFFICIAL), PathSettings(Profile.CORRECTED)
    runners = [replace(official, runner=name) for name in RUNNERS]
    assert list(list_path_settings(make_entry())) == [official]
    assert list(list_path_settings(path)) == [official, corrected]
    assert list(list_path_settings(by_runner)) == [*runners, corrected]
    prompt = JudgePrompt("", "", ())
    wording = PathWording("c37b284", "", {}, prompt, prompt, prompt)
    worded = replace(get_golden_path(by_runner), wording=wording)
    versions = {driven.wording for driven in list_path_settings(replace(by_runner, expectation=worded))}
    assert versions == {"c37b284", None}
