"""Which official runner asks a model."""

from __future__ import annotations

import pytest

from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.kinds.golden_path.runners import RUNNERS, find_runner


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
